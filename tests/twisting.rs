//! Twisting of the beam of the shot: slowly and without breaking, with random packing, and until it breaks.

use std::f64::consts::PI;
use std::path::Path;

use cullet::columns::{Frames, History, Loads};
use cullet::simulate::{method, schedule};
use cullet::spec::{self, Action, Backend};
use cullet::store::Packing;

use crate::scenes;

/// Depth of the clamped elements from the end of the centres, over the radius: two or three elements of each
/// row.
const HELD: f64 = 4.4;

/// Rotation angle of beams that do not break, rad.
const ANGLE: f64 = 0.05;

/// Width per row and height per layer of the section, over the radius.
const ROW: f64 = 1.732_050_807_568_877_2;
const LAYER: f64 = 1.632_993_161_855_452;

/// Torque over angle by number of rows, N m, from `tools/beam_twisting.py --rows 6 12 --ratio 0.4
/// --simulate`, by sparse static solutions of the same bonds.
const STATIC_SLOPES: [(u32, f64); 2] = [(6, 4.3977), (12, 4.2266)];

/// Shear moduli along the layers and across them, Pa, of the bonds of the interior, repeated periodically in
/// all directions (from the same command).
const SHEAR_MODULI: [f64; 2] = [0.7164e6, 0.6664e6];

struct Beam {
    packing: Packing,
    pipeline: spec::Pipeline,
    dt: f64,
}

/// The beam of the shot with these settings.
fn beam(sets: &[String]) -> Beam {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("pipelines/beam_twisting.toml");
    let resolved = spec::read(&file, sets).unwrap();
    let packing = cullet::pack::pack(&resolved.pipeline, &resolved.folder)
        .unwrap()
        .packing;
    let dt = 0.4 * schedule(&packing, &resolved.pipeline).unwrap().critical;
    Beam {
        packing,
        pipeline: resolved.pipeline,
        dt,
    }
}

/// Settings of an unbreakable beam, whose clamps hold all elements beyond `face`, m.
fn unbreakable_settings(face: f64) -> Vec<String> {
    vec![
        "material.stone.tensile_strength=1e9".to_owned(),
        "material.stone.shear_strength=1e9".to_owned(),
        format!("attach.held.region={{ min = [-1, -1, -1], max = [-{face}, 1, 1] }}"),
        format!("attach.turned.region={{ min = [{face}, -1, -1], max = [1, 1, 1] }}"),
    ]
}

/// Rotates the end of a beam of this free length by [`ANGLE`], slowly, with drag that damps oscillations.
/// Returns (angle, torque) at several times, where the torque is the mean of both clamps, and the last frame.
fn twist(beam: &mut Beam, length: f64, modulus: f64) -> (Vec<(f64, f64)>, Frames) {
    // The duration is eight times that of a wave along the beam, the drag is critical for its first mode.
    let speed = (modulus / beam.pipeline.materials[0].density).sqrt();
    let end = 8.0 * length / speed;
    beam.pipeline.simulate.drag = 2.0 * PI * speed / length;
    let Action::Clamp { spin, .. } = &mut beam.pipeline.attachments[1].action else {
        panic!("the shot turns a clamp");
    };
    *spin = [ANGLE / end, 0.0, 0.0];
    let mut run = method(&beam.packing, &beam.pipeline, Backend::Cpu, beam.dt).unwrap();
    let (mut moments, mut before) = (Vec::new(), 0.0);
    let steps = (end / 20.0 / beam.dt) as u64;
    for frame in 1..=20 {
        run.advance(steps).unwrap();
        let taken = run.snapshot(frame).unwrap();
        let Loads { angle, tx, .. } = taken.loads;
        // A load is averaged over the time since the previous frame.
        moments.push(((angle[1] + before) / 2.0, (tx[0] - tx[1]) / 2.0));
        before = angle[1];
        if frame == 20 {
            return (moments, taken.frames);
        }
    }
    unreachable!()
}

/// Torsion constant of a rectangle, m⁴ (S. P. Timoshenko and J. N. Goodier, Theory of Elasticity, 1970, §109):
/// J_t = b h³ / 3 (1 − 192 h / (π⁵ b) Σ tanh(n π b / 2h) / n⁵), n = 1, 3, 5, …, b ≥ h.
fn torsion_constant(one: f64, other: f64) -> f64 {
    let (b, h) = (one.max(other), one.min(other));
    let term = |n: f64| (n * PI * b / (2.0 * h)).tanh() / n.powi(5);
    let series: f64 = (0..50).map(|k| term(f64::from(2 * k + 1))).sum();
    b * h.powi(3) / 3.0 * (1.0 - 192.0 * h / (PI.powi(5) * b) * series)
}

/// G J_t of a bar with different moduli along and across its layers: that of an isotropic bar with scaled
/// coordinates (S. G. Lekhnitskii, Theory of Elasticity of an Anisotropic Body, 1981).
fn rigidity([along, across]: [f64; 2], width: f64, height: f64) -> f64 {
    let mean = (along * across).sqrt();
    let sides = [
        width * (across / mean).sqrt(),
        height * (along / mean).sqrt(),
    ];
    mean * torsion_constant(sides[0], sides[1])
}

