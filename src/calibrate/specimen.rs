//! Bars and prisms of a packing that are loaded slowly until they break.

use glam::DVec3;

use super::error::CalibrateError;
use super::load::{ENDS, Load, Loaded, mean_reaction};
use crate::columns::Loads;
use crate::laws::elasticity;
use crate::math::regression::slope;
use crate::pack;
use crate::simulate::{Method, PreparedScene};
use crate::spec::{
    Action, Attachment, Backend, Body, BodyShape, ContactLaw, Elasticity, Integrator, Material,
    Output, PackingSpec, Pipeline, Region, Rotation,
};
use crate::store::Packing;

/// Time in which sound runs along a specimen, over the time in which it is strained up to its strength.
const SLOWNESS: f64 = 0.1;
/// Frames until then.
const FRAMES: f64 = 200.0;
/// Strain at which a test ends, over that at which the material is expected to break.
const END: f64 = 4.0;
/// Damping of the material, so that no waves remain.
const DAMPING: f64 = 0.05;
/// Stiffness of the ends of a bent or twisted bar against turning, over that of half the bar.
const END_STIFFNESS: f64 = 0.1;
/// Half the length of the part in which strains are measured, over the width.
const GAUGE: f64 = 0.6;

/// A specimen: a square bar along an axis.
#[derive(Clone, Debug)]
pub struct Specimen {
    /// One body of one material, without loads.
    pub(super) pipeline: Pipeline,
    /// Axis along which it is long: 0, 1, 2.
    pub(super) axis: usize,
    /// Size of its elements, m.
    pub(super) element: f64,
    /// Width and height, m.
    width: f64,
    /// Strain at which the material is expected to break.
    strain: f64,
}

/// What was measured while a specimen was loaded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Number of elements.
    pub elements: usize,
    /// Force over section, Pa; negative under compression. The largest stress of the section by elastic theory, if the
    /// specimen is bent (that of a fibre) or twisted (shear).
    pub stress: Vec<f64>,
    /// Strain along the specimen, far from its ends; where the stress is largest, if it is bent or twisted.
    pub along: Vec<f64>,
    /// Mean strain across it; 0 if it is twisted.
    pub across: Vec<f64>,
}

impl Specimen {
    /// A specimen of the packing of `body`, made of `material`, with elements of this `size` (diameter of balls, edge
    /// of cells; m), of which `across` lie side by side. `shot` gives the settings of the simulation, `seed` the
    /// packing.
    pub fn new(
        shot: &Pipeline,
        body: &Body,
        material: Material,
        (size, across): (f64, f64),
        (axis, seed): (usize, u64),
    ) -> Self {
        let mut pipeline = shot.clone();
        pipeline.world.gravity = [0.0; 3];
        pipeline.world.bounds = None;
        pipeline.world.plane_strain = None;
        pipeline.world.absorbing.clear();
        (pipeline.colliders, pipeline.attachments) = Default::default();
        // A pair of the material with itself changes its bonds.
        let is_own = |name: &String| *name == material.name;
        pipeline
            .pairs
            .retain(|pair| pair.materials.iter().all(is_own));
        pipeline.output = Output::default();
        pipeline.stress = None;
        let strain = material.tensile_strength.unwrap_or(1e-3 * material.young) / material.young;
        let simulate = &mut pipeline.simulate;
        simulate.law = Some(simulate.bond_law());
        simulate.integrator = Integrator::Explicit;
        simulate.method = None;
        simulate.contact = ContactLaw::Penalty;
        simulate.backend = Backend::Cpu;
        simulate.sleep = false;
        simulate.drag = 0.0;
        simulate.seed = seed;
        pipeline.time.step = None;
        pipeline.bodies = vec![Body {
            name: "specimen".into(),
            material: material.name.clone(),
            grains: Vec::new(),
            cracks: Vec::new(),
            packing: sized(&body.packing, size),
            bonded: true,
            rigid: false,
            position: [0.0; 3],
            rotation: Rotation::default(),
            velocity: [0.0; 3],
            spin: [0.0; 3],
            ..body.clone()
        }];
        pipeline.materials = vec![Material {
            damping: DAMPING,
            ..material
        }];
        Specimen {
            pipeline,
            axis,
            element: size,
            width: across * size,
            strain,
        }
    }

    /// Pulls a bar until its load has fallen to half of the largest.
    pub fn pull(&self) -> Result<Curve, CalibrateError> {
        self.load(Load::Pull, self.strain)
    }

    /// Crushes a prism, twice as long as wide between its clamps, until its load has fallen to half of the largest.
    /// `stress`: compressive strength that is expected, Pa.
    pub fn crush(&self, stress: f64) -> Result<Curve, CalibrateError> {
        self.load(Load::Crush, stress / self.material().young)
    }

    pub(super) fn material(&self) -> &Material {
        &self.pipeline.materials[0]
    }

