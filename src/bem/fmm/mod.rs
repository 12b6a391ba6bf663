//! fmm
mod batch;
mod convolution;
pub mod direct;
mod fourier;
mod kernels;
mod leaves;
mod lists;
mod morton;
mod operators;
mod pairs;
mod passes;
mod plan;
mod product;
mod surface;
mod svd;
mod tree;
mod uniform;

use glam::DVec3;

use crate::laws::papkovich;
use kernels::{Displacement, Field, Stress};
use plan::Plan;

/// Sums.
pub struct Fmm {
    plan: Plan,
    poisson: f64,
}

impl Fmm {
    pub fn with(
        sources: &[DVec3],
        targets: &[DVec3],
        poisson: f64,
        side: usize,
        leaf: usize,
    ) -> Self {
        Fmm {
            plan: Plan::new(sources, targets, side, leaf),
            poisson,
        }
    }

    fn sums<K: Field<C> + Send + Sync, const C: usize>(
        &self,
        kernel: K,
        forces: &[DVec3],
    ) -> Vec<[f64; C]> {
        let plan = &self.plan;
        let forces = plan.sorted(forces);
        let t = std::time::Instant::now();
        let show = |name: &str| {
            if std::env::var("FMM_TIME").is_ok() {
                eprintln!("  {name} {:.3}", t.elapsed().as_secs_f64())
            }
        };
        let upward = passes::upward(plan, &forces);
        show("up");
        let downward = passes::downward(plan, &forces, &upward);
        show("down");
        let values = leaves::evaluate(plan, kernel, &forces, &upward, &downward);
        show("leaves");
        plan.unsorted(&values, [0.0; C])
    }

    pub fn stress(&self, forces: &[DVec3]) -> Vec<[f64; 6]> {
        let factor = papkovich::stress_factor(self.poisson);
        let sums = self.sums(Stress(self.poisson), forces);
        sums.into_iter().map(|s| s.map(|s| s * factor)).collect()
    }
    pub fn displacement(&self, forces: &[DVec3], shear: f64) -> Vec<DVec3> {
        let factor = papkovich::displacement_factor(shear, self.poisson);
        let sums = self.sums(Displacement(self.poisson), forces);
        sums.into_iter()
            .map(|u| DVec3::from_array(u) * factor)
            .collect()
    }
}
