//! Tears strips of a packing, and prints the toughness and the energy of their cracks over those of the material.
//!
//! ```sh
//! cargo run --release --example tear_strips -- 'type = "random"' 24,32 2 0.2 ''
//! ```
//!
//! Arguments: fields of the packing besides its radius, elements over the height of a strip, elements along the
//! softening zone K²/f² of the material, Poisson's ratio, further keys of the material, and how many strips there are
//! of each height (3 if absent: pulled along x, y and z). `LATTICE` and `random` of `src/laws/softening.rs` are fitted
//! to such strips.

#[path = "../tests/bars.rs"]
#[allow(clippy::unwrap_used, dead_code)] // a panic tells what went wrong; bars are not pulled here
mod bars;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (packing, heights, zone, poisson, material, count) = match arguments.as_slice() {
        [a, b, c, d, e] => (a, b, c, d, e, "3"),
        [a, b, c, d, e, count] => (a, b, c, d, e, count.as_str()),
        _ => {
            eprintln!("tear_strips PACKING HEIGHT,... ZONE POISSON MATERIAL [STRIPS]");
            std::process::exit(2);
        }
    };
    let number = |text: &str| text.parse::<f64>().expect("a number");
    let count = number(count) as usize;
    for height in heights.split(',') {
        let mut found = Vec::new();
        for strip in 0..count {
            let bar = bars::Bar {
                packing: packing.clone(),
                across: number(height),
                axis: strip % 3,
                seed: 1 + strip as u64,
                poisson: number(poisson),
                material: material.clone(),
            };
            let torn = bar.tear(number(zone));
            let toughness = torn.toughness.unwrap_or(f64::NAN);
            println!(
                "{height} high, axis {}, {} elements: toughness {toughness:.3}, energy of bonds {:.3}",
                bar.axis, torn.elements, torn.energy
            );
            found.push(toughness);
        }
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        println!("{height} high, {count} strips: toughness {mean:.3}");
    }
}
