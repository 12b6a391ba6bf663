//! Friction in rope, and the tearing of cloth.

use std::path::Path;

use cullet::columns::Loads;
use cullet::simulate::Snapshot;
use cullet::store::Packing;
use glam::DVec3;

use crate::loads::{force, torque};
use crate::scenes::{at_rest, places, play, read};

const R: f64 = 1.9e-3;
/// Half of the length of the rope between the clamps, m.
const FREE: f64 = 0.114;
/// Angle by which the head is rotated, rad, and the times at which it is rotated, held, rotated back and
/// settled, s.
const ANGLE: f64 = std::f64::consts::FRAC_PI_2;
const TIMES: [f64; 4] = [0.4, 0.6, 1.0, 1.2];
const FRAMES_PER_SECOND: usize = 20;

/// Index of the frame at a time, s.
fn frame_at(time: f64) -> usize {
    (time * FRAMES_PER_SECOND as f64).round() as usize
}

/// A rope along y of two strands. A clamp holds both strands (if `whole`) or one at the foot, another rotates
/// both or the other one at the head, in the direction in which the rope is laid.
fn twist_rope(friction: f64, whole: bool) -> (Packing, Vec<Snapshot>) {
    let [up, hold, back, end] = TIMES;
    let side = u32::from(whole);
    let key = |time: f64, angle: f64| {
        format!(
            "{{ time = {time}, position = [0, 0, 0], rotation = {{ axis = [0, -1, 0], angle = {angle} }} }}"
        )
    };
    let keys = [(0.0, 0.0), (up, ANGLE), (hold, ANGLE), (back, 0.0)];
    let keys = keys.map(|(time, angle)| key(time, angle)).join(", ");
    let text = format!(
        "[time]\nend = {end}\nframes_per_second = {FRAMES_PER_SECOND}\n[world]\ngravity = [0, 0, 0]\n\
         [simulate]\ndrag = 10\n\
         [[material]]\nname = \"hemp\"\ndensity = 5000\nelasticity = \"bond\"\nyoung = 1e6\nshear = 3e5\n\
         tensile_strength = 1e6\ndamping = 0.2\nfriction = {friction}\ncontact_damping = 0.3\n\
         [[body]]\nname = \"rope\"\nmaterial = \"hemp\"\nshape = {{ type = \"cylinder\", radius = 0.012, height = 0.24 }}\n\
         packing = {{ type = \"twisted\", radius = {R}, strands = 2, filaments = 7, pitch = 0.08 }}\n\
         [[attach]]\nname = \"foot\"\nbody = \"rope\"\nregion = {{ min = [-1, -1, -1], max = [{side}, -{FREE}, 1] }}\n\
         action = {{ type = \"clamp\" }}\n\
         [[attach]]\nname = \"head\"\nbody = \"rope\"\nregion = {{ min = [-{side}, {FREE}, -1], max = [1, 1, 1] }}\n\
         action = {{ type = \"clamp\", pivot = [0, 0, 0], keys = [{keys}] }}\n"
    );
    let (pipeline, packed) = read(&text);
    let frames = play(&pipeline, &packed.packing);
    (packed.packing, frames)
}

/// Torque on the foot about the rope, N m, against the rotation.
fn resistance(loads: &Loads) -> f64 {
    -torque(loads, 0).y
}

#[test]
fn friction_keeps_a_twisted_rope_together_and_it_springs_back() {
    let turned = |friction: f64| {
        let (packing, frames) = twist_rope(friction, true);
        let torques: Vec<f64> = [0.1, 0.2, 0.3, 0.4, 0.6]
            .iter()
            .map(|time| resistance(&frames[frame_at(*time)].loads))
            .collect();
        let last = &frames[frame_at(TIMES[3])];
        let left = resistance(&last.loads).abs();
        let now = places(last);
        let off = at_rest(&packing)
            .iter()
            .zip(&now)
            .map(|(p, q)| p.distance(*q) / R)
            .fold(0.0, f64::max);
        println!(
            "friction {friction}: torque {:.2?} mN m, {:.3} left, elements return to within {off:.3} radii",
            torques.iter().map(|t| 1e3 * t).collect::<Vec<_>>(),
            1e3 * left
        );
        assert!(frames.iter().all(|frame| frame.history.broken[0] == 0));
        let loads = &frames[frame_at(TIMES[1])].loads;
        let ends = torque(loads, 0).y / -torque(loads, 1).y;
        assert!(
            (ends - 1.0).abs() < 0.05,
            "what one end gives, the other takes: {ends}"
        );
        (torques, left, off)
    };
    let (rough, left, off) = turned(0.5);
    // It rises with the angle, as in a bonded body: half of the angle gives half of the torque.
    assert!(rough[..4].is_sorted_by(|a, b| 1.2 * a < *b), "{rough:?}");
    assert!((rough[3] / rough[1] - 2.0).abs() < 0.4, "{rough:?}");
    assert!(left < 0.02 * rough[3], "{left}");
    assert!(off < 0.1, "{off}");
    // Smooth strands bear the same torque while they lie as laid, but slide off each other before a quarter
    // turn.
    let (smooth, _, smooth_off) = turned(0.0);
    assert!((smooth[0] / rough[0] - 1.0).abs() < 0.05, "{smooth:?}");
    assert!(rough[4] > 1.2 * smooth[4], "{rough:?} {smooth:?}");
    assert!(smooth_off > 2.0 * off, "{smooth_off}");
}

