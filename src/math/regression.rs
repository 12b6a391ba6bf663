//! Straight lines through points.

/// Slope of the line through points (x, y) of least square differences in y; no number if all x are alike.
pub fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let sum = |sum: (f64, f64), point: (f64, f64)| (sum.0 + point.0, sum.1 + point.1);
    let (x, y) = points.clone().fold((0.0, 0.0), sum);
    let (x, y) = (x / count, y / count);
    let (xy, xx) = points.fold((0.0, 0.0), |sum, point| {
        let off = point.0 - x;
        (sum.0 + off * (point.1 - y), sum.1 + off * off)
    });
    xy / xx
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn a_line_has_its_slope_and_noise_that_is_even_does_not_change_it() {
        let line = |noise: f64| {
            let points = [(1.0, 1.0), (2.0, -1.0), (3.0, -1.0), (4.0, 1.0)];
            points.map(|(x, sign)| (x, 7.0 - 3.0 * x + sign * noise))
        };
        assert!((slope(line(0.0).into_iter()) + 3.0).abs() < 1e-12);
        assert!((slope(line(0.5).into_iter()) + 3.0).abs() < 1e-12);
        assert!(slope([(1.0, 2.0), (1.0, 3.0)].into_iter()).is_nan());
    }
}
