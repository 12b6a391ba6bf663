//! Material behaviour other than stretching and breaking: grain, mixtures, pairs of materials, mean stress,
//! rolling friction.

use cullet::columns::BreakMode;
use cullet::pack::Packed;
use cullet::simulate::{method, schedule};
use cullet::spec::{Action, Attachment, Backend, Integrator, Pipeline, Region};
use cullet::store::Store;
use glam::{DMat3, DVec3};

use crate::harness::TestFolder;
use crate::scenes::{self, read};

const PIPELINE_HEAD: &str =
    "[time]\nend = 1\nframes_per_second = 1\n[world]\ngravity = [0, 0, 0]\n";

/// A beam along x of wood, with the grain along `direction`.
fn wooden_beam(packing: &str, direction: [f64; 3], lambda: f64) -> (Pipeline, Packed) {
    read(&format!(
        "{PIPELINE_HEAD}[[material]]\nname = \"wood\"\ndensity = 1700\nelasticity = \"bond\"\nyoung = 1e7\nshear = 3e6\ndamping = 0\n\
         grain = {{ direction = {direction:?}, stiffness = {lambda} }}\n\
         [[body]]\nname = \"beam\"\nmaterial = \"wood\"\nshape = {{ type = \"box\", size = [0.144, 0.012, 0.012] }}\n\
         packing = {{ type = \"{packing}\", radius = \"1 mm\" }}\n"
    ))
}

/// Young's modulus along x of a solid of these bonds, from their average: the stiffness matrix for strains
/// along the axes, inverted.
fn averaged_modulus(packed: &Packed) -> f64 {
    let (b, e) = (&packed.packing.bonds, &packed.packing.elements);
    let volume: f64 = e.volume.iter().sum();
    let mut stiffness = [[0.0; 3]; 3];
    for k in 0..b.id.len() {
        let d = [b.dx[k], b.dy[k], b.dz[k]];
        let area = std::f64::consts::PI * b.radius[k] * b.radius[k];
        let (normal, across) = (b.young[k] * area / b.l0[k], b.shear[k] * area / b.l0[k]);
        for i in 0..3 {
            for j in 0..3 {
                let both = d[i] * d[i] * d[j] * d[j];
                let alike = if i == j { d[i] * d[i] } else { 0.0 };
                stiffness[i][j] +=
                    b.l0[k].powi(2) / volume * ((normal - across) * both + across * alike);
            }
        }
    }
    let matrix = DMat3::from_cols_array_2d(&stiffness);
    matrix.inverse().x_axis.x.recip()
}

/// Deflection of a cantilever's end over the force on it, m/N.
fn compliance((mut pipeline, packed): (Pipeline, Packed)) -> f64 {
    let end = |name: &str, (from, to): (f64, f64), action| Attachment {
        name: name.into(),
        body: "beam".into(),
        region: Region {
            min: [from, -1.0, -1.0],
            max: [to, 1.0, 1.0],
        },
        action,
    };
    let force = 2e-3;
    pipeline.attachments = vec![
        end("root", (-1.0, -0.066), scenes::clamp([0.0; 3])),
        end("tip", (0.066, 1.0), Action::force([0.0, force, 0.0])),
    ];
    // Steps so long that inertia does nothing.
    pipeline.simulate.integrator = Integrator::BackwardEuler;
    let mut run = method(&packed.packing, &pipeline, Backend::Cpu, 10.0).unwrap();
    let mut before = 0.0;
    for frame in 0..5 {
        run.advance(1).unwrap();
        let loads = run.snapshot(frame).unwrap().loads;
        let now = loads.dy[1];
        if (now / before - 1.0_f64).abs() < 1e-3 {
            return now / force;
        }
        before = now;
    }
    panic!("the beam does not come to rest: {before}");
}

