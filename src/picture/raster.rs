//! A drawing as pixels: strokes by their distance, letters by the area that they cover.

use super::drawing::{Anchor, Colour, Drawing, Mark, dashes, width};
use super::image::Picture;
use super::text;

/// Pixels a point.
pub const SCALE: f64 = 2.0;

/// The picture of a drawing.
pub fn draw(drawing: &Drawing) -> Picture {
    let size = |points: f64| (points * SCALE).ceil() as usize;
    let (width, height) = (size(drawing.width), size(drawing.height));
    let mut picture = Picture {
        width,
        height,
        pixels: vec![[255; 3]; width * height],
    };
    onto(drawing, &mut picture);
    picture
}

/// Draws marks over a picture, from its upper left corner; without the drawing's white.
pub fn onto(drawing: &Drawing, picture: &mut Picture) {
    for mark in &drawing.marks {
        paint(picture, mark);
    }
}

fn paint(picture: &mut Picture, mark: &Mark) {
    match mark {
        Mark::Line {
            points,
            width,
            colour,
            dash,
        } => {
            let parts = match dash {
                Some(dash) => dashes(points, *dash),
                None => vec![points.clone()],
            };
            let points = parts.iter().flatten().map(|p| p.map(|c| c * SCALE));
            let mut cover = Cover::around(points, width * SCALE, picture);
            for part in &parts {
                let part: Vec<[f64; 2]> = part.iter().map(|p| p.map(|c| c * SCALE)).collect();
                for pair in part.windows(2) {
                    let [a, b] = sharp([pair[0], pair[1]], width * SCALE);
                    cover.stroke(a, b, width * SCALE / 2.0);
                }
            }
            cover.onto(picture, *colour);
        }
        Mark::Disc { at, radius, colour } => {
            let at = at.map(|c| c * SCALE);
            let mut cover = Cover::around([at].into_iter(), 2.0 * radius * SCALE, picture);
            cover.stroke(at, at, radius * SCALE);
            cover.onto(picture, *colour);
        }
        Mark::Text {
            at,
            text,
            size,
            anchor,
            upward,
            colour,
        } => {
            let back = match anchor {
                Anchor::Start => 0.0,
                Anchor::Middle => width(text, *size) / 2.0,
                Anchor::End => width(text, *size),
            };
            // From em, y up, to pixels, y down.
            let place = |[x, y]: [f64; 2]| {
                let (along, up) = (x * size - back, y * size);
                let [x, y] = match upward {
                    true => [at[0] - up, at[1] - along],
                    false => [at[0] + along, at[1] - up],
                };
                [x * SCALE, y * SCALE]
            };
            let outlines: Vec<Vec<[f64; 2]>> = text::outlines(text)
                .into_iter()
                .map(|outline| outline.into_iter().map(place).collect())
                .collect();
            let mut cover = Cover::around(outlines.iter().flatten().copied(), 0.0, picture);
            cover.fill(&outlines);
            cover.onto(picture, *colour);
        }
    }
}

/// A line along an axis, moved so that it covers whole pixels.
fn sharp([a, b]: [[f64; 2]; 2], width: f64) -> [[f64; 2]; 2] {
    let odd = width.round().max(1.0) % 2.0 == 1.0;
    let snap = |c: f64| {
        if odd { c.floor() + 0.5 } else { c.round() }
    };
    match (a[0] == b[0], a[1] == b[1]) {
        (true, false) => [[snap(a[0]), a[1]], [snap(b[0]), b[1]]],
        (false, true) => [[a[0], snap(a[1])], [b[0], snap(b[1])]],
        _ => [a, b],
    }
}

/// How much of each pixel in a box is covered.
struct Cover {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    part: Vec<f64>,
}

