//! Strips with a sharp crack that are pulled apart slowly until the crack runs.
//!
//! Both long edges of a strip of height H are clamped and moved apart. The crack runs along its middle, from one of the
//! short edges. Far ahead of its tip the clamps keep the strip from contracting along its length, while its thickness
//! contracts freely: its stress is σ = E ε/(1 − ν²). Behind the tip it is unloaded. Per length of growth the crack
//! releases the energy that this length of the strip held, wherever its tip is. K follows from G = K² (1 − ν²)/E, as
//! for the toughness entered:
//!
//! ```text
//! G = ½ σ ε H        K = σ √(H/2)
//! ```

use glam::DVec3;

use super::error::CalibrateError;
use super::specimen::{EVERYWHERE, Specimen};
use crate::pack;
use crate::simulate::PreparedScene;
use crate::spec::{Backend, BodyShape, Crack, Pipeline};
use crate::store::Packing;

/// Length of a strip over its height.
const LENGTH: f64 = 3.0;
/// Thickness, in elements.
const THICKNESS: f64 = 6.0;
/// Height of a clamp, in elements.
const GRIP: f64 = 2.0;
/// Time in which sound runs along a strip, over the time in which K reaches the toughness of the material.
const SLOWNESS: f64 = 0.05;
/// Frames until then.
const FRAMES: f64 = 200.0;
/// K at which a test ends, over the toughness of the material.
const END: f64 = 3.0;
/// Least height of a strip, in elements.
const LEAST: f64 = 16.0;
/// Largest stress ahead of the crack that is expected, over the tensile strength.
const STRESS: f64 = 0.6;
/// Most elements over the height of a strip.
const MOST: f64 = 100.0;
/// Growth of the crack over the height of the strip from which on, and up to which, K is its resistance.
const GROWN: (f64, f64) = (0.1, 1.0);

/// Distance from the plane of the crack, over the height, from which on bonds that break do not belong to it.
const BESIDE: f64 = 0.25;

/// What was measured while a strip was torn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Torn {
    /// Number of elements.
    pub elements: usize,
    /// K at which the crack grew, Pa √m; none if it did not, or the strip broke elsewhere.
    pub toughness: Option<f64>,
    /// Energy that its bonds took until they broke, over the area of the crack, J/m².
    pub energy: f64,
}

/// Sizes of a strip and how it is loaded.
#[derive(Clone, Copy, Debug)]
struct Strip {
    /// Free height H, m.
    height: f64,
    /// Size of its elements, m.
    element: f64,
    /// Axes along which it is pulled, along which the crack runs, and of its thickness.
    axes: [usize; 3],
    /// Rate of strain, 1/s.
    rate: f64,
    /// K over strain, Pa √m.
    stiffness: f64,
    poisson: f64,
}

/// Height of a strip, in elements of size `element` (m). It is so large that the stress ahead of the crack stays below
/// `strength` (Pa) when K reaches `toughness` (Pa √m), and the strip does not break elsewhere.
///
/// # Errors
/// It would have too many elements.
pub fn height(element: f64, toughness: f64, strength: f64) -> Result<f64, CalibrateError> {
    let height = 2.0 * (toughness / (STRESS * strength)).powi(2) / element;
    if height <= MOST {
        return Ok(height.max(LEAST));
    }
    Err(CalibrateError::Refused(format!(
        "to break at its crack and not elsewhere, a strip would have to be {height:.0} elements high, more than \
         {MOST}; calibrate with larger elements: the toughness found hardly depends on their size"
    )))
}

