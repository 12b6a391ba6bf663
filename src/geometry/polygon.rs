//! Normals of polygons; cuts those of mesh files into triangles.

use glam::{DVec2, DVec3};

use super::exact::turn;

/// Greatest number of corners of a polygon that is cut by its ears; the work grows with their square.
const MAX_CONCAVE_CORNERS: usize = 10_000;

/// Cuts the polygon with these corners into triangles, whose corner numbers replace the contents of `triangles`.
///
/// A polygon that its first corner sees whole becomes the fan about that corner. Others lose one ear after
/// another, where an ear is a convex corner whose triangle holds no other corner (Meisters, *Polygons have
/// ears*, 1975). Both are decided exactly along the axis nearest to the polygon's normal. Corners that equal
/// the one before are left out. A polygon that crosses itself is cut somehow.
pub(super) fn triangulate(
    corners: &[DVec3],
    triangles: &mut Vec<[usize; 3]>,
) -> Result<(), String> {
    triangles.clear();
    if corners.len() == 3 {
        triangles.push([0, 1, 2]);
        return Ok(());
    }
    let count = corners.len();
    let ring: Vec<usize> = (0..count)
        .filter(|&at| corners[at] != corners[(at + count - 1) % count])
        .collect();
    if ring.len() < 3 {
        return Ok(());
    }
    let axis = normal(corners);
    let flat: Vec<DVec2> = ring.iter().map(|&at| along(axis, corners[at])).collect();
    if axis == DVec3::ZERO || is_fan(&flat) {
        triangles.extend((2..ring.len()).map(|third| [ring[0], ring[third - 1], ring[third]]));
        return Ok(());
    }
    if ring.len() > MAX_CONCAVE_CORNERS {
        return Err(format!(
            "a concave polygon has {} corners; at most {MAX_CONCAVE_CORNERS} are read",
            ring.len()
        ));
    }
    clip_ears(&flat, |ear| triangles.push(ear.map(|at| ring[at])));
    Ok(())
}

/// Twice the area of a polygon times its normal (Newell's method), about its first corner.
pub fn normal(corners: &[DVec3]) -> DVec3 {
    let Some((first, rest)) = corners.split_first() else {
        return DVec3::ZERO;
    };
    let sides = rest.windows(2);
    sides
        .map(|side| (side[0] - first).cross(side[1] - first))
        .sum()
}

/// Projection along the coordinate axis in which the normal is longest, which keeps the polygon's sense and
/// rounds nothing.
fn along(normal: DVec3, p: DVec3) -> DVec2 {
    let axis = normal.abs().max_position();
    let [a, b] = [p[(axis + 1) % 3], p[(axis + 2) % 3]];
    match normal[axis] < 0.0 {
        true => DVec2::new(b, a),
        false => DVec2::new(a, b),
    }
}

/// Whether the triangles of the first corner's fan all have the polygon's sense and turn by less than half a
/// revolution together.
fn is_fan(flat: &[DVec2]) -> bool {
    (2..flat.len()).all(|at| {
        turn(flat[0], flat[at - 1], flat[at]) > 0.0 && turn(flat[0], flat[1], flat[at]) > 0.0
    })
}

fn clip_ears(flat: &[DVec2], mut emit: impl FnMut([usize; 3])) {
    let mut left = flat.len();
    let mut next: Vec<usize> = (1..left).chain([0]).collect();
    let mut previous: Vec<usize> = [left - 1].into_iter().chain(0..left - 1).collect();
    // Cutting an ear changes only whether its neighbours are ears.
    let mut no_ear = vec![false; left];
    let (mut at, mut misses) = (0, 0);
    while left > 3 {
        let (a, c) = (previous[at], next[at]);
        let convex = turn(flat[a], flat[at], flat[c]) > 0.0;
        // A round without an ear: the polygon crosses itself. First any convex corner is cut, then any.
        let forced = (misses >= left && convex) || misses >= 2 * left;
        if !forced {
            no_ear[at] |= !convex || holds_corner([a, at, c], flat, &next);
            if no_ear[at] {
                (at, misses) = (c, misses + 1);
                continue;
            }
        }
        emit([a, at, c]);
        (next[a], previous[c]) = (c, a);
        (no_ear[a], no_ear[c]) = (false, false);
        // The corner after the next, as cutting one fan would make slivers.
        (at, misses, left) = (next[c], 0, left - 1);
    }
    emit([previous[at], at, next[at]]);
}