    /// Bends a bar by turning its ends until its load has fallen by 5 %.
    pub fn bend(&self) -> Result<Curve, CalibrateError> {
        self.load(Load::Bend, self.strain)
    }

    /// Twists a bar until its load has fallen by 5 %. The modulus of its curve is that of shear.
    pub fn twist(&self) -> Result<Curve, CalibrateError> {
        let poisson = poisson_of_solid(self.material());
        self.load(Load::Twist, 2.0 * (1.0 + poisson) * self.strain)
    }

    fn load(&self, load: Load, strain: f64) -> Result<Curve, CalibrateError> {
        let mut pipeline = self.pipeline.clone();
        let slenderness = load.slenderness();
        let mut size = [self.width; 3];
        size[self.axis] *= slenderness;
        pipeline.bodies[0].shape = BodyShape::Box { size };
        let material = self.material();
        let sound = (material.young / material.density).sqrt();
        let time = size[self.axis] / sound / SLOWNESS;
        let sign = if load == Load::Crush { -1.0 } else { 1.0 };
        let loaded = Loaded {
            load,
            axes: [0, 1, 2].map(|k| (self.axis + k) % 3),
            width: self.width,
            // A quarter of the width is held at each end.
            grip: (0.5 * slenderness - 0.25) * self.width,
            rate: sign * strain / time,
            poisson: poisson_of_solid(material),
        };
        pipeline.time.end = END * time;
        pipeline.time.frames_per_second = FRAMES / time;
        let mut packing = pack::pack(&pipeline, ".".as_ref())?.packing;
        let rest = packing.centres();
        pipeline.attachments = [-1.0, 1.0]
            .map(|side| match load {
                Load::Pull | Load::Crush => self.clamp(side, loaded.grip, loaded.end_motion(side)),
                Load::Bend | Load::Twist => self.soft_end(side, &loaded, &rest),
            })
            .into();
        strain_from_the_start(&loaded, &mut packing, &rest);
        if load != Load::Crush {
            self.strengthen_ends(&mut packing, &rest, loaded.grip - 0.5 * self.width);
        }
        let prepared = PreparedScene::new(&packing, &pipeline)?;
        let schedule = prepared.schedule(&pipeline);
        let mut run = prepared.start(&pipeline, Backend::Cpu, schedule.dt)?;
        let frames = (schedule.frames, schedule.steps_per_frame);
        self.curve(&loaded, &mut *run, &rest, frames)
    }

    /// A clamp that holds what lies beyond `grip`, m, on one side and moves with this velocity, m/s, and angular
    /// velocity, rad/s, about the middle of the section where it begins.
    pub(super) fn clamp(&self, side: f64, grip: f64, (v, w): (DVec3, DVec3)) -> Attachment {
        let mut region = EVERYWHERE;
        let end = if side > 0.0 {
            &mut region.min
        } else {
            &mut region.max
        };
        end[self.axis] = side * grip;
        let mut pivot = [0.0; 3];
        pivot[self.axis] = side * grip;
        Attachment {
            name: end_name(side).into(),
            body: "specimen".into(),
            region,
            action: Action::Clamp {
                velocity: v.to_array(),
                spin: w.to_array(),
                pivot: Some(pivot),
                keys: Vec::new(),
            },
        }
    }

    /// Springs that turn what lies beyond the grip on one side. They are so soft that the bar can lengthen where cracks
    /// open on one of its sides: between clamps a cracked bar braces itself like an arch and bears a much larger load.
    /// `rest`: places at rest.
    fn soft_end(&self, side: f64, loaded: &Loaded, rest: &[DVec3]) -> Attachment {
        let (_, turning) = loaded.end_motion(side);
        let held = rest
            .iter()
            .filter(|place| side * place[self.axis] >= loaded.grip);
        let count = held.clone().count() as f64;
        let middle = held.clone().sum::<DVec3>() / count;
        let axis = turning.normalize_or_zero();
        let arms = held.map(|&place| axis.cross(place - middle).length_squared());
        let against = loaded.stiffness(self.material().young);
        let mut end = self.clamp(side, loaded.grip, (DVec3::ZERO, turning));
        end.action = Action::Spring {
            stiffness: END_STIFFNESS * against / arms.sum::<f64>(),
            velocity: loaded.motion(middle).0.to_array(),
            // The springs and half the bar are in series.
            spin: (turning * (1.0 + END_STIFFNESS.recip())).to_array(),
            pivot: Some(middle.to_array()),
            keys: Vec::new(),
        };
        end
    }

    /// Makes bonds beyond `from` (m) on both sides unbreakable: they hold the width of a bar near the clamps.
    pub(super) fn strengthen_ends(&self, packing: &mut Packing, rest: &[DVec3], from: f64) {
        let b = &mut packing.bonds;
        for k in 0..b.id.len() {
            let ends = [b.i[k], b.j[k]].map(|end| rest[end as usize][self.axis]);
            if (0.5 * (ends[0] + ends[1])).abs() > from {
                (b.sigma_c[k], b.tau_c[k]) = (f64::INFINITY, f64::INFINITY);
            }
        }
    }

