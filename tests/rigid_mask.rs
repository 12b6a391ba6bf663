//! Bonds within rigid pieces: stored, but not evaluated until the piece is elastic again.

use cullet::laws::manifold::Manifold;
use cullet::math::{LaneWidth, Lanes};
use cullet::simulate::bonded::rigid_mask::RigidMask;
use cullet::simulate::methods::explicit::cpu::Cpu;
use cullet::simulate::methods::implicit::Implicit;
use cullet::simulate::{Built, Method, build, schedule};
use cullet::spec::{Body, Integrator, Pipeline};
use cullet::store::Packing;
use glam::DVec3;

use crate::scenes;

const R: f64 = 1e-3;

/// Elements of the block: one chunk and a part of the next.
const BLOCK: usize = 10 * 9 * 8;

/// A ram that runs into a block whose bonds break at this strength; three chunks of elements, the last of
/// which belongs to the ram alone.
fn push(strength: f64, rigid: bool) -> (Packing, Pipeline) {
    let block = scenes::block(10, 9, 8, R);
    let ram = scenes::block(12, 8, 8, R);
    let behind = DVec3::new(-0.0265, 1.3e-3, 0.2e-3);
    let points: Vec<DVec3> = block
        .iter()
        .copied()
        .chain(ram.iter().map(|p| *p + behind))
        .collect();
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    (
        material.friction,
        material.contact_damping,
        material.damping,
    ) = (0.3, 0.1, 0.05);
    let mut packing = scenes::packing(&points, R, &material, (strength, strength));
    packing.elements.body[BLOCK..].fill(1);
    packing.elements.vx[BLOCK..].fill(3.0);
    packing.elements.wy[BLOCK..].fill(20.0);
    let mut pipeline = scenes::pipeline(material);
    let body = |name: &str, rigid: bool| Body {
        name: name.into(),
        rigid,
        ..crate::statics::body()
    };
    pipeline.bodies = vec![body("beam", false), body("ram", rigid)];
    pipeline.output.work = true;
    (packing, pipeline)
}

/// The packing with only those bonds that `kept` accepts by their ends.
fn with_bonds(packing: &Packing, kept: impl Fn(usize, usize) -> bool) -> Packing {
    let mut fewer = packing.clone();
    let ends = packing.bonds.i.iter().zip(&packing.bonds.j);
    let kept: Vec<bool> = ends.map(|(&i, &j)| kept(i as usize, j as usize)).collect();
    macro_rules! keep {
        ($($column:ident)*) => {$({
            let mut kept = kept.iter();
            fewer.bonds.$column.retain(|_| *kept.next().unwrap());
        })*};
    }
    keep!(id i j l0 dx dy dz radius young shear sigma_c tau_c law);
    fewer
}

/// Rigid mask by body: the first body is not rigid, the second is one rigid piece.
fn ram_mask(packing: &Packing) -> RigidMask {
    RigidMask::new(packing.elements.body.clone())
}

#[test]
fn bonds_of_rigid_bodies_are_kept_and_not_evaluated() {
    let (packing, pipeline) = push(f64::INFINITY, true);
    let system = build::<f32>(&packing, &pipeline).unwrap().system;
    let bonds = &system.bonds;
    let mut active = 0;
    for (i, side) in bonds.entries() {
        assert!(bonds.is_intact(side.entry));
        let of_ram = i >= BLOCK;
        assert_eq!(bonds.is_within_piece(side.entry), of_ram);
        assert_eq!(bonds.is_active(side.entry), !of_ram);
        active += usize::from(!of_ram);
    }
    assert_eq!(bonds.entries().count(), packing.bonds.id.len());
    let of_block = packing.bonds.i.iter().filter(|&&i| (i as usize) < BLOCK);
    assert_eq!(active, of_block.count());
    assert!(0 < active && active < packing.bonds.id.len());
}

/// A run of a rigid body equals a run whose packing lacks the bonds of the rigid body.
#[test]
fn bonds_of_rigid_bodies_change_no_bit() {
    let (packing, pipeline) = push(1.5e5, true);
    let fewer = with_bonds(&packing, |i, _| i < BLOCK);
    let plan = schedule(&packing, &pipeline).unwrap();
    assert_eq!(plan, schedule(&fewer, &pipeline).unwrap());
    let dt = 0.3 * plan.critical;
    let double = |packing: &Packing| {
        let built = build(packing, &pipeline).unwrap();
        scenes::frames(&mut Cpu::<f64>::new(built, &pipeline, dt), 400, 1..6)
    };
    let kept = double(&packing);
    assert!(kept == double(&fewer));
    let broken: usize = kept.iter().map(|frame| frame.breaks.bond.len()).sum();
    assert!(broken > 10, "{broken}");
    for width in LaneWidth::ALL {
        let [one, other] = [&packing, &fewer].map(|packing| {
            let run = scenes::on_width(width, (packing, &pipeline, dt), Some(128));
            run.map(|mut run| scenes::frames(run.as_mut(), 400, 1..6))
        });
        assert!(one == other, "{width:?}");
    }
}

