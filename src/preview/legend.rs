//! The colour bar of a picture, with title and unit.

use super::scene::SceneMaterial;
use crate::picture::drawing::{Anchor, Colour, Drawing};
use crate::picture::{Picture, raster, scale};
use crate::units::show::{grouped, prefix};

const INK: Colour = [40, 44, 50];
/// Height of the letters, width of the bar and margin to the edge of the picture, points.
const TEXT_SIZE: f64 = 9.0;
const BAR_WIDTH: f64 = 10.0;
const MARGIN: f64 = 10.0;
/// Number of labels at the bar.
const TICKS: usize = 5;

/// Fraction of the drawn values that the colour scale resolves if the others are much larger: under a point
/// load, only a few are.
const RESOLVED_SHARE: f64 = 0.98;
/// Ratio of the largest value to this quantile above which the colour scale ends at the quantile.
const OUTLIER_RATIO: f64 = 2.0;

/// Upper end of the colour scale of the values that are drawn, and whether there are larger ones. Without any positive
/// value it is the largest magnitude.
pub fn scale_end(mut values: Vec<f64>) -> (f64, bool) {
    values.sort_by(f64::total_cmp);
    let most = values.last().copied().unwrap_or_default();
    if most <= 0.0 {
        let pressure = values.first().map_or(0.0, |least| -least);
        return (pressure.max(f64::MIN_POSITIVE), false);
    }
    let at = (RESOLVED_SHARE * (values.len() - 1) as f64) as usize;
    match values[at] > 0.0 && most > OUTLIER_RATIO * values[at] {
        true => (values[at], true),
        false => (most, false),
    }
}

/// Material that shows a value on the colour scale from 0 to `largest`.
pub fn material(value: f64, largest: f64) -> SceneMaterial {
    SceneMaterial::ColourScale((255.0 * (value / largest).clamp(0.0, 1.0)) as u8)
}

/// Draws a bar from 0 to `largest` along the right side, with a title above. `more` says whether there are
/// larger values. `unit` gets a prefix.
pub fn draw(picture: &mut Picture, title: &str, (largest, more): (f64, bool), unit: &str) {
    let points = |pixels: usize| pixels as f64 / raster::PIXELS_PER_POINT;
    let (width, height) = (points(picture.width), points(picture.height));
    let mut drawing = Drawing {
        width,
        height,
        marks: Vec::new(),
    };
    let (name, factor) = prefix(largest.abs());
    // Three significant figures of the largest value.
    let decimals = match largest / factor {
        large if large >= 100.0 => 0,
        middle if middle >= 10.0 => 1,
        _ => 2,
    };
    let title = format!("{title} ({name}{unit})");
    let above = [width - MARGIN, MARGIN + TEXT_SIZE];
    drawing.text(above, &title, TEXT_SIZE, Anchor::End, INK);
    let (top, bottom) = (MARGIN + 2.5 * TEXT_SIZE, height - MARGIN);
    let right = width - MARGIN;
    let rows = ((bottom - top) * raster::PIXELS_PER_POINT) as usize;
    for row in 0..rows {
        let part = (row as f64 + 0.5) / rows as f64;
        let y = bottom + part * (top - bottom);
        let colour = scale::colour(part);
        drawing.straight_line(
            [right - BAR_WIDTH, y],
            [right, y],
            1.0 / raster::PIXELS_PER_POINT,
            colour,
        );
    }
    for tick in 0..TICKS {
        let part = tick as f64 / (TICKS - 1) as f64;
        let y = bottom + part * (top - bottom);
        let mut value = grouped(part * largest / factor, decimals);
        if more && tick + 1 == TICKS {
            value.insert_str(0, "≥ ");
        }
        let at = [right - BAR_WIDTH - 4.0, y + 0.35 * TEXT_SIZE];
        drawing.text(at, &value, TEXT_SIZE, Anchor::End, INK);
    }
    raster::draw_onto(&drawing, picture);
}