impl Cover {
    /// Nothing yet, in the box around points, wider by `margin` and a pixel, within the picture.
    fn around(points: impl Iterator<Item = [f64; 2]>, margin: f64, picture: &Picture) -> Self {
        let far = f64::INFINITY;
        let bounds = points.fold([far, far, -far, -far], |b, [x, y]| {
            [b[0].min(x), b[1].min(y), b[2].max(x), b[3].max(y)]
        });
        let low = |c: f64, end: usize| (c - margin - 1.0).floor().clamp(0.0, end as f64) as usize;
        let high = |c: f64, end: usize| (c + margin + 1.0).ceil().clamp(0.0, end as f64) as usize;
        let (left, top) = (
            low(bounds[0], picture.width),
            low(bounds[1], picture.height),
        );
        let right = high(bounds[2], picture.width).max(left);
        let bottom = high(bounds[3], picture.height).max(top);
        let (width, height) = (right - left, bottom - top);
        Cover {
            left,
            top,
            width,
            height,
            part: vec![0.0; width * height],
        }
    }

    /// Whatever lies within `half` of the segment. Strokes that meet do not add up.
    fn stroke(&mut self, a: [f64; 2], b: [f64; 2], half: f64) {
        let reach = half + 1.0;
        let span = |low: f64, high: f64, first: usize, count: usize| {
            let end = first as f64 + count as f64;
            let from = (low - reach).clamp(first as f64, end) as usize;
            from..(high + reach).ceil().clamp(first as f64, end) as usize
        };
        let along = [b[0] - a[0], b[1] - a[1]];
        let squared = along[0] * along[0] + along[1] * along[1];
        for y in span(a[1].min(b[1]), a[1].max(b[1]), self.top, self.height) {
            for x in span(a[0].min(b[0]), a[0].max(b[0]), self.left, self.width) {
                let to = [x as f64 + 0.5 - a[0], y as f64 + 0.5 - a[1]];
                let t = if squared > 0.0 {
                    ((to[0] * along[0] + to[1] * along[1]) / squared).clamp(0.0, 1.0)
                } else {
                    0.0
                };
                let off = [to[0] - t * along[0], to[1] - t * along[1]];
                let distance = (off[0] * off[0] + off[1] * off[1]).sqrt();
                // A line thinner than a pixel is as wide as one, but paler.
                let part = (half.max(0.5) + 0.5 - distance).clamp(0.0, 1.0) * (2.0 * half).min(1.0);
                let at = (y - self.top) * self.width + x - self.left;
                self.part[at] = self.part[at].max(part);
            }
        }
    }

    /// The area inside closed outlines, exactly: each edge adds to its pixels what lies to its right, and
    /// rows are summed up.
    fn fill(&mut self, outlines: &[Vec<[f64; 2]>]) {
        if self.width == 0 {
            return;
        }
        for outline in outlines {
            let next = outline.iter().cycle().skip(1);
            for (a, b) in outline.iter().zip(next) {
                self.edge(*a, *b);
            }
        }
        for row in self.part.chunks_mut(self.width) {
            let mut sum = 0.0;
            for part in row {
                sum += *part;
                *part = sum.abs().min(1.0);
            }
        }
    }

    fn edge(&mut self, a: [f64; 2], b: [f64; 2]) {
        let origin = [self.left as f64, self.top as f64];
        let [a, b] = [a, b].map(|p| [p[0] - origin[0], p[1] - origin[1]]);
        let (sign, [x0, y0], [x1, y1]) = match a[1] < b[1] {
            true => (1.0, a, b),
            false => (-1.0, b, a),
        };
        if y0 == y1 {
            return;
        }
        let slope = (x1 - x0) / (y1 - y0);
        let rows = y0.max(0.0) as usize..(y1.ceil().max(0.0) as usize).min(self.height);
        for row in rows {
            let (top, bottom) = (y0.max(row as f64), y1.min(row as f64 + 1.0));
            let [at_top, at_bottom] = [top, bottom].map(|y| x0 + (y - y0) * slope);
            let (low, high) = (at_top.min(at_bottom), at_top.max(at_bottom));
            let mut before = 0.0;
            let columns = low.max(0.0) as usize..self.width;
            for column in columns {
                let left = column as f64;
                // Mean over the edge of what lies right of it in this pixel.
                let right_of = mean_clamped(left + 1.0 - high, left + 1.0 - low);
                self.part[row * self.width + column] += sign * (bottom - top) * (right_of - before);
                before = right_of;
                if left >= high {
                    break;
                }
            }
        }
    }

