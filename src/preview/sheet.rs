//! The contact sheet: up to sixteen evenly chosen frames with their times.

use super::font;
use crate::picture::Picture;

/// Maximum number of frames shown.
const MAX_FRAMES: usize = 16;
/// Width of a frame on the sheet, pixels.
const FRAME_WIDTH: usize = 360;
/// Gap between frames, pixels.
const GAP: usize = 4;

/// A contact sheet that is filled while frames are drawn.
pub struct ContactSheet {
    chosen: Vec<u32>,
    columns: usize,
    width: usize,
    height: usize,
    times: Vec<(usize, f64)>,
    picture: Picture,
}

impl ContactSheet {
    /// Chooses from `frames`, whose pictures will have `width` x `height` pixels.
    pub fn new(frames: &[u32], width: u32, height: u32) -> Self {
        let count = frames.len().min(MAX_FRAMES);
        let chosen: Vec<u32> = (0..count)
            .map(|at| frames[at * (frames.len() - 1) / (count - 1).max(1)])
            .collect();
        let columns = (1..=count).find(|side| side * side >= count).unwrap_or(1);
        let rows = count.div_ceil(columns);
        // Enlarging would only blur.
        let small = FRAME_WIDTH.min(width as usize);
        let tall = (small * height as usize / width as usize).max(1);
        let size = |count: usize, side: usize| count * side + (count + 1) * GAP;
        let (whole, high) = (size(columns, small), size(rows, tall));
        ContactSheet {
            chosen,
            columns,
            width: small,
            height: tall,
            times: Vec::new(),
            picture: Picture {
                width: whole,
                height: high,
                pixels: vec![[246, 246, 245]; whole * high],
            },
        }
    }

    /// Adds the picture of a frame if the frame was chosen.
    pub fn add(&mut self, frame: u32, time: f64, picture: &Picture) {
        let Some(place) = self.chosen.iter().position(|&chosen| chosen == frame) else {
            return;
        };
        let (left, top) = self.corner(place);
        for y in 0..self.height {
            for x in 0..self.width {
                let at = (top + y) * self.picture.width + left + x;
                self.picture.pixels[at] = self.mean(picture, x, y);
            }
        }
        self.times.push((place, time));
    }

    /// Upper left corner of a place on the sheet, pixels.
    fn corner(&self, place: usize) -> (usize, usize) {
        (
            GAP + place % self.columns * (self.width + GAP),
            GAP + place / self.columns * (self.height + GAP),
        )
    }

    /// Mean of the pixels of `picture` that become pixel (x, y) of a frame on the sheet.
    fn mean(&self, picture: &Picture, x: usize, y: usize) -> [u8; 3] {
        let span = |at: usize, small: usize, large: usize| {
            let first = at * large / small;
            first..((at + 1) * large / small).clamp(first + 1, large)
        };
        let rows = span(y, self.height, picture.height);
        let columns = span(x, self.width, picture.width);
        let count = (rows.len() * columns.len()) as u32;
        let mut sum = [0u32; 3];
        for row in rows {
            for column in columns.clone() {
                let pixel = picture.pixels[row * picture.width + column];
                for (sum, value) in sum.iter_mut().zip(pixel) {
                    *sum += u32::from(value);
                }
            }
        }
        sum.map(|sum| ((sum + count / 2) / count) as u8)
    }

    /// Labels each frame with its time, in milliseconds if the whole shot is short, and returns the sheet.
    pub fn finish(mut self) -> Picture {
        let last = self.times.iter().fold(0.0, |most: f64, t| most.max(t.1));
        let scale = if self.width >= 240 { 2 } else { 1 };
        for (place, time) in std::mem::take(&mut self.times) {
            let label = if last < 0.1 {
                format!("{:.3} ms", time * 1e3)
            } else {
                format!("{time:.3} s")
            };
            let (left, top) = self.corner(place);
            font::write(&mut self.picture, left + 8, top + 8, scale, &label);
        }
        self.picture
    }
}
