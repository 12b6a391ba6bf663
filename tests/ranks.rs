//! Runs on several ranks have the bytes of those in one process.

mod packed;
mod sleep;

use std::sync::atomic::{AtomicBool, Ordering};

use crate::harness::TestFolder;
use cullet::simulate::{self, SimulateError, Start};
use packed::{Packed, assert_runs_alike, assert_same, on_ranks, options};

#[test]
fn a_bunny_that_breaks_has_the_same_bytes_on_any_ranks() {
    let on = [(1, 2), (2, 1), (3, 1), (4, 2), (7, 1)];
    assert_same("bunny_drop", &["scale=smoke"], true, &on);
}

#[test]
fn sand_in_glass_has_the_same_bytes_on_any_ranks() {
    assert_same("hourglass", &["scale=smoke"], true, &[(2, 1), (3, 2)]);
}

#[test]
fn a_rope_in_clamps_has_the_same_bytes_on_any_ranks() {
    assert_same("rope_twist", &["scale=smoke"], false, &[(2, 1), (3, 2)]);
}

#[test]
fn letters_have_the_same_bytes_on_any_ranks() {
    assert_same("letters", &["scale=smoke"], true, &[(2, 1), (4, 1)]);
}

#[test]
fn rigid_bodies_have_the_same_bytes_on_any_ranks() {
    let settings = ["scale=smoke", "simulate.sleep=false"];
    assert_same("brick_wall", &settings, true, &[(3, 1)]);
}

/// Dissipated energy, static and rolling friction, and a hydrostatic strength, with both laws of contact.
#[test]
fn rare_options_have_the_same_bytes_on_any_ranks() {
    for law in ["penalty", "barrier"] {
        let contact = format!("simulate.contact=\"{law}\"");
        let settings = [
            "scale=smoke",
            "output.work=true",
            &contact,
            "material.gypsum.static_friction=0.8",
            "material.gypsum.rolling_friction=0.2",
            "material.gypsum.hydrostatic_strength=\"3 MPa\"",
        ];
        assert_same("bunny_drop", &settings, true, &[(3, 1)]);
    }
}

/// Rank 0 records them in several parts.
#[test]
fn many_elements_have_the_same_bytes_on_any_ranks() {
    let settings = ["body.bunny.packing.elements=18000", "time.end=\"2 ms\""];
    assert_same("bunny_drop", &settings, true, &[(3, 1)]);
}

/// A plane of bonds without strength crosses the bunny, and so the chunks of several ranks.
#[test]
fn cracks_from_the_start_have_the_same_bytes_on_any_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let packed = Packed::new(folder.path(), "bunny_drop", &["scale=smoke"]);
    let mut packing = packed.store.read_packing().unwrap();
    let (height, bonds) = (0.05, &mut packing.bonds);
    let mut opened = 0;
    for k in 0..bonds.id.len() {
        let ends = [bonds.i[k], bonds.j[k]].map(|end| packing.elements.y[end as usize] > height);
        if ends[0] != ends[1] {
            (bonds.sigma_c[k], bonds.tau_c[k]) = (0.0, 0.0);
            opened += 1;
        }
    }
    packed.store.write_packing(&packing).unwrap();
    assert_runs_alike(&packed, true, &[(2, 1), (4, 1)]);
    let breaks = packed.store.read_breaks(0).unwrap();
    assert!(opened > 50 && breaks.bond.len() == opened, "{opened}");
    assert!(breaks.bond.is_sorted());
    assert_eq!(packed.store.read_history(0).unwrap().fragments, [2]);
}

#[test]
fn ranks_choose_an_integrator_together() {
    let settings = ["scale=smoke", "simulate.integrator=\"auto\""];
    assert_same("bunny_drop", &settings, true, &[(3, 1)]);
}

