//! Builds the columns of a simulation from a packing and a pipeline.

use std::collections::HashMap;
use std::sync::Arc;

use glam::DVec3;

use crate::columns::{self, Breaks, Elements, Shape};
use crate::laws::damping;
use crate::laws::failure::CriterionSection;
use crate::math::Scalar;
use crate::math::lanes::LaneRow;
use crate::simulate::bonded::bond_rows::{BondOutline, BondRow};
use crate::simulate::bonded::bonds::Bonds;
use crate::simulate::bonded::rest::RestData;
use crate::simulate::bonded::system::{BondClass, LoadRow, System, chunk_for, motion};
use crate::simulate::bonded_run::bond_ends::{BondEnds, joined_twice};
use crate::simulate::bonded_run::{cracks, toughness};
use crate::simulate::contact::polyhedra::shapes::Shapes;
use crate::simulate::contact::surfaces::Surfaces;
use crate::simulate::error::SimulateError;
use crate::simulate::scene::attachments::{AppliedAttachments, AttachedForce, attachments};
use crate::simulate::scene::colliders::solid_colliders;
use crate::simulate::scene::reactions::Supports;
use crate::simulate::scene::rigid::RigidBodies;
use crate::simulate::scene::springs::Springs;
use crate::simulate::scene::{pressure, rigid};
use crate::simulate::source::{Source, TableHash, mesh_hash};
use crate::spec::{Action, Criterion, Material, MethodName, Pipeline};

/// A scene built from a packing, ready to step.
#[derive(Clone, Debug)]
pub struct Built<S> {
    /// Elements and bonds.
    pub system: System<S>,
    /// Rows of load: zero loads, inverse masses and inertias.
    pub load: Vec<LoadRow<S>>,
    /// Contact properties by material.
    pub surfaces: Surfaces,
    /// Forces and torques of attachments.
    pub forces: Vec<AttachedForce>,
    /// Springs.
    pub springs: Springs,
    /// Colliders and attachments that bear loads.
    pub supports: Supports,
    /// Rigid bodies that are free to move.
    pub rigid: RigidBodies,
    /// Polyhedra of the elements whose contacts use them; `None` if all elements are balls.
    pub shapes: Option<Arc<Shapes>>,
    /// Bonds that are broken from the start.
    pub opened: Breaks,
    /// Constant data for frames and states.
    pub rest: RestData,
    /// Hash of all numbers of the packing.
    pub hash: u64,
}

/// Builds the columns.
///
/// # Errors
/// An attachment without elements, or a packing whose numbers are inconsistent.
pub fn build<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<Built<S>, SimulateError> {
    let Unbonded {
        mut built,
        inverse_mass,
        inverse_inertia,
        of_cells,
    } = without_bonds::<S>(source, pipeline)?;
    let Built {
        system,
        supports,
        rest,
        opened,
        ..
    } = &mut built;
    // The elements are in columns now; the bonds, of which there are many more, are read in batches.
    let bond_hash = bonds(source, pipeline, (&inverse_mass, &inverse_inertia), system)?;
    toughness::soften(system, pipeline, (&rest.volume, &rest.body));
    // Faces of cells break by their own rules.
    if !of_cells {
        *opened = cracks::open(system);
    }
    for (index, attachment) in pipeline.attachments.iter().enumerate() {
        if let Action::Pressure { pressure } = attachment.action {
            let elements = supports.elements(index);
            let forces = pressure::forces(system, elements, &rest.volume, pressure);
            pressure::require_surface(&forces, &attachment.name)?;
            supports.press(index, forces);
        }
    }
    built.hash ^= bond_hash.rotate_left(1);
    Ok(built)
}

/// Builds the columns without those of the bonds, which are only checked: enough for checks of the start. Bonds take
/// most of the memory of a scene.
///
/// # Errors
/// Those of [`build`].
pub fn build_start<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<Built<S>, SimulateError> {
    let mut attachments = pipeline.attachments.iter();
    // The bonds say which elements are at the surface.
    if attachments.any(|one| matches!(one.action, Action::Pressure { .. })) {
        return build(source, pipeline);
    }
    let Unbonded { built, .. } = without_bonds::<S>(source, pipeline)?;
    let mut ends = BondEnds::new(built.system.count);
    source.bonds(&mut |b| {
        let rows = b.id.iter().zip(b.i.iter().zip(&b.j));
        for (&id, (&i, &j)) in rows {
            ends.add(id, [i, j]);
        }
    })?;
    ends.finish()?;
    Ok(built)
}

/// A scene before its bonds are read.
struct Unbonded<S> {
    /// Its hash is without that of the bonds.
    built: Built<S>,
    /// Inverse masses of the elements, 1/kg, and inverse moments of inertia, 1/(kg m²); 0 where clamped.
    inverse_mass: Vec<f64>,
    inverse_inertia: Vec<f64>,
    /// Whether there are cells among the elements.
    of_cells: bool,
}

