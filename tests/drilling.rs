//! The debris that a drill removes from boards.

use std::collections::BTreeMap;

use crate::scenes::{at_rest, play, read};

const R: f64 = 2e-3;
/// Extent of the part of the board between the clamps, m, along x and y.
const FREE: [f64; 2] = [0.034, 0.020];
/// A twist drill of radius 1, with its axis along y.
const DRILL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/meshes/drill.obj");
/// Elements of the smallest fragment whose length is measured.
const CHIP: usize = 3;

/// The material that a drill removed.
struct Removed {
    /// Fraction of its mass in fragments too small to measure their length.
    dust: f64,
    /// Length along x over mean width across, averaged over the other fragments and weighted with their mass.
    aspect: f64,
}

/// A board in the x–y plane, clamped all around, is drilled through along z.
fn drilled(grain: &str) -> Removed {
    let [x, y] = FREE;
    let rim = [
        ("left", [-1.0, -1.0], [-x, 1.0]),
        ("right", [x, -1.0], [1.0, 1.0]),
        ("below", [-x, -1.0], [x, -y]),
        ("above", [-x, y], [x, 1.0]),
    ];
    let rim = rim.map(|(name, min, max)| {
        format!(
            "[[attach]]\nname = \"{name}\"\nbody = \"board\"\naction = {{ type = \"clamp\" }}\n\
             region = {{ min = [{}, {}, -1], max = [{}, {}, 1] }}\n",
            min[0], min[1], max[0], max[1]
        )
    });
    // The moduli and strengths of Lu et al. 2021, Table 2, "Drilling".
    let text = format!(
        "[time]\nend = 0.16\nframes_per_second = 50\n[world]\ngravity = [0, 0, 0]\n\
         [[material]]\nname = \"board\"\ndensity = 4000\nelasticity = \"bond\"\nyoung = 1e7\nshear = 3e6\n\
         tensile_strength = 2e4\nshear_strength = 2e4\ndamping = 0.05\nfriction = 0.5\ncontact_damping = 0.3\n{grain}\
         [[body]]\nname = \"board\"\nmaterial = \"board\"\nshape = {{ type = \"plate\", size = [0.08, 0.05], layers = 4 }}\n\
         packing = {{ type = \"hexagonal\", radius = {R} }}\nrotation = {{ axis = [1, 0, 0], angle = \"90 deg\" }}\n{}\
         [[collider]]\nname = \"drill\"\nshape = {{ type = \"mesh\", file = {DRILL:?}, scale = 6e-3 }}\n\
         position = [0, 0, 0.0095]\nrotation = {{ axis = [1, 0, 0], angle = \"90 deg\" }}\n\
         velocity = [0, 0, -0.1]\nspin = [0, 0, \"-2400 rpm\"]\nfriction = 0.3\n",
        rim.concat()
    );
    let (pipeline, packed) = read(&text);
    let frames = play(&pipeline, &packed.packing);
    let rest = at_rest(&packed.packing);
    let mut fragments: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (i, label) in frames[frames.len() - 1].frames.fragment.iter().enumerate() {
        fragments.entry(*label).or_default().push(i);
    }
    let board = fragments.values().map(Vec::len).max().unwrap();
    let (mut dust, mut chips, mut aspects) = (0, 0, 0.0);
    // All elements have the same mass.
    for elements in fragments.values().filter(|of| of.len() < board) {
        if elements.len() < CHIP {
            dust += elements.len();
            continue;
        }
        let places = || elements.iter().map(|i| rest[*i]);
        let min = places().reduce(|a, b| a.min(b)).unwrap();
        let max = places().reduce(|a, b| a.max(b)).unwrap();
        let size = max - min + 2.0 * R;
        chips += elements.len();
        aspects += elements.len() as f64 * size.x / (0.5 * (size.y + size.z));
    }
    let removed = Removed {
        dust: f64::from(dust as u32) / (dust + chips) as f64,
        aspect: aspects / chips as f64,
    };
    println!(
        "{} of {} elements out in {} fragments, {:.3} of the mass in dust, others {:.2} times as long as wide",
        dust + chips,
        rest.len(),
        fragments.len() - 1,
        removed.dust,
        removed.aspect
    );
    removed
}

#[test]
fn wood_comes_out_in_splinters_along_its_grain_and_plaster_as_dust() {
    // The rows of the packing run along the grain.
    let wood = drilled("grain = { direction = [1, 0, 0], stiffness = 5, strength = 20 }\n");
    let plaster = drilled("");
    assert!(wood.aspect > 3.0, "{}", wood.aspect);
    assert!(wood.aspect > 2.0 * plaster.aspect, "{}", plaster.aspect);
    assert!(plaster.dust > 2.0 * wood.dust, "{}", plaster.dust);
    assert!(plaster.dust > 0.5, "{}", plaster.dust);
}
