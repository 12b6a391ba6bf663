//! Packings whose strength is that of the material.

use crate::bars::{Bar, Tested};

/// Bars along x, y and z, of three seeds.
fn bars(packing: &str, across: f64, poisson: f64) -> [Tested; 3] {
    [0, 1, 2].map(|axis| {
        let bar = Bar {
            packing: packing.into(),
            across,
            axis,
            seed: 1 + axis as u64,
            poisson,
            material: "strength = \"material\"".into(),
        };
        let found = bar.pull();
        println!("{packing}, {across} across, axis {axis}: {found:?}");
        found
    })
}

fn mean(of: [f64; 3]) -> f64 {
    of.iter().sum::<f64>() / 3.0
}

#[test]
fn random_bars_break_at_the_strength_of_their_material() {
    let thin = bars("type = \"random\"", 8.0, 0.2);
    let more = bars("type = \"random\", neighbourhood = 1.5", 8.0, 0.1);
    let spread = bars("type = \"random\", spread = 0.3", 8.0, 0.2);
    for all in [thin, more, spread] {
        assert!((mean(all.map(|one| one.strength)) - 1.0).abs() < 0.08);
        assert!(all.iter().all(|one| (one.strength - 1.0).abs() < 0.1));
        assert!(all.iter().all(|one| (one.modulus - 1.0).abs() < 0.06));
    }
    assert!(thin.iter().all(|one| (one.poisson - 0.2).abs() < 0.02));
}

#[test]
fn hexagonal_bars_break_at_the_strength_of_their_material_on_average() {
    for poisson in [0.1, 0.2, 0.25] {
        let all = bars("type = \"hexagonal\"", 8.0, poisson);
        assert!((mean(all.map(|one| one.strength)) - 1.0).abs() < 0.05);
        // Rows of bonds along x are pulled straight.
        assert!(all[0].strength < all[1].strength && all[1].strength < all[2].strength);
    }
}

#[test]
fn bent_and_twisted_bars_are_nearly_as_stiff_as_their_section() {
    let bar = Bar {
        packing: "type = \"hexagonal\"".into(),
        across: 8.0,
        axis: 1,
        seed: 1,
        poisson: 0.2,
        material: String::new(),
    };
    let (bent, twisted) = (bar.bend(), bar.twist());
    println!("bent {bent:?}, twisted {twisted:?}");
    assert!((bent.modulus - 0.97).abs() < 0.03 && (bent.poisson - 0.2).abs() < 0.07);
    assert!((twisted.modulus - 0.89).abs() < 0.03);
    assert!((0.75..0.95).contains(&twisted.strength));
    // A bent bar breaks at its surface, not before its tensile strength there.
    let along_x = Bar { axis: 0, ..bar }.bend();
    for bent in [bent, along_x] {
        assert!((0.95..1.2).contains(&bent.strength), "{bent:?}");
    }
}

#[test]
fn a_thicker_bar_is_as_strong() {
    let pull = |across, strength: &str| {
        let bar = Bar {
            packing: "type = \"random\"".into(),
            across,
            axis: 0,
            seed: 1,
            poisson: 0.2,
            material: format!("strength = \"{strength}\""),
        };
        bar.pull()
    };
    let (thin, thick) = (pull(8.0, "material"), pull(16.0, "material"));
    println!("thin {thin:?}, thick {thick:?}");
    assert!(thick.elements > 7 * thin.elements);
    assert!((thin.strength / thick.strength - 1.0).abs() < 0.08);
    // Bonds with the strength itself make a weak bar.
    assert!(pull(8.0, "bond").strength < 0.6);
}
