//! Rankine's criterion on the stress of cells: a pulled bar of Voronoi cells breaks at the specified
//! strength, across its axis.

use cullet::simulate::methods::voronoi::build::{CellScene, scene};
use cullet::simulate::methods::voronoi::cpu::CellRun;
use cullet::simulate::{Method, Snapshot};
use cullet::spec::{Criterion, Pipeline, Precision};
use cullet::store::Packing;
use glam::DVec3;

use crate::cell_runs::bytes;
use crate::cell_scenes::{CellMaterial, bricks, method, packing, random, shot};

const STRENGTH: f64 = 1e4;
/// Strain rate, 1/s.
const RATE: f64 = 0.01;
const MATERIAL: CellMaterial = CellMaterial {
    density: 1000.0,
    young: 1e7,
    poisson: 0.25,
};

/// A bar along z whose ends are clamped and pulled apart; every cell starts with its share of that motion, so
/// that no wave is excited.
fn pulled_bar(
    packing: &mut Packing,
    size: DVec3,
    criterion: Criterion,
    precision: Precision,
) -> Pipeline {
    packing.bonds.sigma_c.fill(STRENGTH);
    let e = &mut packing.elements;
    for (v, z) in e.vz.iter_mut().zip(&e.z) {
        *v = RATE * (z - 0.5 * size.z);
    }
    let clamp = |name: &str, low: f64, high: f64, way: f64| {
        let speed = way * RATE * 0.5 * size.z;
        format!(
            "[[attach]]\nname = \"{name}\"\nbody = \"body\"\nregion = {{ min = [-9, -9, {low}], max = [9, 9, {high}] }}\n\
             action = {{ type = \"clamp\", velocity = [0, 0, {speed}] }}\n"
        )
    };
    let more = clamp("lower", -1.0, 0.2, -1.0) + &clamp("upper", size.z - 0.2, 9.0, 1.0);
    let mut pipeline = shot(MATERIAL, &more);
    pipeline.materials[0].criterion = criterion;
    pipeline.materials[0].damping = 0.02;
    pipeline.simulate.precision = precision;
    pipeline
}

/// The largest mean stress in the bar, over the strength, and the last snapshot.
fn measured_strength(packing: &Packing, pipeline: &Pipeline, size: DVec3) -> (f64, Snapshot) {
    let (mut run, dt) = method(packing, pipeline, 0.5);
    let steps = (2.0 * STRENGTH / MATERIAL.young / RATE / dt / 100.0) as u64;
    let mut most = 0.0f64;
    for frame in 0..100 {
        run.advance(steps).unwrap();
        let now = run.snapshot(frame).unwrap();
        let load = 0.5 * (now.loads.fz[0].abs() + now.loads.fz[1].abs());
        most = most.max(load / (size.x * size.y) / STRENGTH);
        if now.fragments.elements.len() > 1 && now.history.broken[0] > 0 && load < 0.1 * STRENGTH {
            return (most, now);
        }
    }
    panic!("the bar holds");
}

#[test]
fn a_bar_of_voronoi_cells_breaks_at_the_strength_asked_for() {
    let size = DVec3::new(1.0, 1.0, 3.0);
    let mut found = Vec::new();
    for criterion in [Criterion::Rankine, Criterion::Tension] {
        let mut packing = packing(&random(size, 1000, 20), MATERIAL);
        let pipeline = pulled_bar(&mut packing, size, criterion, Precision::F64);
        let (strength, last) = measured_strength(&packing, &pipeline, size);
        let largest = last.fragments.elements.iter().max();
        println!(
            "{criterion:?}: strength {strength:.3} of that asked for, {} fragments, the largest of {largest:?} cells, {} broken faces",
            last.fragments.elements.len(),
            last.history.broken[0]
        );
        found.push(strength);
    }
    // Tractions of single faces vary more than stresses of cells.
    assert!((found[0] - 1.0).abs() < 0.12, "{found:?}");
    assert!(
        (found[0] - 1.0).abs() < 0.6 * (found[1] - 1.0).abs(),
        "{found:?}"
    );
}

/// Bricks: criterion `tension` includes the bending stress at the clamps, Rankine's criterion the stress
/// alone.
#[test]
fn bricks_break_at_the_strength_asked_for() {
    let size = DVec3::new(0.75, 0.75, 2.0);
    let mut packing = packing(&bricks([3, 3, 8], DVec3::splat(0.25)), MATERIAL);
    let pipeline = pulled_bar(&mut packing, size, Criterion::Rankine, Precision::F64);
    let (strength, _) = measured_strength(&packing, &pipeline, size);
    println!("{strength:.3}");
    assert!((strength - 1.0).abs() < 0.05, "{strength}");
}

/// Stresses are not part of the state: they are recomputed when a run is resumed.
#[test]
fn lanes_threads_and_going_on_change_no_bit() {
    let size = DVec3::new(1.0, 1.0, 3.0);
    let mut packing = packing(&random(size, 1500, 3), MATERIAL);
    packing.bonds.tau_c.fill(1.5 * STRENGTH);
    let pipeline = pulled_bar(&mut packing, size, Criterion::Rankine, Precision::F32);
    let (mut run, dt) = method(&packing, &pipeline, 0.5);
    // Until some faces have broken, and for some more steps.
    let mut first = 0;
    while run.snapshot(0).unwrap().history.broken[0] < 5 {
        run.advance(20).unwrap();
        first += 20;
    }
    let second = first + 100;
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let (mut run, _) = method(&packing, &pipeline, 0.5);
            run.advance(first).unwrap();
            let middle = run.state(0).unwrap();
            run.advance(second - first).unwrap();
            (middle, run.state(1).unwrap())
        })
    };
    let (middle, one) = on(1);
    let (_, three) = on(3);
    assert_eq!(bytes(&one), bytes(&three));
    let made: CellScene<f32> = scene(&packing, &pipeline).unwrap();
    let mut narrow = CellRun::<f32>::new(made, &pipeline, dt);
    narrow.restore(&middle).unwrap();
    let broken = narrow.snapshot(0).unwrap().history.broken[0];
    narrow.advance(second - first).unwrap();
    assert_eq!(bytes(&one), bytes(&narrow.state(1).unwrap()));
    let more = narrow.snapshot(2).unwrap().history.broken[0];
    println!("{broken}, then {more} broken faces");
    assert!(broken > 0 && more > broken, "{broken} {more}");
}
