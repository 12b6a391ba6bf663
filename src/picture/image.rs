//! Pixels and PNG files.

use std::io;
use std::path::Path;

use crate::store::{Result, atomic};

/// 8-bit sRGB pixels, rows from the top.
pub struct Picture {
    /// Number of pixels per row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
    /// Red, green and blue of each pixel.
    pub pixels: Vec<[u8; 3]>,
}

/// Writes a PNG.
pub fn write(path: &Path, picture: &Picture) -> Result<()> {
    atomic::write(path, |out| {
        let mut encoder = ::png::Encoder::new(out, picture.width as u32, picture.height as u32);
        encoder.set_color(::png::ColorType::Rgb);
        encoder.set_depth(::png::BitDepth::Eight);
        encoder.set_source_srgb(::png::SrgbRenderingIntent::Perceptual);
        let mut writer = encoder.write_header().map_err(io::Error::other)?;
        writer
            .write_image_data(picture.pixels.as_flattened())
            .map_err(io::Error::other)?;
        writer.finish().map_err(io::Error::other)
    })
}
