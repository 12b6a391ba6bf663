//! A drawing as a list of marks, in points from the upper left corner, for both SVG and PNG files.

use super::text;

/// An 8-bit sRGB colour.
pub type Colour = [u8; 3];

/// Horizontal alignment of a text relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text begins at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A mark on a drawing; later marks cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A stroke along points, with round joins.
    Line {
        /// At least two points.
        points: Vec<[f64; 2]>,
        /// Width.
        width: f64,
        /// Colour.
        colour: Colour,
        /// Lengths of dashes and gaps.
        dash: Option<[f64; 2]>,
    },
    /// A filled circle.
    Disc {
        /// Centre.
        at: [f64; 2],
        /// Radius.
        radius: f64,
        /// Colour.
        colour: Colour,
    },
    /// A line of text.
    Text {
        /// Point on the baseline.
        at: [f64; 2],
        /// The text.
        text: String,
        /// Height of an em.
        size: f64,
        /// Which part of the text lies at `at`.
        anchor: Anchor,
        /// Whether it reads upwards.
        upward: bool,
        /// Colour.
        colour: Colour,
    },
}

/// Marks on a white background.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// Marks in the order of drawing.
    pub marks: Vec<Mark>,
}

impl Drawing {
    /// Adds a straight line.
    pub fn straight_line(&mut self, from: [f64; 2], to: [f64; 2], width: f64, colour: Colour) {
        self.marks.push(Mark::Line {
            points: vec![from, to],
            width,
            colour,
            dash: None,
        });
    }

    /// Adds a line of text.
    pub fn text(&mut self, at: [f64; 2], text: &str, size: f64, anchor: Anchor, colour: Colour) {
        self.marks.push(Mark::Text {
            at,
            text: text.to_owned(),
            size,
            anchor,
            upward: false,
            colour,
        });
    }
}

/// Width of a text.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars()
        .map(|letter| text::advance(letter) * size)
        .sum()
}

/// The dashes of a dashed line.
pub fn dashes(points: &[[f64; 2]], [drawn, gap]: [f64; 2]) -> Vec<Vec<[f64; 2]>> {
    let mut parts = Vec::new();
    let mut part = vec![points[0]];
    // Whether the pen is down, and the remaining length of the dash or gap.
    let (mut down, mut left) = (true, drawn);
    for pair in points.windows(2) {
        let [mut from, to] = [pair[0], pair[1]];
        loop {
            let length = (to[0] - from[0]).hypot(to[1] - from[1]);
            if length <= left {
                left -= length;
                if down {
                    part.push(to);
                }
                break;
            }
            let t = left / length;
            from = [0, 1].map(|axis| from[axis] + t * (to[axis] - from[axis]));
            if down {
                part.push(from);
                parts.push(std::mem::take(&mut part));
            } else {
                part = vec![from];
            }
            down = !down;
            left = if down { drawn } else { gap };
        }
    }
    if part.len() > 1 {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dashes_follow_the_line_around_its_corners() {
        let line = [[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]];
        let parts = dashes(&line, [2.0, 0.5]);
        assert_eq!(
            parts,
            [
                vec![[0.0, 0.0], [2.0, 0.0]],
                vec![[2.5, 0.0], [3.0, 0.0], [3.0, 1.5]],
                vec![[3.0, 2.0], [3.0, 4.0]],
            ]
        );
    }

    #[test]
    fn widths_add_up() {
        assert_eq!(width("", 10.0), 0.0);
        assert!((width("mm", 10.0) - 2.0 * width("m", 10.0)).abs() < 1e-12);
        assert!(width("m", 10.0) > width("i", 10.0));
    }
}
