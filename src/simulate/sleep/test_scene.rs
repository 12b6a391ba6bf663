//! A built scene for tests, some of whose bodies sleep.

use std::ops::Range;
use std::path::Path;

use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::{Built, build};

/// The scene of the text of a pipeline, and its pieces: the bodies with these numbers, each as one.
pub fn asleep(text: &str, bodies: Range<u32>) -> (Built<f64>, Sleep<f64>) {
    let pipeline = crate::spec::parse(text, "test", &[]).unwrap();
    let packing = crate::pack::pack(&pipeline, Path::new("."))
        .unwrap()
        .packing;
    let mut built = build::<f64>(&packing, &pipeline).unwrap();
    let (system, rest) = (&mut built.system, &built.rest);
    let held = vec![false; system.count];
    let count = pipeline.bodies.len();
    let limits = &pipeline.simulate.sleep_limits;
    let mut sleep = Sleep::new(limits, (&*system, rest), &held, count, 0.0);
    for body in bodies {
        let own = (0..system.count as u32).filter(|&i| rest.body[i as usize] == body);
        let own: Vec<u32> = own.collect();
        let carried = vec![Default::default(); own.len()];
        let number = sleep.next_number;
        sleep.add(Piece::new(number, own, (&*system, rest), carried));
    }
    sleep.mask(system, &mut built.load, rest);
    (built, sleep)
}

/// Blocks of these numbers of rows at these places along x (m), which move along x at `speed`, m/s.
pub fn blocks(all: &[([u32; 3], f64)], speed: f64) -> String {
    let mut text = "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 2600\nyoung = 1e7\n\
                    tensile_strength = 1e5\nshear_strength = 1e5\n"
        .to_owned();
    for (number, (rows, x)) in all.iter().enumerate() {
        text += &format!(
            "[[body]]\nname = \"b{number}\"\nmaterial = \"m\"\nposition = [{x}, 0, 0]\nvelocity = [{speed}, 0, 0]\n\
             shape = {{ type = \"block\", rows = {rows:?} }}\npacking = {{ type = \"hexagonal\", radius = 1e-3 }}\n"
        );
    }
    text
}

/// Two blocks that nearly touch and move at 1 m/s.
pub fn two_blocks() -> String {
    blocks(&[([3, 2, 2], 0.0), ([3, 2, 2], 0.00601)], 1.0)
}
