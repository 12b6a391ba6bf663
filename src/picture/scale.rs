//! The colour scale for numbers.

/// 8-bit sRGB of ColorBrewer's `YlOrRd` (Brewer 2003) at equal distances: pale to dark in even steps, also
/// for colour-blind readers. The pale colours leave shading visible.
const YL_OR_RD: [[u8; 3]; 9] = [
    [255, 255, 204],
    [255, 237, 160],
    [254, 217, 118],
    [254, 178, 76],
    [253, 141, 60],
    [252, 78, 42],
    [227, 26, 28],
    [189, 0, 38],
    [128, 0, 38],
];

/// Colour of a fraction between 0 and 1; values outside are clamped.
pub fn colour(part: f64) -> [u8; 3] {
    let last = YL_OR_RD.len() - 1;
    let at = part.clamp(0.0, 1.0) * last as f64;
    let below = (at as usize).min(last - 1);
    let t = at - below as f64;
    std::array::from_fn(|k| {
        let [a, b] = [YL_OR_RD[below][k], YL_OR_RD[below + 1][k]].map(f64::from);
        (a + t * (b - a)).round() as u8
    })
}

/// Converts 8-bit sRGB to linear.
pub fn linear(coded: u8) -> f32 {
    let value = f32::from(coded) / 255.0;
    match value <= 0.040_45 {
        true => value / 12.92,
        false => ((value + 0.055) / 1.055).powf(2.4),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_steps_are_those_of_the_table() {
        assert_eq!(colour(-1.0), YL_OR_RD[0]);
        assert_eq!(colour(0.5), YL_OR_RD[4]);
        assert_eq!(colour(2.0), YL_OR_RD[8]);
        assert_eq!(colour(0.0625), [255, 246, 182]);
    }
}