fn elastic_run<L: Lanes>(packing: &Packing, pipeline: &Pipeline, dt: f64) -> Cpu<L> {
    let mut run = Cpu::<L>::new(build(packing, pipeline).unwrap(), pipeline, dt);
    run.advance(300).unwrap();
    run
}

fn check_waking<L: Lanes>() {
    let (mut packing, pipeline) = push(1.5e5, false);
    // Only the block has contacts between ends of broken bonds, which end where a piece becomes rigid.
    let bonds = &mut packing.bonds;
    let of_ram = bonds.i.partition_point(|&i| (i as usize) < BLOCK);
    bonds.sigma_c[of_ram..].fill(f64::INFINITY);
    bonds.tau_c[of_ram..].fill(f64::INFINITY);
    let dt = 0.3 * schedule(&packing, &pipeline).unwrap().critical;
    let mut never = elastic_run::<L>(&packing, &pipeline, dt);
    let mut run = elastic_run::<L>(&packing, &pipeline, dt);
    let before = run.snapshot(1).unwrap();
    let broken = before.breaks.bond.len();
    assert!(broken > 10 && before.history.bond[0] > 0.0);

    run.system_mut().set_rigid(ram_mask(&packing));
    run.refresh();
    let rigid = run.snapshot(1).unwrap();
    let stressed = |sigma: &[f32]| sigma.iter().filter(|sigma| **sigma > 0.0).count();
    assert!(stressed(&before.frames.sigma[BLOCK..]) > 100);
    assert_eq!(stressed(&rigid.frames.sigma[BLOCK..]), 0);
    assert_eq!(rigid.frames.sigma[..BLOCK], before.frames.sigma[..BLOCK]);
    assert!(rigid.history.bond[0] < before.history.bond[0]);
    // Broken bonds stay broken, and the fragments do not change.
    assert_eq!(rigid.history.broken, before.history.broken);
    assert_eq!(rigid.frames.fragment, before.frames.fragment);

    run.system_mut().set_rigid(RigidMask::default());
    run.refresh();
    for _ in 0..2 {
        never.snapshot(1).unwrap();
        never.refresh();
    }
    // The state contains the loads.
    assert!(run.state(1).unwrap() == never.state(1).unwrap());
    let [on, without] = [&mut run, &mut never].map(|run| scenes::frames(run, 100, 2..4));
    assert!(on == without, "goes on as if it had always been elastic");
}

#[test]
fn a_rigid_piece_that_becomes_elastic_has_the_loads_of_its_bonds_again() {
    check_waking::<f64>();
    check_waking::<f32>();
}

/// A body that is rigid from the start can become elastic too.
#[test]
fn a_rigid_body_has_the_bonds_of_an_elastic_one() {
    let (packing, pipeline) = push(f64::INFINITY, true);
    let rigid: Built<f64> = build(&packing, &pipeline).unwrap();
    let (_, pipeline) = push(f64::INFINITY, false);
    let elastic: Built<f64> = build(&packing, &pipeline).unwrap();
    let (mut rigid, elastic) = (rigid.system, elastic.system);
    assert_ne!(rigid.bonds.active(), elastic.bonds.active());
    rigid.set_rigid(RigidMask::default());
    assert_eq!(rigid.bonds.active(), elastic.bonds.active());
    for (i, side) in elastic.bonds.entries() {
        assert_eq!(rigid.bonds.find(i, side.other), Some(side));
        let class = |built: &cullet::simulate::bonded::system::System<f64>| {
            let class = built.classes[built.bonds.class.get(side.entry) as usize];
            [class.es, class.gs, class.damping, class.spin_damping]
        };
        assert_eq!(class(&rigid), class(&elastic));
    }
}

/// Implicit steps leave out the same bonds in sums, matrix and strengths.
#[test]
fn implicit_steps_leave_out_bonds_within_rigid_pieces() {
    let (packing, mut pipeline) = push(5e4, false);
    pipeline.output.work = false;
    pipeline.simulate.integrator = Integrator::BackwardEuler;
    let within = |i: usize, _: usize| i < BLOCK;
    let fewer = with_bonds(&packing, within);
    let dt = 1.5 * schedule(&packing, &pipeline).unwrap().critical;
    let run = |packing: &Packing, mask: RigidMask| {
        let mut built = build(packing, &pipeline).unwrap();
        built.system.set_rigid(mask);
        let mut run = Implicit::<Manifold>::new(built, &pipeline, dt, dt);
        run.advance(60).unwrap();
        run.snapshot(1).unwrap()
    };
    let masked = run(&packing, ram_mask(&packing));
    let dropped = run(&fewer, ram_mask(&packing));
    assert!(!masked.breaks.bond.is_empty());
    assert_eq!(masked.breaks.bond, dropped.breaks.bond);
    assert!(masked.frames == dropped.frames);
    assert!(masked.history.bond[0] > 0.0);
    let all = run(&packing, RigidMask::default());
    assert!(all.frames != masked.frames);
}