/// Builds the columns of elements, colliders and attachments.
fn without_bonds<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
) -> Result<Unbonded<S>, SimulateError> {
    let colliders = solid_colliders(source, pipeline)?;
    let elements = source.elements()?;
    let AppliedAttachments {
        inverse_mass,
        inverse_inertia,
        clamped_velocity,
        forces,
        attached_elements,
    } = attachments(&elements, pipeline)?;
    let (mut system, mut load) = columns::<S>(
        &elements,
        &inverse_mass,
        &inverse_inertia,
        &clamped_velocity,
        pipeline,
    )?;
    drop(clamped_velocity);
    let mut hash = TableHash::default();
    hash.add(elements.as_ref());
    let rest = RestData {
        mass: elements.mass.clone(),
        volume: elements.volume.clone(),
        body: elements.body.clone(),
        inverse_mass: load.iter().map(|row| row.0[3].to_f64()).collect(),
        inverse_inertia: load.iter().map(|row| row.0[7].to_f64()).collect(),
        principal: Vec::new(),
        gravity: DVec3::from_array(pipeline.world.gravity),
        bounds: pipeline.world.bounds,
    };
    let rigid = RigidBodies::new(
        &elements,
        pipeline,
        &attached_elements,
        &mut system,
        &mut load,
    )?;
    rigid.place(&rigid.poses(), 0, &mut system.motion, &mut system.tail);
    let meshes = colliders
        .iter()
        .filter_map(|collider| collider.solid.mesh());
    // Without mesh colliders this leaves the hash of elements and bonds unchanged.
    let mesh_hash = meshes.fold(0, |all: u64, mesh| all.rotate_left(1) ^ mesh_hash(mesh));
    let mut supports = Supports::new(
        colliders,
        &pipeline.attachments,
        attached_elements,
        &system,
        &rest,
    );
    // Forces that change with time are not constant loads.
    for attached in forces.iter().filter(|one| one.signal.is_none()) {
        supports.load(&attached.elements, attached.force);
    }
    let springs = Springs::new(&pipeline.attachments, &supports, &system);
    let clamps = supports.clamps();
    let poses = clamps.poses(0.0);
    clamps.place(&poses, 0, &mut system.motion, &mut system.tail);
    let of_cells = elements.kind.contains(&Shape::Cell);
    Ok(Unbonded {
        built: Built {
            system,
            load,
            surfaces: Surfaces::of(pipeline),
            forces,
            springs,
            supports,
            rigid,
            shapes: None,
            opened: Breaks::default(),
            rest,
            hash: hash.digest() ^ mesh_hash,
        },
        inverse_mass,
        inverse_inertia,
        of_cells,
    })
}

/// Motion, radii and loads of the elements.
fn columns<S: Scalar>(
    elements: &Elements,
    inverse_mass: &[f64],
    inverse_inertia: &[f64],
    clamped_velocity: &[Option<[f64; 3]>],
    pipeline: &Pipeline,
) -> Result<(System<S>, Vec<LoadRow<S>>), SimulateError> {
    let count = elements.id.len();
    let chunk = chunk_for(count, rayon::current_num_threads());
    let mut system = System::new(count, chunk, pipeline.simulate.bond_law());
    system.set_rigid(rigid::mask(elements, pipeline));
    let mut load = vec![LaneRow::default(); system.motion.len()];
    for i in 0..count {
        let p = DVec3::new(elements.x[i], elements.y[i], elements.z[i]);
        system.set_position(i, p);
        let moving = clamped_velocity[i].map_or(
            [
                [elements.vx[i], elements.vy[i], elements.vz[i]],
                [elements.wx[i], elements.wy[i], elements.wz[i]],
            ],
            |velocity| [velocity, [0.0; 3]],
        );
        for (at, vector) in [motion::V, motion::W].into_iter().zip(moving) {
            for (k, value) in vector.into_iter().enumerate() {
                system.motion[i].0[at + k] = S::from_f64(value);
            }
        }
        system.tail[i].0[3] = S::from_f64(elements.r[i]);
        system.inverse_mass[i] = S::from_f64(inverse_mass[i]);
        load[i].0[3] = S::from_f64(inverse_mass[i]);
        load[i].0[7] = S::from_f64(inverse_inertia[i]);
        let (material, body) = (elements.material[i], elements.body[i]);
        let refused = |what: &str, number: u32, count: usize| {
            SimulateError::Packing(format!(
                "element {i} has {what} {number}, but the pipeline has only {count}"
            ))
        };
        let (materials, bodies) = (pipeline.materials.len(), pipeline.bodies.len());
        if material as usize >= materials {
            return Err(refused("material", material, materials));
        }
        // A pipeline without bodies accepts any: such packings come from other programs.
        if bodies > 0 && body as usize >= bodies {
            return Err(refused("body", body, bodies));
        }
        system.material[i] = material;
    }
    Ok((system, load))
}

