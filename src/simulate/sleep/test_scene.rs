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
