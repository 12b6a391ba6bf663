//! Colours that stand for numbers.

/// 8-bit sRGB of ColorBrewer's `YlOrRd` (Brewer 2003), at equal distances: pale to dark in even steps, also
/// without colour vision. Its pale end shows shades.
const HEAT: [[u8; 3]; 9] = [
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

/// Colour of a part, 0 to 1; what lies beyond has the colours of the ends.
pub fn colour(part: f64) -> [u8; 3] {
    let last = HEAT.len() - 1;
    let at = part.clamp(0.0, 1.0) * last as f64;
    let below = (at as usize).min(last - 1);
    let t = at - below as f64;
    std::array::from_fn(|k| {
        let [a, b] = [HEAT[below][k], HEAT[below + 1][k]].map(f64::from);
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
        assert_eq!(colour(-1.0), HEAT[0]);
        assert_eq!(colour(0.5), HEAT[4]);
        assert_eq!(colour(2.0), HEAT[8]);
        assert_eq!(colour(0.0625), [255, 246, 182]);
    }
}
