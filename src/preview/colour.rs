//! Colours of elements by a quantity of the frames.

use super::legend;
use super::scene::SceneMaterial;
use crate::columns::Frames;
use crate::picture::Picture;
use crate::spec::{ElementColour, FrameGroup};

/// A quantity, and the colour scale that all pictures of a shot share.
#[derive(Clone, Copy, Debug)]
pub struct QuantityScale {
    quantity: ElementColour,
    /// Upper end of the scale, in the quantity's unit.
    largest: f64,
    /// Whether there are larger values.
    more: bool,
}

/// Values of a quantity that the pictures show, frame by frame.
pub struct ShownValues {
    quantity: ElementColour,
    /// Upper end of a scale for the frames so far, and the largest value in them.
    end: f64,
    largest: f64,
}

/// Value of an element, Pa or m/s.
fn value(quantity: ElementColour, rows: &Frames, row: usize) -> f64 {
    match quantity {
        ElementColour::TensileStress { .. } => rows.sigma[row].into(),
        ElementColour::ShearStress { .. } => rows.tau[row].into(),
        ElementColour::Speed { .. } => {
            let v = [rows.vx[row], rows.vy[row], rows.vz[row]].map(f64::from);
            v.iter().map(|v| v * v).sum::<f64>().sqrt()
        }
    }
}

impl ShownValues {
    /// No values yet.
    pub fn of(quantity: ElementColour) -> Self {
        ShownValues {
            quantity,
            end: 0.0,
            largest: 0.0,
        }
    }

    /// Adds those rows of a frame that are shown.
    pub fn add(mut self, rows: &Frames, shown: impl Iterator<Item = usize>) -> Self {
        let values: Vec<f64> = shown.map(|row| value(self.quantity, rows, row)).collect();
        self.largest = values.iter().copied().fold(self.largest, f64::max);
        self.end = self.end.max(legend::scale_end(values).0);
        self
    }

    /// The values of both; the order does not matter.
    pub fn join(mut self, other: Self) -> Self {
        self.largest = self.largest.max(other.largest);
        self.end = self.end.max(other.end);
        self
    }

    /// The scale of all these frames; its end is that of the settings, where they give one.
    pub fn scale(self) -> QuantityScale {
        let (ElementColour::TensileStress { most }
        | ElementColour::ShearStress { most }
        | ElementColour::Speed { most }) = self.quantity;
        // Where nothing is loaded or moves, any scale will do.
        let found = if self.largest > 0.0 { self.end } else { 1.0 };
        let largest = most.unwrap_or(found);
        QuantityScale {
            quantity: self.quantity,
            largest,
            more: self.largest > largest,
        }
    }
}

impl QuantityScale {
    /// Columns of frames that it needs.
    pub fn group(&self) -> FrameGroup {
        self.quantity.group()
    }

    /// Material of an element.
    pub fn material(&self, rows: &Frames, row: usize) -> SceneMaterial {
        legend::material(value(self.quantity, rows, row), self.largest)
    }

    /// Draws the colour bar onto a picture.
    pub fn draw(&self, picture: &mut Picture) {
        let (title, unit) = match self.quantity {
            ElementColour::TensileStress { .. } => ("tensile stress", "Pa"),
            ElementColour::ShearStress { .. } => ("shear stress", "Pa"),
            ElementColour::Speed { .. } => ("speed", "m/s"),
        };
        legend::draw(picture, title, (self.largest, self.more), unit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(sigma: [f32; 3], vx: f32) -> Frames {
        Frames {
            sigma: sigma.to_vec(),
            vx: vec![vx; 3],
            vy: vec![0.0; 3],
            vz: vec![0.0; 3],
            ..Frames::default()
        }
    }

    fn scale(quantity: ElementColour, frames: &[Frames], shown: usize) -> QuantityScale {
        let mut values = ShownValues::of(quantity);
        for rows in frames {
            values = values.join(ShownValues::of(quantity).add(rows, 0..shown));
        }
        values.scale()
    }

    #[test]
    fn all_frames_share_one_scale() {
        let frames = [frame([0.0, 1.0, 40.0], 0.0), frame([0.0, 2.0, 4.0], 3.0)];
        let stress = |most| ElementColour::TensileStress { most };
        let of = |scale: &QuantityScale, row| scale.material(&frames[1], row);
        let part = SceneMaterial::ColourScale;
        let all = scale(stress(None), &frames, 3);
        assert!((all.largest, all.more) == (4.0, true), "{all:?}");
        assert_eq!(
            [0, 1, 2].map(|row| of(&all, row)),
            [part(0), part(127), part(255)]
        );
        let some = scale(stress(None), &frames, 2);
        assert!((some.largest, some.more) == (2.0, false), "{some:?}");
        let given = scale(stress(Some(20.0)), &frames, 3);
        assert!(given.more && of(&given, 1) == part(25), "{given:?}");
        let speed = scale(ElementColour::Speed { most: None }, &frames, 3);
        assert!(of(&speed, 0) == part(255) && speed.group() == FrameGroup::Velocity);
    }

    #[test]
    fn a_scale_of_nothing_is_finite() {
        let unloaded = scale(
            ElementColour::ShearStress { most: None },
            &[Frames {
                tau: vec![0.0; 3],
                ..Frames::default()
            }],
            3,
        );
        assert!((unloaded.largest, unloaded.more) == (1.0, false));
    }
}