/// The skin lacks bonds, and torsion strains it most, so that an infinite beam of 6, 12, 24, 48 rows has
/// 0.919, 0.949, 0.971, 0.985 of Saint-Venant's torsion (`tools/beam_twisting.py --ratio 0.4 --rows 6 12 24
/// 48 --endless`); clamps that keep their sections plane add 0.015 at 12 rows.
#[test]
fn a_beam_is_as_stiff_in_torsion_as_its_static_solution_and_nears_saint_venant() {
    let mut ratios = Vec::new();
    for (rows, static_slope) in STATIC_SLOPES {
        let (along, radius) = (6 * rows, 0.04 / f64::from(rows));
        let mut sets = unbreakable_settings((f64::from(along) - 0.5 - HELD) * radius);
        sets.push(format!("body.beam.shape.rows=[{along}, {rows}, {rows}]"));
        sets.push(format!("body.beam.packing.radius={radius}"));
        sets.push("material.stone.shear=0.4e6".to_owned());
        // Five elements of each row are clamped or rotated: the distance from the last clamped to the first
        // rotated one is four spacings less than the number of elements.
        let length = 2.0 * radius * f64::from(along - 4);
        let mut beam = beam(&sets);
        let (moments, _) = twist(&mut beam, length, SHEAR_MODULI[1]);
        let slope = scenes::slope(moments[8..].iter().copied());
        let side = f64::from(rows) * radius;
        let ratio = slope * length / rigidity(SHEAR_MODULI, ROW * side, LAYER * side);
        println!("{rows} rows: {slope:.4} N m, static {static_slope}, over G J_t / L {ratio:.4}");
        assert!((slope / static_slope - 1.0).abs() < 0.01, "{slope}");
        ratios.push(ratio);
    }
    assert!((ratios[1] - 1.0).abs() < 0.05, "{ratios:?}");
    assert!(ratios[1] > ratios[0], "{ratios:?}");
}

#[test]
fn a_twisted_beam_of_random_packing_is_stressed_alike_all_around() {
    let mut sets = unbreakable_settings(0.2);
    sets.push("body.beam.shape={ type = \"box\", size = [0.44, 0.08, 0.08] }".to_owned());
    sets.push("body.beam.packing={ type = \"random\", radius = \"4.5 mm\" }".to_owned());
    sets.push("material.stone.shear=0.4e6".to_owned());
    let mut beam = beam(&sets);
    let frames = twist(&mut beam, 0.4, SHEAR_MODULI[1]).1;
    let mut quarters = [(0.0, 0.0); 4];
    for (i, tau) in frames.tau.iter().enumerate() {
        let at = &beam.packing.elements;
        // Only the part whose distance from the clamps is at least the side of the section.
        if at.x[i].abs() < 0.12 {
            let quarter =
                &mut quarters[usize::from(at.y[i] > 0.0) + 2 * usize::from(at.z[i] > 0.0)];
            quarter.0 += f64::from(*tau);
            quarter.1 += 1.0;
        }
    }
    let means = quarters.map(|(sum, count)| sum / count);
    let mean = means.iter().sum::<f64>() / 4.0;
    println!("{:?} Pa, {quarters:?}", means);
    for one in means {
        assert!((one / mean - 1.0).abs() < 0.1, "{one} of {mean} Pa");
    }
}

fn kinetic_energy(history: &History) -> f64 {
    history.kinetic[0] + history.rotational[0]
}

#[test]
fn a_beam_breaks_and_its_pieces_have_no_more_energy_than_was_stored() {
    let mut sets = vec!["scale=smoke".to_owned()];
    sets.push("time.end=0.8".to_owned());
    let beam = beam(&sets);
    let Action::Clamp { spin, .. } = &beam.pipeline.attachments[1].action else {
        panic!("the shot turns a clamp");
    };
    let speed = spin[0];
    let mut run = method(&beam.packing, &beam.pipeline, Backend::Cpu, beam.dt).unwrap();
    let steps = (0.01 / beam.dt) as u64;
    let start = run.snapshot(0).unwrap().history;
    // Energy of the beam when it was last intact, plus the work of the clamp since then.
    let mut given = kinetic_energy(&start);
    let (mut time, mut peak, mut fastest, mut last) = (0.0, 0.0f64, 0.0f64, None);
    for frame in 1..=80 {
        run.advance(steps).unwrap();
        let taken = run.snapshot(frame).unwrap();
        let (history, loads) = (&taken.history, &taken.loads);
        // The load on the clamp is opposite to what it exerts; its centre is fixed, so that only the torque
        // does work.
        given -= loads.tx[1] * speed * (history.time[0] - time);
        time = history.time[0];
        peak = peak.max(-loads.tx[1]);
        if history.broken[0] == 0 {
            given = kinetic_energy(history) + history.bond[0];
        } else {
            let all = kinetic_energy(history) + history.bond[0] + history.contact[0];
            fastest = fastest.max(kinetic_energy(history) / given);
            assert!(
                all < 1.01 * given,
                "frame {frame}: {all} J of {given} J, {} in motion",
                kinetic_energy(history)
            );
        }
        last = Some(taken);
    }
    let last = last.unwrap();
    println!(
        "peak {peak} N m, then {}; motion {fastest:.3} of {given} J; {} broken, {} fragments",
        -last.loads.tx[1], last.history.broken[0], last.history.fragments[0]
    );
    assert!(fastest > 0.2, "the pieces move: {fastest}");
    assert!(-last.loads.tx[1] < 0.2 * peak, "it has parted");
    let end = |x: f64| {
        let off = |i: &usize| (beam.packing.elements.x[*i] - x).abs();
        let nearest = (0..beam.packing.elements.x.len()).min_by(|a, b| off(a).total_cmp(&off(b)));
        last.frames.fragment[nearest.unwrap()]
    };
    assert_ne!(end(-1.0), end(1.0));
}