impl Specimen {
    /// Pulls a strip of this height, in elements, apart until its crack has run on. The axis of the specimen is that of
    /// the pull; `moduli`: Young's modulus, Pa, and Poisson's ratio of the solid.
    pub fn tear(&self, height: f64, moduli: (f64, f64)) -> Result<Torn, CalibrateError> {
        let mut pipeline = self.pipeline.clone();
        let strip = self.strip(&mut pipeline, height, moduli);
        let mut packing = pack::pack(&pipeline, ".".as_ref())?.packing;
        let rest = packing.centres();
        strip.strain_from_the_start(&mut packing, &rest);
        let border = 0.5 * strip.height - 1.5 * strip.element;
        self.strengthen_ends(&mut packing, &rest, border);
        let prepared = PreparedScene::new(&packing, &pipeline)?;
        let schedule = prepared.schedule(&pipeline);
        let mut run = prepared.start(&pipeline, Backend::Cpu, schedule.dt)?;
        run.snapshot(0)?;
        let (mut grown, mut beside, mut peak) = (Vec::new(), 0, 0.0);
        let tip = -0.5 * strip.height;
        for frame in 1..=schedule.frames {
            run.advance(schedule.steps_per_frame)?;
            let shot = run.snapshot(frame)?;
            let time = f64::from(frame) * schedule.dt * schedule.steps_per_frame as f64;
            let ends = shot.breaks.i.iter().zip(&shot.breaks.j);
            for ((&i, &j), &energy) in ends.zip(&shot.breaks.energy) {
                let middle = 0.5 * (rest[i as usize] + rest[j as usize]);
                let growth = (middle[strip.axes[1]] - tip) / strip.height;
                let is_beside = middle[strip.axes[0]].abs() > BESIDE * strip.height;
                if (GROWN.0..GROWN.1).contains(&growth) {
                    beside += usize::from(is_beside);
                    grown.push((time, f64::from(energy)));
                }
            }
            let force = self.force(&shot.loads);
            peak = f64::max(peak, force);
            if force < 0.4 * peak && !grown.is_empty() {
                break;
            }
        }
        let count = grown.len() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| grown.iter().map(of).sum::<f64>() / count;
        let area = (GROWN.1 - GROWN.0) * strip.height * THICKNESS * strip.element;
        Ok(Torn {
            elements: rest.len(),
            toughness: (2 * beside < grown.len())
                .then(|| strip.stiffness * strip.rate * mean(|row| row.0)),
            energy: grown.iter().map(|row| row.1).sum::<f64>() / area,
        })
    }

    /// Makes the body of the pipeline a strip with a crack as long as high, between its clamps.
    fn strip(&self, pipeline: &mut Pipeline, across: f64, (young, poisson): (f64, f64)) -> Strip {
        let (material, element) = (self.material(), self.element);
        let height = across * element;
        let axes = [0, 1, 2].map(|k| (self.axis + k) % 3);
        let stiffness = young / (1.0 - poisson * poisson) * (0.5 * height).sqrt();
        let sound = (young / material.density).sqrt();
        let time = LENGTH * height / sound / SLOWNESS;
        let toughness = material.toughness.expect("a tough material");
        let strip = Strip {
            height,
            element,
            axes,
            rate: toughness / stiffness / time,
            stiffness,
            poisson,
        };
        let sizes = [
            height + 2.0 * GRIP * element,
            LENGTH * height,
            THICKNESS * element,
        ];
        let mut size = [0.0; 3];
        for (axis, length) in axes.into_iter().zip(sizes) {
            size[axis] = length;
        }
        pipeline.bodies[0].shape = BodyShape::Box { size };
        pipeline.bodies[0].cracks = vec![strip.crack()];
        pipeline.attachments = [-1.0, 1.0]
            .map(|side| {
                let mut velocity = DVec3::ZERO;
                velocity[self.axis] = side * strip.rate * 0.5 * height;
                self.clamp(side, 0.5 * height, (velocity, DVec3::ZERO))
            })
            .into();
        pipeline.time.end = END * time;
        pipeline.time.frames_per_second = FRAMES / time;
        strip
    }
}

impl Strip {
    /// A crack in the middle, from one of the short edges.
    fn crack(&self) -> Crack {
        let [_, run, deep] = self.axes;
        let far = EVERYWHERE.max[0];
        let corner = |(along, across): (f64, f64)| {
            let mut point = [0.0; 3];
            (point[run], point[deep]) = (along, across);
            point
        };
        let tip = -0.5 * self.height;
        Crack {
            points: [(-far, -far), (tip, -far), (tip, far), (-far, far)]
                .map(corner)
                .into(),
        }
    }

    /// Lets all elements move with the strain from the start, so that few waves run.
    fn strain_from_the_start(&self, packing: &mut Packing, rest: &[DVec3]) {
        let [pull, _, deep] = self.axes;
        let e = &mut packing.elements;
        for (i, p) in rest.iter().enumerate() {
            let mut v = DVec3::ZERO;
            v[deep] = -p[deep] * self.rate * self.poisson / (1.0 - self.poisson);
            v[pull] = p[pull].clamp(-0.5 * self.height, 0.5 * self.height) * self.rate;
            (e.vx[i], e.vy[i], e.vz[i]) = (v.x, v.y, v.z);
        }
    }
}
