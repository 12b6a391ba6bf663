//! Pulls bars of a packing until they break, or bends or twists them, and prints their moduli and strengths over those
//! of the material.
//!
//! ```sh
//! cargo run --release --example pull_bars -- 'type = "random"' 8,16,32 0.2 ''
//! cargo run --release --example pull_bars -- --bend 'type = "random"' 8,16,32 0.2 ''
//! ```
//!
//! Arguments: `--bend` or `--twist`, if the bars are not pulled; fields of the packing besides its radius, elements
//! across, Poisson's ratio, further keys of the material, and how many bars there are of each size (3 if absent: along
//! x, y and z). For twisted bars it prints the shear modulus G and no Poisson's ratio. The strength of bent and twisted
//! ones is the largest stress of the section by elastic theory. The fits of `src/laws/strength.rs` and
//! `src/laws/grain.rs` are made from pulled bars, the latter with the key `grain`.

#[path = "../tests/bars.rs"]
#[allow(clippy::unwrap_used, dead_code)] // a panic tells what went wrong; no strips are torn here
mod bars;

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
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
            eprintln!("pull_bars [--bend | --twist] PACKING ACROSS,... POISSON MATERIAL [BARS]");
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

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (values.len() as f64 - 1.0)).sqrt())
}

/// Modulus of a Weibull distribution whose standard deviation is this part of its mean, within 1 % from 3 to 50.
fn weibull_modulus(part: f64) -> f64 {
    part.powf(-1.086)
}
