//! Rankine's criterion on bonds on a graphics processor, compared with the CPU.

use cullet::columns::{BreakMode, Breaks};
use cullet::simulate::{Method, Snapshot, method};
use cullet::spec::{Backend, Criterion, Material, Pipeline};
use cullet::store::Packing;

use crate::device;
use crate::energy::unit_step;
use crate::rankine_bonds::{R, STRENGTH, YOUNG, bytes, material, torn_block};
use crate::scenes;

/// A break: step, bond and mode; σ, τ and energy.
type Break = ((u64, u32, BreakMode), [f32; 3]);

/// The breaks of a frame by step and bond.
fn sorted(breaks: &Breaks) -> Vec<Break> {
    let row = |k: usize| {
        let numbers = [breaks.sigma[k], breaks.tau[k], breaks.energy[k]];
        ((breaks.step[k], breaks.bond[k], breaks.mode[k]), numbers)
    };
    let mut rows: Vec<_> = (0..breaks.bond.len()).map(row).collect();
    rows.sort_by_key(|(key, _)| (key.0, key.1));
    rows
}

/// The torn block, a third of its bonds weak in shear. With `two`, two in five elements have a material that softens
/// by its toughness.
fn scene(two: bool) -> (Packing, Pipeline, f64) {
    let (mut packing, mut pipeline, dt) = torn_block();
    let bonds = &mut packing.bonds;
    for (k, strength) in bonds.tau_c.iter_mut().enumerate() {
        *strength *= if k % 3 == 0 { 0.04 } else { 1.0 };
    }
    if two {
        let tough = Material {
            name: "tough".into(),
            criterion: Criterion::Tension,
            toughness: Some(1e4),
            ..pipeline.materials[0].clone()
        };
        pipeline.materials.push(tough);
        for (k, material) in packing.elements.material.iter_mut().enumerate() {
            *material = u32::from(k % 5 < 2);
        }
    }
    (packing, pipeline, dt)
}

/// Checks that frames have the same breaks and stresses; returns the number of breaks by tension and by shear.
///
/// Drivers fuse multiplications and additions, so a bond whose stress is just the strength may break a step later.
fn compare(cpu: &[Snapshot], gpu: &[Snapshot], packing: &Packing) -> [usize; 2] {
    let near = |a: f32, b: f32, size: f32| (a - b).abs() < 1e-3 * size;
    let [on_cpu, on_gpu] = [cpu, gpu].map(|frames| {
        let breaks = frames.iter().map(|frame| sorted(&frame.breaks));
        breaks.flatten().collect::<Vec<Break>>()
    });
    let mut counts = [0; 2];
    for (key, a) in &on_cpu {
        let strength = packing.bonds.sigma_c[key.1 as usize] as f32;
        // Strains are small differences: energies, which grow with their squares, are less exact.
        let sizes = [strength, strength, 5.0 * a[2]];
        let is_near = |b: &[f32; 3]| (0..3).all(|k| near(a[k], b[k], sizes[k]));
        if on_gpu.iter().any(|row| row.0 == *key && is_near(&row.1)) {
            counts[usize::from(key.2 == BreakMode::Shear)] += 1;
        } else {
            let other = on_gpu.iter().find(|row| row.0.1 == key.1);
            println!("{key:?} {a:?} is {other:?} on the device");
        }
    }
    let same = counts[0] + counts[1];
    println!(
        "{same} of {} breaks are the same of {}",
        on_cpu.len(),
        on_gpu.len()
    );
    assert!(same * 50 >= on_cpu.len().max(on_gpu.len()) * 49);
    for (n, (a, b)) in cpu.iter().zip(gpu).enumerate() {
        let pairs = a.frames.sigma.iter().zip(&b.frames.sigma);
        let same = pairs
            .filter(|(a, b)| near(**a, **b, STRENGTH as f32))
            .count();
        assert!(same * 50 >= a.frames.sigma.len() * 49, "frame {n}: {same}");
    }
    counts
}

