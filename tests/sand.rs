//! Loose grains: heaps, an hourglass, thin walls.

use cullet::geometry::shapes;
use cullet::pack::Packed;
use cullet::simulate::Snapshot;
use cullet::spec::{Collider, ColliderShape, Fill, Pipeline, ThicknessSide};
use glam::{DMat3, DQuat, DVec3};

use crate::scenes::{self, places, play, read};

/// Heights between which the slope of a heap is measured, relative to the grain radius and to the height of
/// its top: this leaves out its toe and the flat part at the wall.
const SLOPE: (f64, f64) = (4.0, 0.92);

/// Slope, degrees, of a column of grains after the gate in front of it is lifted slowly, with this
/// coefficient of rolling friction; and the final speed of the fastest grain of that slope, m/s.
fn angle_of_repose(rolling: f64) -> (f64, f64) {
    let r = 2e-3;
    let text = format!(
        "[time]\nend = 1.2\nframes_per_second = 5\n\
         [[material]]\nname = \"sand\"\ndensity = 2600\nelasticity = \"bond\"\nyoung = 2e5\nshear = 1e5\n\
         friction = 0.5\nrolling_friction = {rolling}\ncontact_damping = 0.3\n\
         [[body]]\nname = \"sand\"\nmaterial = \"sand\"\nshape = {{ type = \"box\", size = [0.06, 0.06, 0.016] }}\n\
         packing = {{ type = \"random\", radius = {r}, spread = 0.1 }}\nbonded = false\nposition = [0.03, 0.0305, 0]\n\
         [[collider]]\nname = \"floor\"\nshape = {{ type = \"half_space\", normal = [0, 1, 0] }}\nfriction = 0.5\n\
         [[collider]]\nname = \"wall\"\nshape = {{ type = \"half_space\", normal = [1, 0, 0] }}\nposition = [-0.0002, 0, 0]\nfriction = 0.5\n\
         [[collider]]\nname = \"gate\"\nshape = {{ type = \"box\", size = [0.01, 0.2, 0.1] }}\nposition = [0.0652, 0.1, 0]\n\
         velocity = [0, 0.1, 0]\nfriction = 0\n\
         [[collider]]\nname = \"front\"\nshape = {{ type = \"half_space\", normal = [0, 0, -1] }}\nposition = [0, 0, 0.0082]\nfriction = 0\n\
         [[collider]]\nname = \"back\"\nshape = {{ type = \"half_space\", normal = [0, 0, 1] }}\nposition = [0, 0, -0.0082]\nfriction = 0\n"
    );
    let (pipeline, packed) = read(&text);
    let frames = play(&pipeline, &packed.packing);
    let last = &frames[frames.len() - 1];
    let grains = places(last);
    // Mean height of the three highest grains of each slice.
    let width = 2.5 * r;
    let mut slices: Vec<Vec<f64>> = Vec::new();
    for p in &grains {
        let slice = (p.x / width).max(0.0) as usize;
        if slice >= slices.len() {
            slices.resize(slice + 1, Vec::new());
        }
        slices[slice].push(p.y);
    }
    let tops = slices
        .into_iter()
        .enumerate()
        .filter_map(|(k, mut heights)| {
            heights.sort_by(f64::total_cmp);
            let top = heights.last_chunk::<3>()?;
            Some(((k as f64 + 0.5) * width, top.iter().sum::<f64>() / 3.0))
        });
    let tops: Vec<(f64, f64)> = tops.collect();
    let highest = tops.iter().map(|top| top.1).fold(0.0, f64::max);
    let slope = tops
        .iter()
        .copied()
        .filter(|top| top.1 > SLOPE.0 * r && top.1 < SLOPE.1 * highest);
    assert!(slope.clone().count() > 2, "{tops:?}");
    let reach = slope.clone().map(|top| top.0).fold(0.0, f64::max);
    let speed =
        |i: usize| DVec3::new(last.frames.vx[i].into(), last.frames.vy[i].into(), 0.0).length();
    let fastest = (0..grains.len())
        .filter(|i| grains[*i].x < reach)
        .map(speed)
        .fold(0.0, f64::max);
    ((-scenes::slope(slope)).atan().to_degrees(), fastest)
}