/// Reads all bonds into the system, also those inside rigid pieces; returns the hash of their numbers.
fn bonds<S: Scalar>(
    source: &dyn Source,
    pipeline: &Pipeline,
    inverse: (&[f64], &[f64]),
    system: &mut System<S>,
) -> Result<u64, SimulateError> {
    let mut hash = TableHash::default();
    let mut ends = BondEnds::new(system.count);
    let mut classes = BondClasses::new(pipeline, inverse);
    let mut outline = BondOutline::with_capacity(source.bond_count()?);
    source.bonds(&mut |b| {
        hash.add(b);
        for k in 0..b.id.len() {
            if !ends.add(b.id[k], [b.i[k], b.j[k]]) {
                return;
            }
            outline.add(&row(b, k, classes.number(&system.material, b, k)));
        }
    })?;
    ends.finish()?;
    let padded = system.motion.len();
    let mut filler = match pipeline.method() {
        // The number of faces per cell varies widely.
        MethodName::Voronoi => Bonds::even_filler(padded, outline),
        MethodName::Explicit | MethodName::Implicit => Bonds::filler(padded, outline),
    };
    source.bonds(&mut |b| {
        for k in 0..b.id.len() {
            filler.put(&row(b, k, classes.number(&system.material, b, k)));
        }
    })?;
    system.bonds = filler.finish(system.rigid());
    system.classes = classes.all;
    refuse_doubles(system)?;
    Ok(hash.digest())
}

/// Row `k` of a table of bonds, of a class.
fn row<S: Scalar>(b: &columns::Bonds, k: usize, class: u32) -> BondRow<S> {
    BondRow {
        ends: [b.i[k], b.j[k]],
        direction: [b.dx[k], b.dy[k], b.dz[k]].map(S::from_f64),
        length: S::from_f64(b.l0[k]),
        class,
        sigma_c: S::from_f64(b.sigma_c[k]),
        tau_c: S::from_f64(b.tau_c[k]),
        id: b.id[k],
    }
}

/// Returns an error if two elements are joined by more than one bond.
fn refuse_doubles<S: Scalar>(system: &System<S>) -> Result<(), SimulateError> {
    let mut others = Vec::new();
    for i in 0..system.count {
        others.clear();
        for side in system.bonds.sides(i) {
            if others.contains(&side.other) {
                let [i, j] = [i.min(side.other), i.max(side.other)].map(|end| end as u32);
                return Err(joined_twice(system.bonds.id[side.entry], [i, j]));
            }
            others.push(side.other);
        }
    }
    Ok(())
}

/// Collects the distinct classes of bonds.
struct BondClasses<'a, S> {
    materials: &'a [Material],
    /// Shear correction factor of the law.
    correction: f64,
    inverse_mass: &'a [f64],
    inverse_inertia: &'a [f64],
    /// Number of each class, by the bits of its inputs.
    known: HashMap<([u64; 5], [u64; 3]), u32>,
    all: Vec<BondClass<S>>,
}

impl<'a, S: Scalar> BondClasses<'a, S> {
    /// No classes yet; the inverse masses and inertias are those of all elements.
    fn new(
        pipeline: &'a Pipeline,
        (inverse_mass, inverse_inertia): (&'a [f64], &'a [f64]),
    ) -> Self {
        BondClasses {
            materials: &pipeline.materials,
            correction: match pipeline.simulate.bond_law().is_shear_corrected() {
                true => pipeline.simulate.shear_correction,
                false => 1.0,
            },
            inverse_mass,
            inverse_inertia,
            known: HashMap::new(),
            all: Vec::new(),
        }
    }

    /// Number of the class of bond `k`; `material` lists the materials of all elements.
    fn number(&mut self, material: &[u32], b: &columns::Bonds, k: usize) -> u32 {
        let (i, j) = (b.i[k] as usize, b.j[k] as usize);
        let inputs = ClassInputs {
            radius: b.radius[k],
            young: b.young[k],
            shear: b.shear[k],
            inverse_mass: self.inverse_mass[i] + self.inverse_mass[j],
            inverse_inertia: self.inverse_inertia[i] + self.inverse_inertia[j],
            traits: BondTraits::of([i, j].map(|end| &self.materials[material[end] as usize])),
        };
        *self.known.entry(inputs.key()).or_insert_with(|| {
            let mut made = inputs.class();
            made.gs *= self.correction;
            self.all.push(made.map(S::from_f64));
            self.all.len() as u32 - 1
        })
    }
}

