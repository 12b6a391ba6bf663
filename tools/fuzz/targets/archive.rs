//! Archives of surfaces and states: the first byte selects which, and whether the rest is the whole file or
//! its content after a valid header.

#![no_main]

use std::sync::LazyLock;

use cullet::export;
use cullet::simulate::Start;
use cullet::simulate::run_state::state::State;
use cullet::store::SurfaceFrame;
use cullet::store::archive::HEADER;
use cullet_fuzz::{Shot, bounded, seed};
use libfuzzer_sys::fuzz_target;
use xxhash_rust::xxh3::xxh3_64;

const SURFACES: &str = "meshes/000001.rkyv";
const STATE: &str = "state/000001.rkyv";
/// Bits of the first byte.
const IS_STATE: u8 = 1;
const IS_WHOLE: u8 = 2;

static SHOT: LazyLock<Shot> = LazyLock::new(Shot::new);
/// Hash of the inputs that a state must have to fit the shot.
static INPUTS: LazyLock<u64> =
    LazyLock::new(|| State::read(&SHOT.store(), 1).expect("a state").inputs);

fuzz_target!(
    init: {
        let _ = *INPUTS;
        for (name, kind) in [(SURFACES, 0), (STATE, IS_STATE)] {
            let file = SHOT.read(name);
            let whole = [&[kind | IS_WHOLE], &file[..]].concat();
            let body = [&[kind], &file[HEADER..]].concat();
            run(&body);
            let name = name.replace('/', ".");
            seed(&format!("{name}.whole"), &whole);
            seed(&name, &body);
        }
    },
    |input: &[u8]| bounded(input, || run(input))
);

fn run(input: &[u8]) {
    let Some((&kind, bytes)) = input.split_first() else {
        return;
    };
    let is_state = kind & IS_STATE != 0;
    let name = if is_state { STATE } else { SURFACES };
    let magic = if is_state { b"culletst" } else { b"culletm2" };
    let file = if kind & IS_WHOLE != 0 {
        bytes.to_vec()
    } else {
        let sum = xxh3_64(bytes) as u32;
        [magic, &1_u32.to_le_bytes()[..], &sum.to_le_bytes(), bytes].concat()
    };
    SHOT.put(name, &file);
    let result = if is_state {
        resume()
    } else {
        export_surfaces()
    };
    if let Err(error) = result {
        assert!(!error.is_empty());
    }
}

/// Resumes the run from the state.
fn resume() -> Result<(), String> {
    let store = SHOT.store();
    let mut state = State::read(&store, 1).map_err(|error| error.to_string())?;
    state.inputs = *INPUTS;
    // Another frame number would change the file name, and a small time step makes a long run.
    state.frame = 1;
    if state.dt < 1e-6 {
        return Ok(());
    }
    state.write(&store).map_err(|error| error.to_string())?;
    SHOT.simulate(Start::State(1))
        .map_err(|error| error.to_string())
}

/// Exports the surfaces.
fn export_surfaces() -> Result<(), String> {
    let store = SHOT.store();
    let surfaces = SurfaceFrame::read(&store, 1).map_err(|error| error.to_string())?;
    for piece in &surfaces.pieces {
        let mut corners = surfaces.local_triangles(piece).flatten();
        assert!(corners.all(|vertex| vertex < piece.vertices));
    }
    let options = export::ExportOptions {
        frames: 1..2,
        fps: 24.0,
        up: None,
        scale: 1.0,
        debris: None,
        detail: None,
        to: None,
    };
    for format in export::formats() {
        let written = export::run(&store, format.format, &options, &mut |_, _| ());
        written.map_err(|error| error.to_string())?;
    }
    Ok(())
}