    fn onto(&self, picture: &mut Picture, colour: Colour) {
        for y in 0..self.height {
            for x in 0..self.width {
                let part = self.part[y * self.width + x];
                if part > 0.0 {
                    let at = (self.top + y) * picture.width + self.left + x;
                    for (pixel, colour) in picture.pixels[at].iter_mut().zip(colour) {
                        let mixed = f64::from(*pixel) * (1.0 - part) + f64::from(colour) * part;
                        *pixel = mixed.round() as u8;
                    }
                }
            }
        }
    }
}

/// Mean of min(max(t, 0), 1) for t from `a` to `b`, a ≤ b.
fn mean_clamped(a: f64, b: f64) -> f64 {
    let integral = |t: f64| match t {
        t if t <= 0.0 => 0.0,
        t if t >= 1.0 => t - 0.5,
        t => t * t / 2.0,
    };
    if b - a < 1e-9 {
        a.clamp(0.0, 1.0)
    } else {
        (integral(b) - integral(a)) / (b - a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canvas() -> Drawing {
        Drawing {
            width: 20.0,
            height: 10.0,
            marks: vec![],
        }
    }

    /// Black over the picture, in pixels.
    fn ink(picture: &Picture) -> f64 {
        let dark = picture.pixels.iter().map(|p| 255.0 - f64::from(p[0]));
        dark.sum::<f64>() / 255.0
    }

    #[test]
    fn an_outline_covers_its_area_wherever_it_lies() {
        for shift in [0.0, 0.3, 0.77] {
            let square = [[2.0, 2.0], [7.5, 2.0], [9.5, 6.0], [2.0, 6.0]];
            let hole = [[3.0, 3.0], [3.0, 5.0], [4.0, 5.0], [4.0, 3.0]];
            let move_by = |p: &[f64; 2]| [p[0] + shift, p[1] + 0.4 * shift];
            let outlines: Vec<Vec<[f64; 2]>> = [square, hole]
                .iter()
                .map(|outline| outline.iter().map(move_by).collect())
                .collect();
            let picture = draw(&canvas());
            let mut cover = Cover::around(outlines.iter().flatten().copied(), 0.0, &picture);
            cover.fill(&outlines);
            let area: f64 = cover.part.iter().sum();
            assert!((area - (26.0 - 2.0)).abs() < 1e-9, "{area} at {shift}");
        }
    }

    #[test]
    fn a_stroke_is_as_wide_as_it_says_and_corners_are_no_darker() {
        let mut drawing = canvas();
        drawing.marks.push(Mark::Line {
            points: vec![[2.0, 5.0], [10.0, 5.0], [18.0, 5.0]],
            width: 2.0,
            colour: [0; 3],
            dash: None,
        });
        let picture = draw(&drawing);
        // Four pixels high, 32 long, and two half discs.
        let wanted = 4.0 * 32.0 + std::f64::consts::PI * 4.0;
        assert!((ink(&picture) - wanted).abs() < 1.0, "{}", ink(&picture));
    }

    #[test]
    fn texts_stand_before_and_around_their_point() {
        let columns = |anchor: Anchor| {
            let mut drawing = canvas();
            drawing.text([10.0, 8.0], "H", 8.0, anchor, [0; 3]);
            let picture = draw(&drawing);
            let dark = |x: &usize| (0..picture.height).any(|y| picture.pixels[y * 40 + x][0] < 128);
            let columns: Vec<usize> = (0..40).filter(dark).collect();
            (columns[0], columns[columns.len() - 1])
        };
        assert!(columns(Anchor::Start).0 >= 20);
        assert!(columns(Anchor::End).1 < 20);
        let (first, last) = columns(Anchor::Middle);
        assert!(first.abs_diff(39 - last) <= 1, "{first} {last}");
    }
}
