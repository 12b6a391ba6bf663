//! Packings that have the grain of their material.

use crate::bars::{Bar, Tested};
use crate::harness::TestFolder;

/// Bars along x, y and z of one packing with a grain along x.
fn bars(packing: &str, grain: &str) -> [Tested; 3] {
    [0, 1, 2].map(|axis| {
        let bar = Bar {
            packing: format!("type = \"{packing}\""),
            across: 8.0,
            axis,
            seed: 1 + axis as u64,
            poisson: 0.2,
            material: format!("grain = {{ direction = [1, 0, 0], {grain} }}"),
        };
        let found = bar.pull();
        println!("{packing}, {grain}, axis {axis}: {found:?}");
        found
    })
}

#[test]
fn bars_have_the_ratios_of_their_material() {
    for packing in ["random", "hexagonal"] {
        let [x, y, z] = bars(packing, "stiffness = 1.2, strength = 1.5");
        let young = 0.5 * (y.modulus + z.modulus);
        let strength = 0.5 * (y.strength + z.strength);
        let [stiffer, stronger] = [x.modulus / young, x.strength / strength];
        println!(
            "{packing}: E {young:.3}, {stiffer:.3} times along; f {strength:.3}, {stronger:.3} times along"
        );
        assert!((young - 1.0).abs() < 0.06, "{packing}: {young}");
        assert!((stiffer / 2.2 - 1.0).abs() < 0.06, "{packing}: {stiffer}");
        assert!((strength - 1.0).abs() < 0.08, "{packing}: {strength}");
        assert!((stronger / 2.5 - 1.0).abs() < 0.1, "{packing}: {stronger}");
    }
}

#[test]
fn a_grain_beyond_reach_is_refused_with_the_range_of_the_packing() {
    let folder = TestFolder::new();
    for (packing, grain, parts) in [
        (
            "hexagonal",
            "stiffness = 8",
            ["grain.stiffness = 8", "0.00 to 4.9"],
        ),
        (
            "random",
            "stiffness = 3",
            ["grain.stiffness = 3", "0.00 to 2.7"],
        ),
        (
            "random",
            "stiffness = 1, strength = 50",
            ["grain.strength = 50", "out of reach"],
        ),
    ] {
        let text = format!(
            "[time]\nend = \"1 ms\"\nframes_per_second = 1000\n\
             [[material]]\nname = \"wood\"\ndensity = 700\nyoung = 1e6\n\
             tensile_strength = 1e4\ngrain = {{ direction = [1, 0, 0], {grain} }}\n\
             [[body]]\nname = \"b\"\nmaterial = \"wood\"\n\
             shape = {{ type = \"box\", size = [0.02, 0.02, 0.02] }}\n\
             packing = {{ type = \"{packing}\", radius = 0.001 }}\n"
        );
        folder.write("shot.toml", &text);
        for arguments in [
            &["pack", "shot.toml", "--out", "store"][..],
            &["check", "shot.toml"],
        ] {
            let message = folder.refuse(arguments);
            for part in parts {
                assert!(message.contains(part), "{part:?} is not in {message}");
            }
        }
    }
}