#[test]
fn sand_of_friction_one_half_heaps_up_at_thirty_degrees() {
    let (angle, speed) = angle_of_repose(0.3);
    println!("rolling friction 0.3: {angle:.1} degrees, {speed:.1e} m/s");
    assert!((25.0..35.0).contains(&angle), "{angle}");
    // The heap stays at rest.
    assert!(speed < 0.02, "{speed}");
    let (flat, speed) = angle_of_repose(0.0);
    println!("no rolling friction: {flat:.1} degrees, {speed:.1e} m/s");
    assert!(flat < angle - 8.0, "{flat} {angle}");
}

#[test]
fn poured_grains_settle_and_gain_no_energy() {
    let walls = [[1, 0, 0], [-1, 0, 0], [0, 0, 1], [0, 0, -1], [0, 1, 0]].map(|n| {
        format!(
            "[[collider]]\nname = \"wall {n:?}\"\nshape = {{ type = \"half_space\", normal = {n:?} }}\nposition = {:?}\nfriction = 0.3\n",
            n.map(|n| f64::from(-n) * 0.01)
        )
    });
    let text = format!(
        "[time]\nend = 0.25\nframes_per_second = 100\n\
         [[material]]\nname = \"sand\"\ndensity = 2600\nelasticity = \"bond\"\nyoung = 2e5\nshear = 1e5\n\
         friction = 0.3\nrolling_friction = 0.1\ncontact_damping = 0.4\n\
         [[body]]\nname = \"sand\"\nmaterial = \"sand\"\nshape = {{ type = \"box\", size = [0.02, 0.02, 0.02] }}\n\
         packing = {{ type = \"loose\", radius = 1e-3, spread = 0.1 }}\n{}",
        walls.join("")
    );
    let (pipeline, packed) = read(&text);
    assert_eq!(packed.packing.bonds.id.len(), 0);
    let frames = play(&pipeline, &packed.packing);
    let energies = frames.iter().map(|frame| {
        let h = &frame.history;
        h.kinetic[0] + h.rotational[0] + h.gravity[0] + h.contact[0]
    });
    let energies: Vec<f64> = energies.collect();
    let lost = energies[0] - energies[energies.len() - 1];
    let height = |frame: &Snapshot| {
        let all = places(frame);
        all.iter().map(|p| p.y).sum::<f64>() / all.len() as f64 + 0.01
    };
    let (first, last) = (&frames[0], &frames[frames.len() - 1]);
    let sunk = 1.0 - height(last) / height(first);
    let motion = (last.history.kinetic[0] + last.history.rotational[0]) / lost;
    // Fraction of the box, lower at its walls, as no grain overlaps them.
    let volume = |r: &f64| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3);
    let before = packed.packing.elements.r.iter().map(volume).sum::<f64>() / 8e-6;
    let after = before / (1.0 - sunk);
    println!(
        "{} grains sink by {:.1} % of their mean height, from {before:.3} to {after:.3} full; {motion:.1e} of the energy lost is left as motion",
        packed.packing.elements.id.len(),
        100.0 * sunk
    );
    assert_eq!(first.history.contacts[0], 0);
    assert!(last.history.contacts[0] as usize > packed.packing.elements.id.len());
    assert!(
        lost > 0.0
            && energies
                .windows(2)
                .all(|pair| pair[1] < pair[0] + 1e-3 * lost)
    );
    // They come to rest on each other, no denser than random packing.
    assert!(
        before > 0.3 && after > 1.1 * before && after < 0.64,
        "{before} {after}"
    );
    assert!(motion < 1e-3, "{motion}");
}

