//! A picture as a list of marks, in points from the upper left corner: what the writers of SVG and PNG share.

use super::text;

/// 8-bit sRGB.
pub type Colour = [u8; 3];

/// Where a text stands to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// Something drawn; later marks cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A stroke along points, with round joins.
    Line {
        /// At least two.
        points: Vec<[f64; 2]>,
        /// Width.
        width: f64,
        /// Colour.
        colour: Colour,
        /// Lengths drawn and left out in turn.
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
    /// A line of text on its base line.
    Text {
        /// Base line at the anchor.
        at: [f64; 2],
        /// What it says.
        text: String,
        /// Height of an em.
        size: f64,
        /// What of it lies at `at`.
        anchor: Anchor,
        /// Whether it reads upwards.
        upward: bool,
        /// Colour.
        colour: Colour,
    },
}

/// Marks on white.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// In the order of drawing.
    pub marks: Vec<Mark>,
}

impl Drawing {
    /// A straight stroke.
    pub fn rule(&mut self, from: [f64; 2], to: [f64; 2], width: f64, colour: Colour) {
        self.marks.push(Mark::Line {
            points: vec![from, to],
            width,
            colour,
            dash: None,
        });
    }

    /// A line of text.
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

/// The parts of a dashed line that are drawn.
pub fn dashes(points: &[[f64; 2]], [drawn, gap]: [f64; 2]) -> Vec<Vec<[f64; 2]>> {
    let mut parts = Vec::new();
    let mut part = vec![points[0]];
    // Whether the pen is down, and how far it goes on so.
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