/// Whether a corner of the ring that lies at none of the triangle's corners is in the closed triangle.
fn holds_corner([a, b, c]: [usize; 3], flat: &[DVec2], next: &[usize]) -> bool {
    let [p, q, r] = [a, b, c].map(|at| flat[at]);
    let mut at = next[c];
    while at != a {
        let point = flat[at];
        let inside =
            turn(p, q, point) >= 0.0 && turn(q, r, point) >= 0.0 && turn(r, p, point) >= 0.0;
        if inside && point != p && point != q && point != r {
            return true;
        }
        at = next[at];
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(points: &[[f64; 3]]) -> Vec<[usize; 3]> {
        let corners: Vec<DVec3> = points.iter().copied().map(DVec3::from_array).collect();
        let mut triangles = Vec::new();
        triangulate(&corners, &mut triangles).unwrap();
        triangles
    }

    /// Asserts that the triangles have the polygon's sense and area.
    fn assert_cut(points: &[[f64; 3]], area: f64) {
        let triangles = cut(points);
        assert_eq!(triangles.len(), points.len() - 2);
        let corners: Vec<DVec3> = points.iter().copied().map(DVec3::from_array).collect();
        let whole = normal(&corners).normalize();
        let mut sum = 0.0;
        for triangle in triangles {
            let part = normal(&triangle.map(|at| corners[at])).dot(whole) / 2.0;
            assert!(part > 0.0, "{triangle:?} of {points:?}");
            sum += part;
        }
        assert!((sum - area).abs() < 1e-12 * area, "{sum} of {area}");
    }

    #[test]
    fn concave_polygons_keep_sense_and_area() {
        // An L in a slanted plane, beginning at every corner, both ways round.
        let l = [(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)];
        let mut points = l.map(|(x, y)| [x as f64, y as f64, 0.5 * x as f64]);
        let area = 4.0 * (1.25_f64).sqrt();
        for _ in 0..2 {
            for _ in 0..points.len() {
                assert_cut(&points, area);
                points.rotate_left(1);
            }
            points.reverse();
        }
        // A comb, and a star with many teeth.
        let mut comb = vec![[20.0, 0.0, 0.0], [20.0, 0.0, 2.0]];
        for tooth in (0..20).rev() {
            comb.extend([[tooth as f64 + 0.5, 0.0, 1.0], [tooth as f64, 0.0, 2.0]]);
        }
        comb.push([0.0, 0.0, 0.0]);
        assert_cut(&comb, 20.0 + 10.0);
        let star: Vec<_> = (0..200)
            .map(|at| {
                let (sin, cos) = (at as f64 * std::f64::consts::PI / 100.0).sin_cos();
                let r = 1.0 + (at % 2) as f64;
                [r * cos, r * sin, 7.0]
            })
            .collect();
        assert_cut(&star, 200.0 * (std::f64::consts::PI / 100.0).sin());
    }

    #[test]
    fn corners_on_sides_make_no_flat_triangles() {
        let points = [
            [0.0; 3],
            [1.0, 0.0, 0.0],
            [2.0, 0.0, 0.0],
            [2.0, 1.0, 0.0],
            [0.0, 1.0, 0.0],
        ];
        assert_cut(&points, 2.0);
    }

    #[test]
    fn convex_polygons_are_fans_and_repeated_corners_are_left_out() {
        let square = [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(cut(&square), [[0, 1, 2], [0, 2, 3]]);
        let repeated = [
            square[0], square[1], square[1], square[2], square[3], square[0],
        ];
        assert_eq!(cut(&repeated).len(), 2);
        assert!(cut(&[[0.0; 3]; 5]).is_empty());
    }

    #[test]
    fn crossed_polygons_end() {
        let bow = [
            [0.0; 3],
            [1.0, 1.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.5, 3.0, 0.0],
        ];
        assert_eq!(cut(&bow).len(), 3);
    }
}