/// A beam of many chunks that is drawn by springs at one end and pressed at the other. A turning clamp holds some of
/// the elements with springs.
const DRAWN: &str = r#"
time = { end = "2 ms", frames_per_second = 1500 }
[[material]]
name = "gypsum"
density = 1100
young = "50 MPa"
tensile_strength = "0.15 MPa"
damping = 0.05
[[body]]
name = "beam"
material = "gypsum"
shape = { type = "box", size = ["80 mm", "20 mm", "20 mm"] }
packing = { type = "hexagonal", radius = "0.8 mm" }
[[attach]]
name = "drawn"
body = "beam"
region = { min = ["-41 mm", "-1 m", "-1 m"], max = ["-10 mm", "1 m", "1 m"] }
action = { type = "spring", stiffness = "10 kN/m", velocity = ["-5 m/s", 0, 0] }
[[attach]]
name = "turned"
body = "beam"
region = { min = ["-14 mm", "-1 m", "-1 m"], max = ["-10 mm", "1 m", "1 m"] }
action = { type = "clamp", spin = ["20 rad/s", 0, 0] }
[[attach]]
name = "pressed"
body = "beam"
region = { min = ["20 mm", "-1 m", "-1 m"], max = ["41 mm", "1 m", "1 m"] }
action = { type = "pressure", pressure = "30 kPa" }
"#;

#[test]
fn springs_clamps_and_pressures_have_the_same_bytes_on_any_ranks() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("drawn.toml");
    std::fs::write(&file, DRAWN).unwrap();
    assert_same(file.to_str().unwrap(), &[], true, &[(2, 1), (5, 1)]);
}

/// By Rankine's criterion a rank evaluates stresses of elements of others.
#[test]
fn breaks_by_rankines_criterion_have_the_same_bytes_on_any_ranks() {
    let settings = ["scale=smoke", "material.gypsum.criterion=\"rankine\""];
    assert_same("bunny_drop", &settings, true, &[(3, 1)]);
}

#[test]
fn bonds_that_soften_have_the_same_bytes_on_any_ranks() {
    let settings = ["scale=smoke", "material.gypsum.toughness=\"0.5 MPa m^0.5\""];
    assert_same("bunny_drop", &settings, true, &[(3, 1)]);
}

#[test]
fn a_run_stops_on_all_ranks_and_goes_on_on_others() {
    let folder = tempfile::tempdir().unwrap();
    let packed = Packed::new(folder.path(), "bunny_drop", &["scale=smoke"]);
    packed.run_alone();
    let alone = packed.recorded();
    let begin = options(Start::Packing, None);
    // Any rank may be told to stop: here the last one, after the second frame.
    let (never, told) = (AtomicBool::new(false), AtomicBool::new(false));
    let results = on_ranks((3, 1), |transport| {
        let stop = if transport.rank() == 2 { &told } else { &never };
        let (store, pipeline) = (&packed.store, &packed.pipeline);
        let transport = Some(transport);
        simulate::run_on_ranks(store, pipeline, &begin, transport, stop, &mut |progress| {
            told.fetch_or(progress.frame == 2, Ordering::Relaxed);
        })
    });
    for result in results {
        assert!(result.unwrap().interrupted);
    }
    assert_eq!(
        packed.store.numbers("frames", "parquet").unwrap(),
        [0, 1, 2]
    );
    assert!(packed.store.numbers("state", "rkyv").unwrap().contains(&2));
    let stop = AtomicBool::new(false);
    let until = 0.7 * packed.pipeline.time.end;
    packed.run(&options(Start::Newest, Some(until)), (4, 1), &stop);
    assert!(packed.recorded() != alone);
    packed.run(&options(Start::Newest, None), (2, 2), &stop);
    // The end that `until` set left a state that a whole run does not have.
    let kept = packed.store.numbers("state", "rkyv").unwrap();
    assert!(kept.len() <= packed.pipeline.simulate.keep_states as usize);
    assert!(packed.recorded() == alone);
}