#[test]
fn the_same_bonds_break_in_the_same_steps_on_a_device() {
    let Some(request) = device::request() else {
        return;
    };
    for two in [false, true] {
        let (packing, pipeline, dt) = scene(two);
        let mut cpu = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
        let mut gpu = device::engine(&packing, &pipeline, dt, &request);
        let cpu = scenes::frames(cpu.as_mut(), 12, 0..4);
        let gpu = scenes::frames(&mut gpu, 12, 0..4);
        let [tension, shear] = compare(&cpu, &gpu, &packing);
        println!("two materials {two}: {tension} bonds break by tension, {shear} by shear");
        assert!(tension > 10 && shear > 10, "{tension} {shear}");
        let (before, after) = (&gpu[0].history, &gpu[3].history);
        let mass: f64 = packing.elements.mass.iter().sum();
        for (a, b) in [
            (&before.px, &after.px),
            (&before.py, &after.py),
            (&before.pz, &after.pz),
        ] {
            assert!((a[0] - b[0]).abs() < 1e-6 * mass * 0.1, "{a:?} {b:?}");
        }
    }
}

/// The σ of a break is that of the solid, whether it decides or not.
#[test]
fn a_bond_that_breaks_by_shear_has_the_stress_of_the_solid() {
    let (packing, pipeline, dt) = scene(false);
    let mut cpu = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    let mut sheared = 0;
    for frame in scenes::frames(cpu.as_mut(), 12, 0..4) {
        let breaks = frame.breaks;
        for (k, mode) in breaks.mode.iter().enumerate() {
            let strength = packing.bonds.sigma_c[breaks.bond[k] as usize];
            let above = f64::from(breaks.sigma[k]) > strength;
            assert_eq!(above, *mode == BreakMode::Tension, "{k}");
            sheared += usize::from(!above && breaks.sigma[k] > 0.0);
        }
    }
    assert!(sheared > 5, "{sheared}");
}

#[test]
fn runs_on_a_device_have_the_same_bits_again_and_after_a_state() {
    let Some(request) = device::request() else {
        return;
    };
    let (packing, pipeline, dt) = scene(false);
    let engine = || device::engine(&packing, &pipeline, dt, &request);
    let mut whole = engine();
    let (first, broken) = bytes(&mut whole, 1..3);
    assert!(broken > 5);
    let state = whole.state(2).unwrap();
    let (on, more) = bytes(&mut whole, 3..5);
    assert!(more > 5);
    let mut again = engine();
    assert!(bytes(&mut again, 1..3).0 == first);
    let mut resumed = engine();
    resumed.restore(&state).unwrap();
    assert!(bytes(&mut resumed, 3..5).0 == on, "after a state");
}

/// More bonds break in a step than the device has space for, so that it removes them in several attempts: what is
/// found in the first must not depend on what is removed.
#[test]
fn many_breaks_in_a_step_are_those_on_the_cpu() {
    let Some(request) = device::request() else {
        return;
    };
    let material = material();
    let points = scenes::block(16, 10, 10, R);
    let mut packing = scenes::packing(&points, R, &material, (STRENGTH, f64::INFINITY));
    let dt = 0.01 * unit_step(&material);
    let pipeline = scenes::pipeline(material);
    let stretch = 1.5 * STRENGTH / YOUNG;
    packing
        .elements
        .x
        .iter_mut()
        .for_each(|x| *x *= 1.0 + stretch);
    let breaks = |run: &mut dyn Method| {
        run.advance(1).unwrap();
        let found = sorted(&run.snapshot(1).unwrap().breaks);
        found.into_iter().map(|row| row.0).collect::<Vec<_>>()
    };
    let mut cpu = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    let expected = breaks(cpu.as_mut());
    println!("{} bonds break", expected.len());
    assert!(expected.len() > 2048);
    let mut gpu = device::engine(&packing, &pipeline, dt, &request);
    assert!(breaks(&mut gpu) == expected);
}
