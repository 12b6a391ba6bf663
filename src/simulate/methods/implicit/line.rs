//! How far to go along a direction, by slopes alone: energies would lose the last digits of what is gained
//! near the end.

use crate::parallel::prelude::*;

use crate::simulate::bonded::system::System;

/// Farthest that a rotation goes in one iteration, rad.
const FARTHEST_TURN: f64 = 1.0;
/// Part of the first slope that may be left on a line turned round.
pub const TURNED: f64 = 0.1;
/// Part of the first slope that Newton's method may leave as it was.
pub const LEFT: f64 = 0.9;
/// Farthest that a line goes on beyond a place where it falls, over how far it has come.
const EXTENDED: f64 = 4.0;
/// Places looked at on a line beyond the first.
const LINE_STEPS: u32 = 12;

/// The part of a direction, or the multiple, at which a rotation would go farthest. Unknowns behind the first
/// three of an element are rotations, as lengths.
pub fn farthest<const N: usize>(system: &System<f64>, direction: &[[f64; N]]) -> f64 {
    let all = direction.par_iter().with_min_len(512).enumerate();
    let turn = all.map(|(i, by)| {
        let square: f64 = by[3..].iter().map(|v| v * v).sum();
        square.sqrt() / system.radius(i)
    });
    FARTHEST_TURN / turn.reduce(|| 0.0, f64::max)
}

/// Goes to part `first` of a direction that begins with this slope, and on, up to part `most`, or back until
/// little of the slope is turned round, and no more than part `left` is as it was. `slope_at` goes to a part
/// and tells the slope there. Tells where it ended.
pub fn search(
    slope: f64,
    [first, most]: [f64; 2],
    left: f64,
    slope_at: &mut dyn FnMut(f64) -> f64,
) -> f64 {
    let mut factor = first;
    let mut here = slope_at(factor);
    if slope < 0.0 {
        // Between a place where it still falls and one where it rises lies the least.
        let (mut low, mut high) = ((0.0, slope), None);
        for _ in 0..LINE_STEPS {
            let falls = here < -left * slope.abs();
            let ends = falls && high.is_none() && factor >= most;
            if !falls && here <= TURNED * slope.abs() || ends {
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
                    straight.min(EXTENDED * factor).min(most)
                }
                None => (EXTENDED * factor).min(most),
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
            (0.02, LEFT),
            (0.3, LEFT),
            (0.7, LEFT),
            (0.02, 0.1),
            (0.3, 0.1),
        ] {
            let slope = |x: f64| (x - least) + 4.0 * (x - least).powi(3);
            let found = search(slope(0.0), [1.0; 2], left, &mut |x| slope(x));
            assert!(
                slope(found) <= TURNED * slope(0.0).abs(),
                "{least}: {found}"
            );
            assert!(slope(found) >= -left * slope(0.0).abs(), "{least}: {found}");
        }
        let slope = |x: f64| x / 100.0 - 1.0;
        let far = search(-1.0, [0.5; 2], LEFT, &mut |x| slope(x));
        assert_eq!(far, 0.5, "it falls on, and no farther was allowed");
        let far = search(-1.0, [0.5, 1e3], 0.1, &mut |x| slope(x));
        assert!((90.0..=110.0).contains(&far), "{far}");
    }
}