#[test]
fn chunks_that_change_their_ranks_change_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let settings = [
        "scale=smoke",
        "body.bunny.packing.elements=5000",
        "output.work=true",
    ];
    let packed = Packed::new(folder.path(), "bunny_drop", &settings);
    let alone = packed.moving_chunks(None);
    assert!(alone.captures[7].snapshot.history.broken[0] > 100);
    let shared = on_ranks((3, 1), |transport| packed.moving_chunks(Some(transport)));
    // At the start and at the end a rank holds the bonds of its own elements: few are held by two.
    let bonds = alone.bonds[1];
    for at in [0, 1] {
        let held: Vec<usize> = shared.iter().map(|one| one.bonds[at]).collect();
        let sum: usize = held.iter().sum();
        assert!(held.iter().all(|&held| held < bonds), "{held:?} of {bonds}");
        assert!(bonds < sum && 2 * sum < 3 * bonds, "{held:?} of {bonds}");
    }
    // No rank has the rows of all elements.
    let count = alone.rows[0];
    let rows: Vec<[usize; 2]> = shared.iter().map(|one| one.rows).collect();
    let few = |rows: usize| rows < count;
    assert!(
        rows.iter().flatten().all(|&rows| few(rows)),
        "{rows:?} of {count}"
    );
    alone.assert_same_captures(&shared[0]);
}

#[test]
fn what_runs_in_one_process_only_is_refused_by_every_rank() {
    let backward = "simulate.integrator=backward_euler";
    let refused = [
        ("bunny_drop", backward, "simulate.integrator"),
        ("voronoi_bunny", "simulate.backend=cpu", "simulate.method"),
    ];
    for (name, setting, option) in refused {
        let told = format!("{option} on several ranks");
        let folder = tempfile::tempdir().unwrap();
        let packed = Packed::new(folder.path(), name, &["scale=smoke", setting]);
        let stop = AtomicBool::new(false);
        for result in packed.run(&options(Start::Packing, None), (2, 1), &stop) {
            let error = result.unwrap_err();
            assert!(
                error.caused_by_user() && error.to_string().contains(&told),
                "{error}"
            );
        }
        assert!(
            packed
                .store
                .numbers("frames", "parquet")
                .unwrap()
                .is_empty()
        );
    }
}

/// A step that is far too long: all ranks tell the same element, and what was recorded stays.
#[test]
fn every_rank_tells_what_is_no_longer_finite() {
    let folder = tempfile::tempdir().unwrap();
    let settings = ["scale=smoke", "simulate.integrator=explicit"];
    let packed = Packed::new(folder.path(), "spring", &settings);
    let (start, stop) = (options(Start::Packing, None), AtomicBool::new(false));
    let alone = simulate::run(&packed.store, &packed.pipeline, &start, &stop, &mut |_| ());
    let alone = alone.unwrap_err().to_string();
    assert!(alone.contains("is no longer finite"), "{alone}");
    for result in packed.run(&start, (2, 1), &stop) {
        assert_eq!(result.unwrap_err().to_string(), alone);
    }
    assert_eq!(packed.store.numbers("frames", "parquet").unwrap(), [0]);
}

#[test]
fn a_program_without_mpi_says_so_when_it_is_started_twice() {
    if cfg!(feature = "mpi") {
        return;
    }
    let folder = TestFolder::new();
    let started = |command: &str| {
        let mut program = folder.command();
        let output = program
            .env("PMI_SIZE", "2")
            .args([command, "store"])
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let error = started("simulate");
    assert!(error.contains("--features mpi"), "{error}");
    let error = started("reconstruct");
    assert!(error.contains("only `cullet simulate`"), "{error}");
}

#[test]
fn ranks_with_different_stores_refuse_to_run_together() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let packed = [(&folders[0], "2000"), (&folders[1], "2100")].map(|(folder, elements)| {
        let elements = format!("body.bunny.packing.elements={elements}");
        Packed::new(folder.path(), "bunny_drop", &["scale=smoke", &elements])
    });
    let begin = options(Start::Packing, None);
    let results = on_ranks((2, 1), |transport| {
        let Packed { store, pipeline } = &packed[transport.rank()];
        let (transport, stop) = (Some(transport), AtomicBool::new(false));
        simulate::run_on_ranks(store, pipeline, &begin, transport, &stop, &mut |_| ())
    });
    for result in results {
        assert!(matches!(
            result,
            Err(SimulateError::RanksDiffer { rank: 1 })
        ));
    }
}
