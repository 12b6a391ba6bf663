//! Sums over pairs of sources and targets, vectorised over the targets.

use crate::math::Vec3;
use crate::solve::wide::{self, Loop};

/// Number of targets that are evaluated side by side.
pub const LANES: usize = 8;

/// Sources and targets of one sum; reused for further sums.
#[derive(Clone, Debug)]
pub struct SourcesAndTargets<S> {
    /// Position, m, and strength of each source.
    sources: Vec<([f64; 3], S)>,
    /// Positions of the targets, m, by groups of lanes and axis.
    targets: Vec<[[f64; LANES]; 3]>,
}

impl<S> Default for SourcesAndTargets<S> {
    fn default() -> Self {
        SourcesAndTargets {
            sources: Vec::new(),
            targets: Vec::new(),
        }
    }
}

impl<S: Copy> SourcesAndTargets<S> {
    /// Removes the sources and sets the targets.
    pub fn set_targets(&mut self, places: impl Iterator<Item = [f64; 3]>) {
        self.sources.clear();
        self.targets.clear();
        for (k, place) in places.enumerate() {
            let lane = k % LANES;
            if lane == 0 {
                // Unused lanes repeat the first position of their group.
                self.targets.push(place.map(|x| [x; LANES]));
            }
            if let Some(group) = self.targets.last_mut() {
                (0..3).for_each(|axis| group[axis][lane] = place[axis]);
            }
        }
    }

    /// Appends a source.
    pub fn push_source(&mut self, place: [f64; 3], strength: S) {
        self.sources.push((place, strength));
    }

    /// Adds the values due to the sources at the targets to `sums`, which has one row for each group of lanes
    /// and grows as needed.
    pub fn add_to<K: Kernel<S, C>, const C: usize>(
        &self,
        kernel: K,
        sums: &mut Vec<[[f64; LANES]; C]>,
    ) {
        sums.resize(self.targets.len(), [[0.0; LANES]; C]);
        wide::run(PairLoop {
            kernel,
            sources: &self.sources,
            targets: &self.targets,
            sums,
        });
    }
}

/// Effect of a source at a point: `C` numbers.
pub trait Kernel<S, const C: usize>: Copy + Send + Sync {
    /// Value at a point. `n`: unit vector from the source to the point; `inverse`: one over their distance,
    /// 1/m; both are zero at the source itself. `place`: position of the source. Must be `#[inline(always)]`.
    fn at(self, n: Vec3<f64>, inverse: f64, place: Vec3<f64>, strength: S) -> [f64; C];
}

/// `1/√s`, or zero if s is zero. Measured: an approximation in single precision with one refinement step
/// takes no less time.
#[inline(always)]
fn inverse_root(s: f64) -> f64 {
    if s > 0.0 { 1.0 / s.sqrt() } else { 0.0 }
}

struct PairLoop<'a, K, S, const C: usize> {
    kernel: K,
    sources: &'a [([f64; 3], S)],
    targets: &'a [[[f64; LANES]; 3]],
    sums: &'a mut [[[f64; LANES]; C]],
}

impl<K: Kernel<S, C>, S: Copy, const C: usize> Loop for PairLoop<'_, K, S, C> {
    #[inline(always)]
    fn run(self) {
        for (target, sums) in self.targets.iter().zip(self.sums) {
            let [x, y, z] = *target;
            let mut total = *sums;
            for (place, strength) in self.sources {
                let place = Vec3::from_f64(*place);
                for k in 0..LANES {
                    let d = Vec3::new(x[k], y[k], z[k]) - place;
                    let inverse = inverse_root(d.dot(d));
                    let value = self.kernel.at(d * inverse, inverse, place, *strength);
                    for c in 0..C {
                        total[c][k] += value[c];
                    }
                }
            }
            *sums = total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernels::{Charge, StressKernel};
    use super::*;

    /// The widest vectors of this machine and the plain loop give the same rounding.
    #[test]
    fn bits_do_not_depend_on_the_width_of_vectors() {
        let place = |k: usize| [0.71, 0.37, 0.19].map(|a| (a * k as f64).fract());
        let mut points = SourcesAndTargets::default();
        points.set_targets((0..13).map(place));
        for k in 10..40 {
            let force = Vec3::from_f64(place(3 * k));
            let dilatation = 0.1 * k as f64;
            points.push_source(place(k), Charge { force, dilatation });
        }
        let mut wide = Vec::new();
        points.add_to(StressKernel(0.3), &mut wide);
        let mut plain = vec![[[0.0; LANES]; 6]; 2];
        let pairs = PairLoop {
            kernel: StressKernel(0.3),
            sources: &points.sources,
            targets: &points.targets,
            sums: &mut plain,
        };
        pairs.run();
        assert_eq!(wide, plain);
        assert!(wide[0][0][0] != 0.0);
    }
}
