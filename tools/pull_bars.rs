//! Pulls bars of a packing until they break, or bends or twists them, and prints their moduli and strengths over those
//! of the material.
//!
//! ```sh
//! cargo run --release --example pull_bars -- 'type = "random"' 8,16,32 0.2 ''
//! cargo run --release --example pull_bars -- --bend 'type = "random"' 8,16,32 0.2 ''
//! cargo run --release --example pull_bars -- --fits 8
//! ```
//!
//! Arguments: `--bend` or `--twist`, if the bars are not pulled; fields of the packing besides its radius, elements
//! across, Poisson's ratio, further keys of the material, and how many bars there are of each size (3 if absent: along
//! x, y and z). For twisted bars it prints the shear modulus G and no Poisson's ratio. The strength of bent and twisted
//! ones is the largest stress of the section by elastic theory.
//!
//! `--fits` with a number of elements across prints strengths over those of the bonds, mean over x, y and z, beside
//! what `src/laws/strength.rs` has for them. Strengths of lattices by direction and strengths that scatter by place are
//! not among them.
//! The fits of `src/laws/grain.rs` are made from bars with the key `grain`.

#[path = "../tests/bars.rs"]
#[allow(clippy::unwrap_used, dead_code)] // a panic tells what went wrong; no strips are torn here
mod bars;

use cullet::laws::strength;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [fits, across] = &arguments[..]
        && fits == "--fits"
    {
        print_fits(across.parse().expect("elements across"));
        return;
    }
    let test = match arguments.first().map_or("", String::as_str) {
        "--bend" => Test::Bend,
        "--twist" => Test::Twist,
        _ => Test::Pull,
    };
    if test != Test::Pull {
        arguments.remove(0);
    }
    let (packing, sizes, poisson, material, count) = match arguments.as_slice() {
        [packing, sizes, poisson, material] => (packing, sizes, poisson, material, "3"),
        [packing, sizes, poisson, material, count] => {
            (packing, sizes, poisson, material, count.as_str())
        }
        _ => {
            eprintln!(
                "pull_bars [--bend | --twist] PACKING ACROSS,... POISSON MATERIAL [BARS]\npull_bars --fits ACROSS"
            );
            std::process::exit(2);
        }
    };
    let count: usize = count.parse().expect("number of bars");
    for across in sizes.split(',') {
        let mut strengths = Vec::new();
        for number in 0..count {
            let bar = bars::Bar {
                packing: packing.clone(),
                across: across.parse().expect("elements across"),
                axis: number % 3,
                seed: 1 + number as u64,
                poisson: poisson.parse().expect("Poisson's ratio"),
                material: material.clone(),
            };
            let (found, modulus) = match test {
                Test::Pull => (bar.pull(), "E"),
                Test::Bend => (bar.bend(), "E"),
                Test::Twist => (bar.twist(), "G"),
            };
            let poisson = match test {
                Test::Pull | Test::Bend => format!("nu {:.3}, ", found.poisson),
                Test::Twist => String::new(),
            };
            println!(
                "{across} across, axis {}, {} elements: {modulus} {:.3}, {poisson}strength {:.3}",
                bar.axis, found.elements, found.modulus, found.strength
            );
            strengths.push(found.strength);
        }
        let (mean, deviation) = mean_and_deviation(&strengths);
        println!(
            "{across} across, {count} bars: strength {mean:.3}, standard deviation {:.1} %, Weibull modulus {:.1}",
            100.0 * deviation / mean,
            weibull_modulus(deviation / mean)
        );
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    Pull,
    Bend,
    Twist,
}

/// `neighbourhood` of random packings and the bonds per element that it gives.
const RANDOM: [(f64, f64); 4] = [(1.1, 9.0), (1.2, 10.5), (1.3, 11.8), (1.5, 14.6)];
const POISSON: [f64; 4] = [0.0, 0.1, 0.2, 0.25];
const SPREADS: [f64; 2] = [0.3, 0.5];
const MODULI: [f64; 4] = [4.0, 8.0, 16.0, 32.0];

/// A packing with its material, and the strength fitted to it over that of its bonds.
struct Fit {
    packing: String,
    poisson: f64,
    criterion: &'static str,
    modulus: Option<f64>,
    fitted: f64,
}

fn print_fits(across: f64) {
    for fit in fits() {
        let scatter = |modulus| format!("\nweibull_modulus = {modulus}");
        let bars = (0..3).map(|axis| {
            let bar = bars::Bar {
                packing: fit.packing.clone(),
                across,
                axis,
                seed: 1 + axis as u64,
                poisson: fit.poisson,
                material: format!("criterion = \"{}\"", fit.criterion)
                    + &fit.modulus.map_or(String::new(), scatter),
            };
            bar.pull().strength
        });
        let found = bars.sum::<f64>() / 3.0;
        println!(
            "{}, {}, nu {}, modulus {}: {:.3}, fitted {:.3} ({:+.1} %)",
            fit.packing,
            fit.criterion,
            fit.poisson,
            fit.modulus.map_or("none".into(), |m| m.to_string()),
            found * fit.fitted,
            fit.fitted,
            100.0 * (1.0 / found - 1.0)
        );
    }
}

/// All packings and materials of the fits.
fn fits() -> Vec<Fit> {
    let mut all = Vec::new();
    for criterion in ["tension", "rankine"] {
        let by_stress = criterion == "rankine";
        let mut add = |packing: &str, poisson, modulus, fitted| {
            all.push(Fit {
                packing: packing.into(),
                poisson,
                criterion,
                modulus,
                fitted,
            });
        };
        let lattice = |poisson, modulus| match by_stress {
            true => strength::lattice_by_stress(modulus),
            false => strength::lattice(poisson, modulus),
        };
        let random = |bonds, poisson, spread, modulus| match by_stress {
            true => strength::random_by_stress(bonds, poisson, spread, modulus),
            // Without scatter from bond to bond.
            false => strength::random(bonds, poisson, spread),
        };
        let scattered = MODULI.map(|modulus| (0.2, Some(modulus)));
        let equal = POISSON.map(|poisson| (poisson, None));
        for (poisson, modulus) in equal.into_iter().chain(scattered) {
            let fitted = lattice(poisson, modulus);
            add("type = \"hexagonal\"", poisson, modulus, fitted);
        }
        for (neighbourhood, bonds) in RANDOM {
            let packing = format!("type = \"random\", neighbourhood = {neighbourhood}");
            for poisson in POISSON {
                add(&packing, poisson, None, random(bonds, poisson, 0.0, None));
            }
        }
        let bonds = RANDOM[0].1;
        for spread in SPREADS {
            let packing = format!("type = \"random\", spread = {spread}");
            add(&packing, 0.2, None, random(bonds, 0.2, spread, None));
        }
        for modulus in MODULI.map(Some).into_iter().filter(|_| by_stress) {
            let fitted = random(bonds, 0.2, 0.0, modulus);
            add("type = \"random\"", 0.2, modulus, fitted);
        }
    }
    all
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (values.len() as f64 - 1.0)).sqrt())
}

/// Modulus of a Weibull distribution whose standard deviation is this part of its mean, within 1 % from 3 to 50.
fn weibull_modulus(part: f64) -> f64 {
    part.powf(-1.086)
}