/// Radius and height, m, of the profile of an hourglass's outer surface.
const GLASS: [[f64; 2]; 11] = [
    [0.028, -0.06],
    [0.035, -0.053],
    [0.036, -0.04],
    [0.030, -0.022],
    [0.012, -0.005],
    [0.010, 0.0],
    [0.012, 0.005],
    [0.030, 0.022],
    [0.036, 0.04],
    [0.035, 0.053],
    [0.028, 0.06],
];

/// Whether a point in the hourglass's own frame is inside its outer surface.
fn within_glass(p: DVec3) -> bool {
    let radius = p.x.hypot(p.z);
    GLASS.windows(2).any(|pair| {
        let [[r0, y0], [r1, y1]] = [pair[0], pair[1]];
        let part = (p.y - y0) / (y1 - y0);
        (0.0..=1.0).contains(&part) && radius <= r0 + part * (r1 - r0)
    })
}

/// Rotation that best maps the positions `rest`, about their mean, to the positions `now`: the polar factor
/// of Σ now restᵀ, by Newton's iteration (N. J. Higham, Functions of Matrices, 2008, §8.3).
fn best_rotation(rest: &[DVec3], now: &[DVec3]) -> DMat3 {
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let sum = rest
        .iter()
        .zip(now)
        .fold(DMat3::ZERO, |sum, (p, q)| sum + outer(*q, *p));
    let mut factor = sum * (1.0 / sum.determinant().abs().cbrt());
    for _ in 0..30 {
        factor = (factor + factor.inverse().transpose()) * 0.5;
    }
    factor
}

/// An hourglass that falls on its side: number of sand grains that lie on the floor, and of those outside the
/// glass in its own frame, for each frame; and the number of broken bonds at the end.
fn dropped(strength: &str) -> (Vec<[usize; 2]>, u32) {
    let placed = "position = [0, 0.075, 0]\nrotation = { axis = [0, 0, 1], angle = \"35 deg\" }\nvelocity = [0, -3, 0]\n";
    let text = format!(
        "[time]\nend = 0.06\nframes_per_second = 100\n\
         [[material]]\nname = \"glass\"\ndensity = 5000\nelasticity = \"bond\"\nyoung = 5e7\nshear = 1.5e7\n{strength}\
         damping = 0.05\nfriction = 0.5\ncontact_damping = 0.3\ncontact_young = 2e7\n\
         [[material]]\nname = \"sand\"\ndensity = 5000\nyoung = 1e7\nfriction = 0.5\nrolling_friction = 0.2\ncontact_damping = 0.4\n\
         [[body]]\nname = \"glass\"\nmaterial = \"glass\"\nshape = {{ type = \"revolved\", profile = {GLASS:?} }}\n\
         packing = {{ type = \"shell\", radius = 0.003, layers = 1 }}\n{placed}\
         [[body]]\nname = \"sand\"\nmaterial = \"sand\"\n\
         shape = {{ type = \"revolved\", profile = [[0.008, -0.0535], [0.023, -0.0535], [0.029, -0.05], [0.03, -0.04], [0.024, -0.022]] }}\n\
         packing = {{ type = \"random\", radius = 0.0025, spread = 0.2 }}\nbonded = false\n{placed}\
         [[collider]]\nname = \"floor\"\nshape = {{ type = \"half_space\", normal = [0, 1, 0] }}\n"
    );
    let (pipeline, packed) = read(&text);
    let e = &packed.packing.elements;
    let glass = e.body.iter().filter(|body| **body == 0).count();
    assert!(e.body[..glass].iter().all(|body| *body == 0));
    let rest = scenes::at_rest(&packed.packing);
    let mean = |places: &[DVec3]| places.iter().sum::<DVec3>() / places.len() as f64;
    let about = |places: &[DVec3]| -> Vec<DVec3> {
        let middle = mean(places);
        places.iter().map(|p| *p - middle).collect()
    };
    let tilt = DQuat::from_rotation_z(35f64.to_radians());
    let centre = mean(&rest[..glass]);
    let offset = tilt.inverse() * (centre - DVec3::new(0.0, 0.075, 0.0));
    let out = |frame: &Snapshot| {
        let now = places(frame);
        let middle = mean(&now[..glass]);
        let turn = best_rotation(&about(&rest[..glass]), &about(&now[..glass]));
        let floor = (glass..now.len()).filter(|i| now[*i].y < 1.1 * e.r[*i]);
        let own = |i: usize| tilt.inverse() * (turn.transpose() * (now[i] - middle)) + offset;
        let outside = (glass..now.len()).filter(|i| !within_glass(own(*i)));
        [floor.count(), outside.count()]
    };
    let frames = play(&pipeline, &packed.packing);
    let broken = frames[frames.len() - 1].history.broken[0];
    (frames.iter().map(out).collect(), broken)
}