    fn curve(
        &self,
        loaded: &Loaded,
        run: &mut dyn Method,
        rest: &[DVec3],
        (frames, steps): (u32, u64),
    ) -> Result<Curve, CalibrateError> {
        let middle = |i: &usize| rest[*i][self.axis].abs() < GAUGE * self.width;
        let middle: Vec<usize> = (0..rest.len()).filter(middle).collect();
        run.snapshot(0)?;
        let mut curve = Curve {
            elements: rest.len(),
            ..Curve::default()
        };
        let mut peak = 0.0;
        for frame in 1..=frames {
            run.advance(steps)?;
            let shot = run.snapshot(frame)?;
            let now = shot.centres();
            let moved = middle.iter().map(|&i| (rest[i], now[i] - rest[i]));
            let reading = loaded.read(&shot.loads, moved);
            curve.stress.push(reading.stress);
            curve.along.push(reading.along);
            curve.across.push(reading.across);
            peak = f64::max(peak, reading.stress.abs());
            if reading.stress.abs() < loaded.load.fallen() * peak && f64::from(frame) > 0.1 * FRAMES
            {
                break;
            }
        }
        Ok(curve)
    }

    /// Mean of the forces at both ends, N; positive if they are pulled.
    pub(super) fn force(&self, loads: &Loads) -> f64 {
        let column = [&loads.fx, &loads.fy, &loads.fz][self.axis];
        mean_reaction(column, loads)
    }
}

/// Lets all elements move with the strain from the start, so that hardly any waves run.
fn strain_from_the_start(loaded: &Loaded, packing: &mut Packing, rest: &[DVec3]) {
    let e = &mut packing.elements;
    for (i, &place) in rest.iter().enumerate() {
        let (v, w) = loaded.motion(place);
        (e.vx[i], e.vy[i], e.vz[i]) = v.into();
        (e.wx[i], e.wy[i], e.wz[i]) = w.into();
    }
}

impl Curve {
    /// Largest stress, Pa, whatever its sign.
    pub fn strength(&self) -> f64 {
        self.stress
            .iter()
            .fold(0.0, |most: f64, x| most.max(x.abs()))
    }

    /// Whether a pulled bar or a crushed prism broke: its load fell by a tenth after the largest. Tests of bending and
    /// torsion end before.
    pub fn is_broken(&self) -> bool {
        let last = self.stress.last().copied().unwrap_or(0.0);
        last.abs() < 0.9 * self.strength()
    }

    /// Young's modulus, Pa, and Poisson's ratio, from a fifth to four fifths of the strength.
    pub fn moduli(&self) -> (f64, f64) {
        self.moduli_below(self.strength())
    }

    /// Young's modulus, Pa, and Poisson's ratio, from a fifth to four fifths of a stress, Pa.
    pub fn moduli_below(&self, most: f64) -> (f64, f64) {
        let rise = (0..self.stress.len()).take_while(|&k| self.stress[k].abs() < 0.8 * most);
        let rise: Vec<usize> = rise
            .filter(|&k| self.stress[k].abs() > 0.2 * most)
            .collect();
        let young = slope(rise.iter().map(|&k| (self.along[k], self.stress[k])));
        let poisson = -slope(rise.iter().map(|&k| (self.along[k], self.across[k])));
        (young, poisson)
    }
}

/// Region that holds every specimen.
pub(super) const EVERYWHERE: Region = Region {
    min: [-1e9; 3],
    max: [1e9; 3],
};

fn end_name(side: f64) -> &'static str {
    ENDS[usize::from(side > 0.0)]
}

/// The packing with elements of this size, m.
fn sized(packing: &PackingSpec, size: f64) -> PackingSpec {
    let mut sized = packing.clone();
    match &mut sized {
        PackingSpec::Hexagonal { radius, elements }
        | PackingSpec::Random {
            radius, elements, ..
        } => {
            (*radius, *elements) = (Some(0.5 * size), None);
        }
        PackingSpec::Voronoi {
            size: edge, cells, ..
        } => (*edge, *cells) = (Some(size), None),
        // No specimens of these are made.
        PackingSpec::None {}
        | PackingSpec::Cubic { .. }
        | PackingSpec::Loose { .. }
        | PackingSpec::Shell { .. }
        | PackingSpec::Twisted { .. }
        | PackingSpec::Woven { .. } => {}
    }
    sized
}

/// Poisson's ratio of a solid whose material is entered so.
pub(super) fn poisson_of_solid(material: &Material) -> f64 {
    match (material.elasticity, material.shear) {
        (Elasticity::Bond, Some(shear)) => elasticity::poisson(shear / material.young),
        _ => material.poisson_ratio(),
    }
}