#[test]
fn wood_bends_along_and_across_its_grain_as_its_bonds_average() {
    let lambda = 6.0;
    let ratios = |packing: &str| {
        let grains = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        let [along, across] = grains.map(|grain| wooden_beam(packing, grain, lambda));
        let expected = averaged_modulus(&along.1) / averaged_modulus(&across.1);
        let found = compliance(across) / compliance(along);
        println!("{packing}: along over across the grain {found:.3}, averaged bonds {expected:.3}");
        (found, expected)
    };
    let (found, expected) = ratios("hexagonal");
    assert!(expected > 2.0, "{expected}");
    assert!((found / expected - 1.0).abs() < 0.15, "{found} {expected}");
    // Elements of a random packing do not follow the average strain: soft bonds deform more between stiff
    // ones.
    let (found, expected) = ratios("random");
    assert!(
        (0.7..1.0).contains(&(found / expected)),
        "{found} {expected}"
    );
}

#[test]
fn grain_turns_with_its_body_and_makes_bonds_stiffer_and_stronger() {
    let text = |rotation: &str| {
        format!(
            "{PIPELINE_HEAD}[[material]]\nname = \"wood\"\ndensity = 700\nelasticity = \"bond\"\nyoung = 2\nshear = 1\ntensile_strength = 4\n\
             grain = {{ direction = [2, 0, 0], stiffness = 3, strength = 1 }}\n\
             [[body]]\nname = \"board\"\nmaterial = \"wood\"\nshape = {{ type = \"block\", rows = [4, 4, 4] }}\n\
             packing = {{ type = \"hexagonal\", radius = 1 }}\n{rotation}"
        )
    };
    let turned = "rotation = { axis = [0, 0, 1], angle = \"90 deg\" }\n";
    for (rotation, along) in [("", DVec3::X), (turned, DVec3::Y)] {
        let (_, packed) = read(&text(rotation));
        let b = &packed.packing.bonds;
        let mut most: f64 = 0.0;
        for k in 0..b.id.len() {
            let fourth = DVec3::new(b.dx[k], b.dy[k], b.dz[k]).dot(along).powi(4);
            assert!((b.young[k] - 2.0 * (1.0 + 3.0 * fourth)).abs() < 1e-12);
            assert!((b.shear[k] - b.young[k] / 2.0).abs() < 1e-12);
            assert!((b.sigma_c[k] - 4.0 * (1.0 + fourth)).abs() < 1e-12);
            assert_eq!(b.tau_c[k], f64::INFINITY);
            most = most.max(fourth);
        }
        assert!(most > 0.999, "rows run along the grain: {most}");
    }
}

#[test]
fn grains_take_their_part_of_a_body_and_join_as_the_pair_says() {
    let text = format!(
        "{PIPELINE_HEAD}[[material]]\nname = \"mortar\"\ndensity = 2000\nelasticity = \"bond\"\nyoung = 3e6\nshear = 1e6\ntensile_strength = 100\n\
         [[material]]\nname = \"stone\"\ndensity = 3000\nelasticity = \"bond\"\nyoung = 6e6\nshear = 2e6\ntensile_strength = 900\n\
         [[pair]]\nmaterials = [\"stone\", \"mortar\"]\nbond_strength = 0.5\nbond_stiffness = 2\n\
         [[body]]\nname = \"concrete\"\nmaterial = \"mortar\"\nshape = {{ type = \"box\", size = [0.2, 0.2, 0.2] }}\n\
         packing = {{ type = \"hexagonal\", radius = \"2.5 mm\" }}\n\
         grains = [{{ material = \"stone\", part = 0.4, size = \"15 mm\" }}]\n"
    );
    let (_, packed) = read(&text);
    let (e, b) = (&packed.packing.elements, &packed.packing.bonds);
    let stones = e.material.iter().filter(|m| **m == 1).count() as f64 / e.id.len() as f64;
    // There are about 2,400 cells.
    assert!((stones - 0.4).abs() < 0.04, "{stones}");
    let volume: f64 = e.volume.iter().sum();
    let mass: f64 = e.mass.iter().sum();
    let expected = volume * (2000.0 + 1000.0 * stones);
    assert!((mass / expected - 1.0).abs() < 1e-9, "{mass} {expected}");
    let mut counts = [0; 3];
    for k in 0..b.id.len() {
        let kinds = [b.i[k], b.j[k]].map(|end| e.material[end as usize]);
        let (young, sigma) = match kinds {
            [0, 0] => (3e6, 100.0),
            [1, 1] => (6e6, 900.0),
            // In series 4 MPa, times two; half of the weaker strength.
            _ => (8e6, 50.0),
        };
        counts[(kinds[0] + kinds[1]) as usize] += 1;
        assert!((b.young[k] / young - 1.0).abs() < 1e-12 && (b.sigma_c[k] - sigma).abs() < 1e-9);
    }
    // Grains are clusters: if each bond were assigned at random, 0.48 would join unlike ends.
    let unlike = f64::from(counts[1]) / b.id.len() as f64;
    assert!((0.1..0.35).contains(&unlike), "{unlike}");
}

