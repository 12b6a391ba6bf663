//! Digits for the sheet, 5 x 7 pixels each.

use crate::picture::Picture;

/// Rows from the top, the leftmost pixel in bit 4.
const GLYPHS: [(char, [u8; 7]); 13] = [
    ('0', [14, 17, 19, 21, 25, 17, 14]),
    ('1', [4, 12, 4, 4, 4, 4, 14]),
    ('2', [14, 17, 1, 2, 4, 8, 31]),
    ('3', [31, 2, 4, 2, 1, 17, 14]),
    ('4', [2, 6, 10, 18, 31, 2, 2]),
    ('5', [31, 16, 30, 1, 1, 17, 14]),
    ('6', [6, 8, 16, 30, 17, 17, 14]),
    ('7', [31, 1, 2, 4, 8, 8, 8]),
    ('8', [14, 17, 17, 14, 17, 17, 14]),
    ('9', [14, 17, 17, 15, 1, 2, 12]),
    ('.', [0, 0, 0, 0, 0, 12, 12]),
    ('s', [0, 0, 14, 16, 14, 1, 30]),
    ('m', [0, 0, 26, 21, 21, 17, 17]),
];

/// Writes `text` in dark pixels, upper left corner at (x, y), each pixel of a glyph `scale` wide; what the
/// font lacks is blank.
pub fn write(picture: &mut Picture, x: usize, y: usize, scale: usize, text: &str) {
    for (place, letter) in text.chars().enumerate() {
        let Some((_, rows)) = GLYPHS.iter().find(|(known, _)| *known == letter) else {
            continue;
        };
        for (row, bits) in rows.iter().enumerate() {
            for column in (0..5).filter(|column| bits >> (4 - column) & 1 == 1) {
                for dot in 0..scale * scale {
                    let px = x + (place * 6 + column) * scale + dot % scale;
                    let py = y + row * scale + dot / scale;
                    if px < picture.width && py < picture.height {
                        picture.pixels[py * picture.width + px] = [52, 56, 62];
                    }
                }
            }
        }
    }
}
