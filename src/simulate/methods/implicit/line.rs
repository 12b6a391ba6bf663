//! Line search by slopes alone: energies would lose the last digits of the gain near the minimum.

use crate::parallel::prelude::*;

use crate::simulate::bonded::system::System;

/// Largest rotation in one iteration, rad.
const MAX_TURN: f64 = 1.0;
/// Fraction of the initial slope that may remain with reversed sign.
pub const MAX_REVERSED_SLOPE: f64 = 0.1;
/// Fraction of the initial slope that Newton's method may leave.
pub const MAX_REMAINING_SLOPE: f64 = 0.9;
/// Factor by which one extension of the line search may lengthen the step, where the slope is still negative.
const MAX_EXTENSION: f64 = 4.0;
/// Most points evaluated on a line after the first.
const MAX_EXTRA_EVALUATIONS: u32 = 12;

/// Largest multiple of a direction for which no rotation exceeds the limit. Unknowns of an element beyond the
/// first three are rotations, scaled to lengths.
pub fn largest_multiple<const N: usize>(system: &System<f64>, direction: &[[f64; N]]) -> f64 {
    let all = direction.par_iter().with_min_len(512).enumerate();
    let turn = all.map(|(i, by)| {
        let square: f64 = by[3..].iter().map(|v| v * v).sum();
        square.sqrt() / system.radius(i)
    });
    MAX_TURN / turn.reduce(|| 0.0, f64::max)
}

/// Line search along a direction whose initial slope is `slope`. Starts at multiple `first` and extends up to
/// `most`, or goes back, until at most a small fraction of the slope remains reversed and at most fraction
/// `left` remains with its sign. `slope_at` moves to a multiple and returns the slope there. Returns the
/// multiple where the search ended.
pub fn search(
    slope: f64,
    [first, most]: [f64; 2],
    left: f64,
    slope_at: &mut dyn FnMut(f64) -> f64,
) -> f64 {
    let mut factor = first;
    let mut here = slope_at(factor);
    if slope < 0.0 {
        // The minimum lies between a point of negative slope and one of positive slope.
        let (mut low, mut high) = ((0.0, slope), None);
        for _ in 0..MAX_EXTRA_EVALUATIONS {
            let falls = here < -left * slope.abs();
            let ends = falls && high.is_none() && factor >= most;
            if !falls && here <= MAX_REVERSED_SLOPE * slope.abs() || ends {
                break;
            }
            if falls {
                low = (factor, here);
            } else {
                high = Some((factor, here));
            }
            factor = match high {
                Some((end, rises)) => {
                    let part = (low.1 / (low.1 - rises)).clamp(0.1, 0.9);
                    low.0 + part * (end - low.0)
                }
                None if here > slope => {
                    let straight = factor * slope / (slope - here);
                    straight.min(MAX_EXTENSION * factor).min(most)
                }
                None => (MAX_EXTENSION * factor).min(most),
            };
            here = slope_at(factor);
        }
    }
    factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_near_its_least_or_at_its_first_place() {
        // ½ (x − b)² + (x − b)⁴.
        for (least, left) in [
            (0.02, MAX_REMAINING_SLOPE),
            (0.3, MAX_REMAINING_SLOPE),
            (0.7, MAX_REMAINING_SLOPE),
            (0.02, 0.1),
            (0.3, 0.1),
        ] {
            let slope = |x: f64| (x - least) + 4.0 * (x - least).powi(3);
            let found = search(slope(0.0), [1.0; 2], left, &mut |x| slope(x));
            assert!(
                slope(found) <= MAX_REVERSED_SLOPE * slope(0.0).abs(),
                "{least}: {found}"
            );
            assert!(slope(found) >= -left * slope(0.0).abs(), "{least}: {found}");
        }
        let slope = |x: f64| x / 100.0 - 1.0;
        let far = search(-1.0, [0.5; 2], MAX_REMAINING_SLOPE, &mut |x| slope(x));
        assert_eq!(
            far, 0.5,
            "the slope stays negative up to the largest multiple"
        );
        let far = search(-1.0, [0.5, 1e3], 0.1, &mut |x| slope(x));
        assert!((90.0..=110.0).contains(&far), "{far}");
    }
}