/// Properties that a bond derives from the materials of both ends, whatever their order.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BondTraits {
    /// Mean of the damping ratios.
    damping: f64,
    /// Whether compression counts in either criterion.
    compression_counts: bool,
    /// Whether either criterion uses the largest shear stress of the section, 4/3 of the mean.
    shear_peaks: bool,
}

impl BondTraits {
    fn of(ends: [&Material; 2]) -> Self {
        let mut made = BondTraits {
            damping: 0.5 * (ends[0].damping + ends[1].damping),
            compression_counts: false,
            shear_peaks: false,
        };
        for end in ends {
            match end.criterion {
                // With `rankine` the stress of the solid counts in tension, and that of the bond in shear.
                Criterion::Tension | Criterion::Rankine => {}
                Criterion::Lu2021 => made.compression_counts = true,
                Criterion::Rod => made.shear_peaks = true,
            }
        }
        made
    }

    /// Bits of all fields.
    fn key(self) -> [u64; 3] {
        let BondTraits {
            damping,
            compression_counts,
            shear_peaks,
        } = self;
        [
            damping.to_bits(),
            compression_counts.into(),
            shear_peaks.into(),
        ]
    }
}

/// All inputs of a bond's class: bonds with equal inputs share one class.
#[derive(Clone, Copy, Debug)]
struct ClassInputs {
    /// r0, m.
    radius: f64,
    /// Young's modulus, Pa.
    young: f64,
    /// Shear modulus, Pa.
    shear: f64,
    /// Sum of the inverse masses of both ends, 1/kg.
    inverse_mass: f64,
    /// Sum of the inverse moments of inertia of both ends, 1/(kg m²).
    inverse_inertia: f64,
    traits: BondTraits,
}

impl ClassInputs {
    /// Bits of all fields.
    fn key(&self) -> ([u64; 5], [u64; 3]) {
        let ClassInputs {
            radius,
            young,
            shear,
            inverse_mass,
            inverse_inertia,
            traits,
        } = *self;
        let numbers = [radius, young, shear, inverse_mass, inverse_inertia];
        (numbers.map(f64::to_bits), traits.key())
    }

    /// Section stiffnesses (S = πr0², I = πr0⁴/4, J = πr0⁴/2) and damping.
    ///
    /// The damping coefficients assume touching elements, l0 = 2 r0: damping is a ratio chosen by the user,
    /// not a law.
    fn class(&self) -> BondClass<f64> {
        let ClassInputs {
            radius: r0,
            young,
            shear,
            inverse_mass,
            inverse_inertia,
            traits,
        } = *self;
        let BondTraits {
            damping: ratio,
            compression_counts,
            shear_peaks,
        } = traits;
        let area = std::f64::consts::PI * r0 * r0;
        let second_moment = area * r0 * r0 / 4.0;
        let polar = 2.0 * second_moment;
        let l0 = 2.0 * r0;
        BondClass {
            es: young * area,
            gs: shear * area,
            gj: shear * polar,
            ei: young * second_moment,
            section: CriterionSection {
                inverse_area: 1.0 / area,
                bend_modulus: r0 / second_moment,
                twist_modulus: r0 / polar,
                compression_counts: f64::from(u8::from(compression_counts)),
                inverse_shear_area: match shear_peaks {
                    true => 4.0 / (3.0 * area),
                    false => 1.0 / area,
                },
            },
            damping: damping::coefficient(ratio, young * area / l0, inverse_mass, 0.0),
            spin_damping: damping::coefficient(
                ratio,
                young * second_moment / l0,
                inverse_inertia,
                0.0,
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec;

    #[test]
    fn a_bond_between_two_materials_has_the_damping_and_criterion_of_both() {
        let text = "[time]\nend = 1\nframes_per_second = 24\n\
            [[material]]\nname = \"a\"\ndensity = 1\nyoung = 1e6\npoisson = 0.2\ndamping = 0.1\ncriterion = \"lu2021\"\n\
            [[material]]\nname = \"b\"\ndensity = 1\nyoung = 1e6\npoisson = 0.2\ndamping = 0.5\ncriterion = \"rod\"\n\
            [[body]]\nname = \"ball\"\nmaterial = \"a\"\nshape = { type = \"sphere\", radius = 1 }\n\
            packing = { type = \"hexagonal\", elements = 10 }\n";
        let pipeline = spec::parse(text, "two.toml", &[]).unwrap();
        let [a, b] = [0, 1].map(|k| &pipeline.materials[k]);
        let both = BondTraits::of([a, b]);
        assert_eq!(both, BondTraits::of([b, a]));
        assert_eq!(both.damping, 0.3);
        assert!(both.compression_counts && both.shear_peaks);
        let own = BondTraits::of([a, a]);
        assert!(own.damping == 0.1 && own.compression_counts && !own.shear_peaks);
    }
}