#[test]
fn an_element_beyond_its_mean_stress_loses_all_its_bonds() {
    let r = 1e-3;
    let stretch = 1e-3;
    let mut material = scenes::elastic(1e7, 4e6, 2600.0);
    // A ball and its twelve neighbours, all pulled away from it equally: the neighbours have five bonds each.
    let all = scenes::block(5, 5, 3, r);
    let centre = all[25 + 12];
    let points: Vec<DVec3> = all
        .into_iter()
        .filter(|p| p.distance(centre) < 2.01 * r)
        .collect();
    let packing = scenes::packing(&points, r, &material, (f64::INFINITY, f64::INFINITY));
    let force = material.young * std::f64::consts::PI * r * r * stretch;
    let mean = 12.0 * 2.0 * r * (1.0 + stretch) * force / (6.0 * packing.elements.volume[0]);
    let broken = |strength: f64| {
        let mut material = material.clone();
        material.hydrostatic_strength = Some(strength);
        let pipeline = scenes::pipeline(material);
        let dt = 1e-9;
        let built = cullet::simulate::build(&packing, &pipeline).unwrap();
        let mut run =
            cullet::simulate::methods::explicit::cpu::Cpu::<f64>::new(built, &pipeline, dt);
        for (i, p) in points.iter().enumerate() {
            let place = centre + (*p - centre) * (1.0 + stretch);
            run.system_mut().set_position(i, place);
        }
        run.refresh();
        use cullet::simulate::Method;
        run.advance(2).unwrap();
        run.snapshot(0).unwrap().breaks
    };
    assert_eq!(broken(1.001 * mean).bond.len(), 0);
    let breaks = broken(0.999 * mean);
    assert_eq!(
        breaks.bond.len(),
        12,
        "the neighbours' stress is five twelfths"
    );
    assert!(
        breaks
            .mode
            .iter()
            .all(|mode| *mode == BreakMode::Hydrostatic)
    );
    assert!(breaks.step.iter().all(|step| *step == 1));
    for sigma in &breaks.sigma {
        assert!(
            (f64::from(*sigma) / mean - 1.0).abs() < 1e-4,
            "{sigma} {mean}"
        );
    }
    let inner = points.iter().position(|p| *p == centre).unwrap() as u32;
    let ends = breaks.i.iter().zip(&breaks.j);
    assert!(ends.clone().all(|(i, j)| [i, j].contains(&&inner)));
    // Above the neighbours' limit no bond is left: each of the 24 + 12 bonds breaks once.
    assert_eq!(broken(0.4 * mean).bond.len(), 36);
    material.hydrostatic_strength = Some(1.0);
    let message =
        cullet::simulate::method(&packing, &scenes::pipeline(material), Backend::Gpu, 1e-9);
    let message = message.err().unwrap().to_string();
    assert!(
        message.contains("hydrostatic_strength") && message.contains("--backend cpu"),
        "{message}"
    );
}