#[test]
fn an_hourglass_that_breaks_spills_its_sand_and_one_that_holds_does_not() {
    let (spilt, broken) =
        dropped("tensile_strength = 2.5e5\nshear_strength = 3e5\nweibull_modulus = 10\n");
    let last = spilt[spilt.len() - 1];
    println!("{broken} bonds broke: on the floor, out of the glass {spilt:?}");
    assert_eq!(spilt[0], [0, 0]);
    assert!(broken > 0 && last[0] > 20 && last[1] > 20, "{last:?}");
    let (kept, broken) = dropped("");
    println!("{broken} bonds broke: on the floor, out of the glass {kept:?}");
    assert_eq!(broken, 0);
    assert!(kept.iter().all(|out| *out == [0, 0]), "{kept:?}");
}

const R: f64 = 1e-3;
/// Half of the width of thin walls, and half of their thickness, m: the latter is half of a grain's radius.
const WALL: [f64; 2] = [0.03, 0.25e-3];

/// A ball of loose grains above the origin with this initial velocity.
fn thrown(velocity: DVec3, more: &str) -> (Pipeline, Packed) {
    read(&format!(
        "[time]\nend = 4e-3\nframes_per_second = 10000\n[world]\ngravity = [0, 0, 0]\n\
         [[material]]\nname = \"sand\"\ndensity = 2600\nelasticity = \"bond\"\nyoung = 1e7\nshear = 4e6\n\
         friction = 0.5\nrolling_friction = 0.1\ncontact_damping = 0.2\n\
         [[body]]\nname = \"grains\"\nmaterial = \"sand\"\nshape = {{ type = \"sphere\", radius = 0.006 }}\n\
         packing = {{ type = \"random\", radius = {R}, spread = 0.1 }}\nbonded = false\nposition = [0, 0.0075, 0]\n\
         velocity = {:?}\n{more}",
        velocity.to_array()
    ))
}

/// Least distance of a grain's centre from a surface in all frames, over the radius; `distance` is in metres,
/// `None` where the surface does not extend.
fn least_distance(
    frames: &[Snapshot],
    grains: std::ops::Range<usize>,
    distance: impl Fn(DVec3) -> Option<f64>,
) -> f64 {
    let all = frames
        .iter()
        .flat_map(|frame| places(frame)[grains.clone()].to_vec());
    all.filter_map(distance).fold(f64::INFINITY, f64::min) / R
}

