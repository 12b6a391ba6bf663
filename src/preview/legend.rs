//! The scale of colours beside a picture: what they stand for, in which unit.

use crate::picture::drawing::{Anchor, Colour, Drawing};
use crate::picture::{Picture, raster, scale};
use crate::units::show::{grouped, prefix};

const INK: Colour = [40, 44, 50];
/// Height of the letters, width of the bar and distance from the edge, points.
const TEXT: f64 = 9.0;
const BAR: f64 = 10.0;
const EDGE: f64 = 10.0;
/// Numbers beside the bar.
const TICKS: usize = 5;

/// Draws a bar from 0 to `largest` along the right side, with a title above; `more`: whether there are larger
/// values; `unit` takes a prefix.
pub fn draw(picture: &mut Picture, title: &str, (largest, more): (f64, bool), unit: &str) {
    let points = |pixels: usize| pixels as f64 / raster::SCALE;
    let (width, height) = (points(picture.width), points(picture.height));
    let mut drawing = Drawing {
        width,
        height,
        marks: Vec::new(),
    };
    let (name, factor) = prefix(largest.abs());
    // Three figures of the largest.
    let decimals = match largest / factor {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 2,
    };
    let title = format!("{title} ({name}{unit})");
    let above = [width - EDGE, EDGE + TEXT];
    drawing.text(above, &title, TEXT, Anchor::End, INK);
    let (top, bottom) = (EDGE + 2.5 * TEXT, height - EDGE);
    let right = width - EDGE;
    let rows = ((bottom - top) * raster::SCALE) as usize;
    for row in 0..rows {
        let part = (row as f64 + 0.5) / rows as f64;
        let y = bottom + part * (top - bottom);
        let colour = scale::colour(part);
        drawing.rule([right - BAR, y], [right, y], 1.0 / raster::SCALE, colour);
    }
    for tick in 0..TICKS {
        let part = tick as f64 / (TICKS - 1) as f64;
        let y = bottom + part * (top - bottom);
        let mut value = grouped(part * largest / factor, decimals);
        if more && tick + 1 == TICKS {
            value.insert_str(0, "≥ ");
        }
        let at = [right - BAR - 4.0, y + 0.35 * TEXT];
        drawing.text(at, &value, TEXT, Anchor::End, INK);
    }
    raster::onto(&drawing, picture);
}