#[test]
fn a_rope_laid_in_a_quarter_circle_rests() {
    let point = |k: u32| {
        let (sin, cos) = (f64::from(k) * std::f64::consts::PI / 12.0).sin_cos();
        [0.15 * cos, 0.15 * sin, 0.0]
    };
    let points: Vec<[f64; 3]> = (0..=6).map(point).collect();
    let text = format!(
        "[time]\nend = 0.2\nframes_per_second = 20\n[world]\ngravity = [0, 0, 0]\n\
         [[material]]\nname = \"hemp\"\ndensity = 1000\nelasticity = \"bond\"\nyoung = 1e6\nshear = 3e5\n\
         damping = 0.02\nfriction = 0.5\ncontact_damping = 0.1\n\
         [[body]]\nname = \"rope\"\nmaterial = \"hemp\"\nshape = {{ type = \"tube\", points = {points:?}, radius = 0.012 }}\n\
         packing = {{ type = \"twisted\", radius = 0.8e-3, strands = 3, filaments = 7, pitch = 0.08 }}\n"
    );
    let (pipeline, packed) = read(&text);
    let frames = play(&pipeline, &packed.packing);
    let rest = at_rest(&packed.packing);
    let last = &frames[frames.len() - 1];
    let off = rest.iter().zip(places(last)).map(|(p, q)| p.distance(q));
    let off = off.fold(0.0, f64::max) / 0.8e-3;
    let first = &frames[0].history;
    println!(
        "{} elements, {} touch at the start; they move by up to {off:.1e} radii in 0.2 s",
        rest.len(),
        first.contacts[0]
    );
    assert_eq!(last.history.fragments[0], 3, "three strands");
    // They move by no more than the overlap that packings may have.
    assert!(off < 0.02, "{off}");
}

#[test]
fn a_strand_pulls_the_other_along_by_friction_alone() {
    let held = |friction: f64| {
        let (packing, frames) = twist_rope(friction, false);
        let frame = &frames[frame_at(TIMES[1])];
        let (rest, now) = (at_rest(&packing), places(frame));
        // Strands are bonded only within themselves, so that each is a fragment.
        let strand = &frame.frames.fragment;
        let held = |end: f64, side: f64| {
            let within = |p: &DVec3| p.y * end > FREE && p.x * side > 0.0;
            let mut held: Vec<u32> = (0..rest.len())
                .filter(|i| within(&rest[*i]))
                .map(|i| strand[i])
                .collect();
            held.dedup();
            assert_eq!(held.len(), 1, "a clamp holds one strand");
            held[0]
        };
        let [lower, upper] = [held(-1.0, -1.0), held(1.0, 1.0)];
        assert_ne!(lower, upper);
        let rise = |of: u32| {
            let middle = (0..rest.len()).filter(|i| strand[*i] == of && rest[*i].y.abs() < 0.04);
            let (count, sum) = middle.fold((0.0, 0.0), |(count, sum), i| {
                (count + 1.0, sum + now[i].y - rest[i].y)
            });
            sum / count / R
        };
        let slip = (rise(lower) - rise(upper)).abs();
        let (pull, torque) = (force(&frame.loads, 0).y, resistance(&frame.loads));
        println!(
            "friction {friction}: pull {pull:.3} N, torque {torque:.2e} N m, strands slip by {slip:.2} radii"
        );
        (pull, torque, slip)
    };
    let (pull, torque, slip) = held(0.5);
    let (thrust, smooth_torque, smooth_slip) = held(0.0);
    // Twisted tighter, rough strands pull on the clamps; smooth ones unscrew and push.
    assert!(pull > 0.05 && thrust < -0.05, "{pull} {thrust}");
    assert!(torque > 1.3 * smooth_torque, "{torque} {smooth_torque}");
    assert!(smooth_slip > 3.0 * slip, "{slip} {smooth_slip}");
}