#[test]
fn grains_thrown_at_walls_at_five_metres_a_second_stay_on_their_side() {
    let [wide, half] = WALL;
    let over = |p: DVec3| (p.x.abs() < wide && p.z.abs() < wide).then_some(p.y);
    let ball = |p: DVec3| Some((p - DVec3::NEG_Y * wide).length() - wide);
    let round = |p: DVec3| (p.x.hypot(p.z) < wide).then_some(p.y);
    let (slab, top) = ([2.0 * wide, 2.0 * half, 2.0 * wide], DVec3::NEG_Y * half);
    let mesh = ColliderShape::Mesh {
        file: "in the packing".into(),
        object: None,
        up: None,
        unit: None,
        scale: None,
        height: None,
        thickness: None,
        thickness_side: ThicknessSide::Both,
        fill: Fill::Auto,
    };
    type Distance<'a> = &'a dyn Fn(DVec3) -> Option<f64>;
    let walls: [(&str, ColliderShape, DVec3, Distance); 5] = [
        (
            "half-space",
            ColliderShape::HalfSpace {
                normal: [0.0, 1.0, 0.0],
            },
            DVec3::ZERO,
            &|p| Some(p.y),
        ),
        ("box", ColliderShape::Box { size: slab }, top, &over),
        (
            "cylinder",
            ColliderShape::Cylinder {
                radius: wide,
                height: 2.0 * half,
            },
            top,
            &round,
        ),
        (
            "sphere",
            ColliderShape::Sphere { radius: wide },
            DVec3::NEG_Y * wide,
            &ball,
        ),
        ("mesh", mesh, top, &over),
    ];
    for (name, shape, position, distance) in walls {
        for velocity in [DVec3::new(0.0, -5.0, 0.0), DVec3::new(3.0, -4.0, 0.0)] {
            let (mut pipeline, mut packed) = thrown(velocity, "");
            if matches!(shape, ColliderShape::Mesh { .. }) {
                let wall = shapes::cuboid(DVec3::from_array(slab));
                packed.packing.colliders.insert(0, wall);
            }
            pipeline.colliders = vec![Collider {
                shape: shape.clone(),
                position: position.to_array(),
                ..scenes::rising_floor(0.0, 0.0)
            }];
            let frames = play(&pipeline, &packed.packing);
            let count = packed.packing.elements.id.len();
            let least = least_distance(&frames, 0..count, distance);
            println!(
                "{name}, {velocity} m/s: {count} grains, centres come within {least:.3} radii"
            );
            // The grains hit the wall, and none passes through: behind a thin wall the distance would be
            // negative.
            assert!(least < 1.0 && least > 0.0, "{name}: {least}");
        }
    }
}

#[test]
fn grains_within_a_shell_of_elements_do_not_get_out() {
    let radius = 0.018;
    let shell = format!(
        "[[body]]\nname = \"shell\"\nmaterial = \"sand\"\nshape = {{ type = \"sphere\", radius = {radius} }}\n\
         packing = {{ type = \"shell\", radius = {R}, layers = 1 }}\n"
    );
    let clamp = "[[attach]]\nname = \"all\"\nbody = \"shell\"\nregion = { min = [-1, -1, -1], max = [1, 1, 1] }\naction = { type = \"clamp\" }\n";
    for (name, more) in [("held", format!("{shell}{clamp}")), ("free", shell.clone())] {
        let (pipeline, packed) = thrown(DVec3::new(3.0, 4.0, 0.0), &more);
        let body = &packed.packing.elements.body;
        let grains = body.iter().filter(|body| **body == 0).count();
        assert!(body[..grains].iter().all(|body| *body == 0));
        let frames = play(&pipeline, &packed.packing);
        // A free shell deforms: the wall is at the position of its element nearest to the direction of the
        // grain.
        let mut least = f64::INFINITY;
        for frame in &frames {
            let now = places(frame);
            let middle = now[grains..].iter().sum::<DVec3>() / (now.len() - grains) as f64;
            let wall: Vec<DVec3> = now[grains..].iter().map(|p| *p - middle).collect();
            let within = |p: DVec3| {
                let p = p - middle;
                let angle = |q: &DVec3| p.angle_between(*q);
                let there = wall.iter().min_by(|a, b| angle(a).total_cmp(&angle(b)))?;
                Some(there.length() - p.length())
            };
            least = least.min(least_distance(
                std::slice::from_ref(frame),
                0..grains,
                within,
            ));
        }
        println!(
            "{name}: {grains} grains, centres come within {least:.3} radii of the wall's middle"
        );
        // The grains touched the shell.
        assert!(least < 2.0 && least > 0.0, "{name}: {least}");
    }
}
