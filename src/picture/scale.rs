//! Colours that stand for numbers.

/// 8-bit sRGB of `viridis` (Smith and van der Walt 2015), at equal distances: of even steps to the eye, also without colour vision.
const VIRIDIS: [[u8; 3]; 11] = [
    [68, 1, 84],
    [72, 36, 117],
    [65, 68, 135],
    [53, 95, 141],
    [42, 120, 142],
    [33, 145, 140],
    [34, 168, 132],
    [68, 191, 112],
    [122, 209, 81],
    [189, 223, 38],
    [253, 231, 37],
];

/// Colour of a part, 0 to 1; what lies beyond has the colours of the ends.
pub fn colour(part: f64) -> [u8; 3] {
    let last = VIRIDIS.len() - 1;
    let at = part.clamp(0.0, 1.0) * last as f64;
    let below = (at as usize).min(last - 1);
    let t = at - below as f64;
    std::array::from_fn(|k| {
        let [a, b] = [VIRIDIS[below][k], VIRIDIS[below + 1][k]].map(f64::from);
        (a + t * (b - a)).round() as u8
    })
}

/// 8-bit sRGB to linear.
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
        assert_eq!(colour(-1.0), VIRIDIS[0]);
        assert_eq!(colour(0.5), VIRIDIS[5]);
        assert_eq!(colour(2.0), VIRIDIS[10]);
        assert_eq!(colour(0.05), [70, 19, 101]);
    }
}
