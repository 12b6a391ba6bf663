//! Pulls bars of a packing until they break, and prints their moduli and strengths over those of the material.
//!
//! ```sh
//! cargo run --release --example pull_bars -- 'type = "random"' 8,16,32 0.2 'strength = "material"'
//! ```
//!
//! Arguments: fields of the packing besides its radius, elements across, Poisson's ratio, further keys of the material.
//! The fits of `src/laws/strength.rs` are made from such bars.

#[path = "../tests/bars.rs"]
#[allow(clippy::unwrap_used)] // a panic tells what went wrong
mod bars;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [packing, sizes, poisson, material] = arguments.as_slice() else {
        eprintln!("pull_bars PACKING ACROSS,... POISSON MATERIAL");
        std::process::exit(2);
    };
    for across in sizes.split(',') {
        for axis in 0..3 {
            let bar = bars::Bar {
                packing: packing.clone(),
                across: across.parse().expect("elements across"),
                axis,
                seed: 1 + axis as u64,
                poisson: poisson.parse().expect("Poisson's ratio"),
                material: material.clone(),
            };
            let found = bar.pull();
            println!(
                "{across} across, axis {axis}, {} elements: E {:.3}, nu {:.3}, strength {:.3}",
                found.elements, found.young, found.poisson, found.strength
            );
        }
    }
}