/// Rebound speed over approach speed of two balls of this restitution.
fn rebound(restitution: f64) -> f64 {
    let r = 5e-3;
    let mut material = scenes::elastic(1e6, 4e5, 2600.0);
    material.restitution = Some(restitution);
    let points = [DVec3::ZERO, DVec3::X * 2.2 * r];
    let mut packing = scenes::packing(&points, r, &material, (1.0, 1.0));
    let v = [DVec3::X * 0.1, DVec3::X * -0.1];
    scenes::set_motion(&mut packing.elements, &v, &[DVec3::ZERO; 2]);
    let mut pipeline = scenes::pipeline(material);
    pipeline.simulate.precision = cullet::spec::Precision::F64;
    let dt = 0.01 * schedule(&packing, &pipeline).unwrap().critical;
    let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    run.advance((0.05 / dt) as u64).unwrap();
    let frame = run.snapshot(0).unwrap().frames;
    f64::from(frame.vx[1] - frame.vx[0]) / 0.2
}

#[test]
fn balls_rebound_by_their_restitution() {
    for restitution in [0.1, 0.57, 0.95] {
        let found = rebound(restitution);
        assert!((found - restitution).abs() < 5e-3, "{found} {restitution}");
    }
}

/// Acceleration of a ball with this coefficient of rolling friction down a slope, m/s².
fn rolling_acceleration(slope: f64, rolling: f64) -> f64 {
    let r = 5e-3;
    let mut material = scenes::elastic(1e6, 4e5, 2600.0);
    (
        material.friction,
        material.rolling_friction,
        material.contact_damping,
    ) = (0.8, rolling, 0.2);
    let packing = scenes::packing(&[DVec3::ZERO], r, &material, (1.0, 1.0));
    let mut pipeline = scenes::pipeline(material);
    pipeline.world.gravity = [9.81 * slope.sin(), -9.81 * slope.cos(), 0.0];
    let mut floor = scenes::rising_floor(-r, 0.0);
    floor.friction = 0.8;
    pipeline.colliders = vec![floor];
    pipeline.simulate.precision = cullet::spec::Precision::F64;
    let dt = 0.2 * schedule(&packing, &pipeline).unwrap().critical;
    let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    let mut speed = |frame: u32| {
        run.advance((0.1 / dt) as u64).unwrap();
        f64::from(run.snapshot(frame).unwrap().frames.vx[0])
    };
    let first = speed(0);
    (speed(1) - first) / 0.1
}

#[test]
fn a_ball_rolls_down_a_slope_steeper_than_its_rolling_friction_and_stays_on_others() {
    let slope = 0.15_f64;
    for friction in [0.0, 0.1] {
        // 2/5 m r² α = r F − μ_r r N, so 7/5 a = g (sin − μ_r cos).
        let expected = 9.81 * (slope.sin() - friction * slope.cos()) / 1.4;
        let found = rolling_acceleration(slope, friction);
        assert!(
            (found / expected - 1.0).abs() < 0.01,
            "{friction}: {found} {expected}"
        );
    }
    let stays = rolling_acceleration(slope, 0.2);
    assert!(stays.abs() < 1e-3, "{stays}");
}

#[test]
fn pairs_and_grains_of_unknown_materials_are_refused_with_their_line() {
    let place = TestFolder::new();
    let shot = |more: &str| {
        format!(
            "[time]\nend = 1\nframes_per_second = 10\n[[material]]\nname = \"stone\"\ndensity = 1\nyoung = 1\n\
             [[body]]\nname = \"b\"\nmaterial = \"stone\"\nshape = {{ type = \"sphere\", radius = 1 }}\n\
             packing = {{ type = \"hexagonal\", radius = 0.1 }}\n{more}"
        )
    };
    for (more, expected) in [
        (
            "[[pair]]\nmaterials = [\"stone\", \"ston\"]\n",
            "did you mean `stone`?",
        ),
        (
            "grains = [{ material = \"sand\", part = 0.2, size = 1 }]\n",
            "sand",
        ),
        (
            "grains = [{ material = \"stone\", part = 1.2, size = 1 }]\n",
            "≤ 1",
        ),
        (
            "grains = [{ material = \"stone\", part = 0.7, size = 1 }, { material = \"stone\", part = 0.7, size = 1 }]\n",
            "add up to 1.4",
        ),
        (
            "[[pair]]\nmaterials = [\"stone\", \"stone\"]\n[[pair]]\nmaterials = [\"stone\", \"stone\"]\n",
            "an earlier [[pair]] already names",
        ),
    ] {
        let file = place.write("shot.toml", &shot(more));
        let message = place.refuse(&["check", file.to_str().unwrap()]);
        assert!(
            message.contains(expected) && message.contains("shot.toml:1"),
            "{message}"
        );
    }
}

