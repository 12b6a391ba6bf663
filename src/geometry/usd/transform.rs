//! Transforms of prims.

use glam::{DMat4, DQuat, DVec3};

use super::text::Properties;

/// Transform of a prim in its parent, and whether it leaves the transforms of its parents out.
pub(super) fn transform(properties: &Properties<'_>) -> Result<(DMat4, bool), String> {
    let Some(order) = properties.get("xformOpOrder") else {
        return Ok((DMat4::IDENTITY, false));
    };
    let (mut matrix, mut resets) = (DMat4::IDENTITY, false);
    for &name in &order.texts {
        if name == "!resetXformStack!" {
            (matrix, resets) = (DMat4::IDENTITY, true);
            continue;
        }
        let (name, inverted) = match name.strip_prefix("!invert!") {
            Some(name) => (name, true),
            None => (name, false),
        };
        let values = properties
            .get(name)
            .ok_or_else(|| format!("{name} has no value"))?;
        let operation = operation(name, &values.numbers)?;
        matrix *= match inverted {
            true if operation.determinant() == 0.0 => {
                return Err(format!("{name} cannot be inverted"));
            }
            true => operation.inverse(),
            false => operation,
        };
    }
    Ok((matrix, resets))
}

/// The matrix of one operation, `xformOp:KIND` or `xformOp:KIND:SUFFIX`.
fn operation(name: &str, values: &[f64]) -> Result<DMat4, String> {
    let kind = name.split(':').nth(1).unwrap_or_default();
    let wrong = || format!("{name} has {} numbers", values.len());
    let vector = || {
        <[f64; 3]>::try_from(values)
            .map(DVec3::from_array)
            .map_err(|_| wrong())
    };
    let about = |axis: char, degrees: f64| {
        let angle = degrees.to_radians();
        match axis {
            'X' => DMat4::from_rotation_x(angle),
            'Y' => DMat4::from_rotation_y(angle),
            _ => DMat4::from_rotation_z(angle),
        }
    };
    Ok(match kind {
        "translate" => DMat4::from_translation(vector()?),
        "scale" => DMat4::from_scale(vector()?),
        "orient" => {
            let [w, x, y, z] = <[f64; 4]>::try_from(values).map_err(|_| wrong())?;
            let rotation = DQuat::from_xyzw(x, y, z, w);
            match rotation.length_squared() > 0.0 {
                true => DMat4::from_quat(rotation.normalize()),
                false => return Err(format!("{name} is a quaternion of length 0")),
            }
        }
        // Rows of the file are columns here, where vectors stand on the right.
        "transform" => DMat4::from_cols_array(&<[f64; 16]>::try_from(values).map_err(|_| wrong())?),
        "rotateX" | "rotateY" | "rotateZ" => {
            let [degrees] = <[f64; 1]>::try_from(values).map_err(|_| wrong())?;
            about(kind.chars().last().unwrap_or('X'), degrees)
        }
        "rotateXYZ" | "rotateXZY" | "rotateYXZ" | "rotateYZX" | "rotateZXY" | "rotateZYX" => {
            let degrees = vector()?;
            // The first letter turns first.
            kind["rotate".len()..]
                .chars()
                .fold(DMat4::IDENTITY, |matrix, axis| {
                    about(axis, degrees[(axis as u8 - b'X') as usize]) * matrix
                })
        }
        _ => return Err(format!("{name} is not read")),
    })
}