/// Broken bonds of yarns along x, and along z, of a patch that is pulled apart along one of these directions,
/// and the number of yarns along the load.
fn broken_bonds(along_x: bool) -> [usize; 3] {
    let (size, normal) = if along_x {
        ([0.06, 0.04], [1.0, 0.0, 0.0])
    } else {
        ([0.04, 0.06], [0.0, 0.0, 1.0])
    };
    let mut text = format!(
        "[time]\nend = 0.1\nframes_per_second = 50\n[world]\ngravity = [0, 0, 0]\n\
         [[material]]\nname = \"cotton\"\ndensity = 50\nelasticity = \"bond\"\nyoung = 1e5\nshear = 3e4\n\
         tensile_strength = 2e4\nweibull_modulus = 12\ndamping = 0.1\nfriction = 0.7\ncontact_damping = 0.3\n\
         [[body]]\nname = \"cloth\"\nmaterial = \"cotton\"\nshape = {{ type = \"plate\", size = {size:?}, layers = 1 }}\n\
         packing = {{ type = \"woven\", radius = 0.001 }}\n"
    );
    for side in [-1.0, 1.0] {
        let face = |far: f64, other: f64| normal.map(|n| if n > 0.0 { far } else { other });
        let (inner, outer) = (side * 0.025, side);
        let min = face(f64::min(inner, outer), -1.0);
        let max = face(f64::max(inner, outer), 1.0);
        let velocity = normal.map(|n| 0.1 * side * n);
        text += &format!(
            "[[attach]]\nname = \"end {side}\"\nbody = \"cloth\"\nregion = {{ min = {min:?}, max = {max:?} }}\n\
             action = {{ type = \"clamp\", velocity = {velocity:?} }}\n"
        );
    }
    let (pipeline, packed) = read(&text);
    let bonds = &packed.packing.bonds;
    let mut found = [0; 3];
    for frame in play(&pipeline, &packed.packing) {
        for bond in frame.breaks.bond {
            let bond = bond as usize;
            found[usize::from(bonds.dz[bond].abs() > bonds.dx[bond].abs())] += 1;
        }
    }
    // Yarns that cross the middle.
    let e = &packed.packing.elements;
    let (along, across) = if along_x {
        (&e.x, &bonds.dx)
    } else {
        (&e.z, &bonds.dz)
    };
    let crossing = (0..bonds.id.len()).filter(|&k| {
        let ends = [bonds.i[k], bonds.j[k]].map(|i| along[i as usize]);
        across[k].abs() > 0.5 && ends[0].min(ends[1]) <= 0.0 && ends[0].max(ends[1]) > 0.0
    });
    found[2] = crossing.count();
    found
}

#[test]
fn cloth_tears_the_yarns_along_the_load() {
    for along_x in [true, false] {
        let [x, z, yarns] = broken_bonds(along_x);
        let (along, across) = if along_x { (x, z) } else { (z, x) };
        println!("{along} bonds along the load broke, {across} across it; {yarns} yarns along it");
        assert!(along >= yarns, "it tears through: {along} of {yarns}");
        assert!(along > 3 * across, "{along} {across}");
    }
}

/// Number of broken bonds in the shot of a cloth at its smoke size, and Newton iterations per solve.
fn broken_in_shot(integrator: &str) -> (u32, f64) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let shot = root.join("pipelines/textile_tear.toml");
    let sets = ["scale=smoke", &format!("simulate.integrator={integrator}")].map(str::to_owned);
    let resolved = cullet::spec::read(&shot, &sets).unwrap();
    let packed = cullet::pack::pack(&resolved.pipeline, &resolved.folder).unwrap();
    let frames = play(&resolved.pipeline, &packed.packing);
    let last = &frames[frames.len() - 1].history;
    // Explicit steps have no solves.
    let [newton, solves] =
        [&last.newton, &last.solves].map(|sums| sums.first().copied().unwrap_or(0));
    let iterations = newton as f64 / solves.max(1) as f64;
    (last.broken[0], iterations)
}

#[test]
fn long_steps_tear_a_cloth_as_short_ones_do() {
    let (short, _) = broken_in_shot("explicit");
    let (long, iterations) = broken_in_shot("midpoint");
    println!(
        "{short} bonds break by explicit steps, {long} by midpoint steps, of {iterations:.1} Newton iterations each"
    );
    // If steps are too long to be solved well, the cloth crumbles where it whips back.
    assert!(
        short >= 5 && long >= 5 && long <= 2 * short,
        "{short} {long}"
    );
    assert!(iterations <= 8.0, "{iterations}");
}