/// The sections of the bonds follow from the law: rods use the smaller of the two radii, others the mean.
#[test]
fn a_packing_is_made_again_for_a_law_of_other_sections() {
    let place = TestFolder::new();
    place.write(
        "shot.toml",
        "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"m\"\ndensity = 700\nyoung = 1e6\nstrength = \"bond\"\n\
         [[body]]\nname = \"b\"\nmaterial = \"m\"\nshape = { type = \"sphere\", radius = 0.05 }\n\
         packing = { type = \"random\", elements = 60, spread = 0.5 }\n",
    );
    let pack_again = |set: &str| {
        let set = ["--set", set];
        let arguments = ["run", "shot.toml", "--out", "store", "--to", "pack"];
        let output = place.output(&[&arguments[..], &set].concat());
        let store = Store::open(place.path("store")).unwrap();
        let radii = store.read_packing().unwrap().bonds.radius;
        (String::from_utf8(output.stderr).unwrap(), radii)
    };
    let (_, mean) = pack_again("simulate.law=bdem");
    for same in ["simulate.law=manifold", "simulate.integrator=midpoint"] {
        let (message, radii) = pack_again(same);
        assert!(message.contains("nothing to do"), "{message}");
        assert_eq!(radii, mean);
    }
    let (again, smaller) = pack_again("simulate.law=cosserat");
    assert!(
        again.contains("pack         again: simulate.law changed"),
        "{again}"
    );
    assert_eq!(smaller.len(), mean.len());
    assert!(smaller.iter().zip(&mean).all(|(a, b)| a <= b) && smaller != mean);
}

#[test]
fn a_packing_is_made_again_for_another_grain_or_pair() {
    let place = TestFolder::new();
    let shot = |grain: &str, pair: &str, friction: f64| {
        format!(
            "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n[[material]]\nname = \"wood\"\ndensity = 700\nyoung = 1e6\n{grain}\
             [[body]]\nname = \"b\"\nmaterial = \"wood\"\nshape = {{ type = \"block\", rows = [3, 3, 3] }}\n\
             packing = {{ type = \"hexagonal\", radius = 0.01 }}\n\
             [[pair]]\nmaterials = [\"wood\", \"wood\"]\nfriction = {friction}\n{pair}"
        )
    };
    let pack_again = |text: &str| {
        place.write("shot.toml", text);
        let output = place.output(&["run", "shot.toml", "--out", "store", "--to", "pack"]);
        String::from_utf8(output.stderr).unwrap()
    };
    let grain = "grain = { direction = [1, 0, 0], stiffness = 2 }\n";
    pack_again(&shot("", "", 0.5));
    // The packing does not depend on contacts.
    let same = pack_again(&shot("", "", 0.2));
    assert!(same.contains("nothing to do"), "{same}");
    for (grain, pair, changed) in [
        (grain, "", "material.wood.grain changed"),
        (grain, "bond_strength = 0.5\n", "pair"),
    ] {
        let text = shot(grain, pair, 0.2);
        let again = pack_again(&text);
        assert!(
            again.contains("pack         again: ") && again.contains(changed),
            "{again}"
        );
        let same = pack_again(&text);
        assert!(same.contains("nothing to do"), "{same}");
    }
}
