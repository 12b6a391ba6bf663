// Common to all kernels of the simulation: launch numbers, and whether a dispatch may act.
//
// Commands are recorded ahead of time. When something needs the host (a list is full, an element outran the
// lists, a value is not finite), the word HALT is set to the last phase in which commands may still act. All
// later ones change nothing, and the host continues from there.
//
// `Launch` and the constants shared with the host are prepended to this text; they are defined in launch.rs
// and constants.rs of `src/simulate/methods/explicit/device`, the columns in columns.rs.

struct Dispatch {
    // Step within the submission.
    step: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(1) @binding(0) var<uniform> launch: Launch;
@group(1) @binding(1) var<uniform> dispatch: Dispatch;

// Required by the laws: the rounded value of a number. Drivers simplify (a + b) − a to b, but not through
// bits that they do not know.
fn kept(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ launch.zero);
}

fn step_now() -> u32 {
    return launch.base_step + dispatch.step;
}

fn phase(part: u32) -> u32 {
    return step_now() * PHASES + part;
}

fn allowed(part: u32) -> bool {
    return phase(part) <= status_load(HALT);
}

// Stops commands after phase `last` of this step.
fn halt_after(last: u32, reason: u32) {
    status_min(HALT, phase(last));
    status_or(REASONS, reason);
}

fn finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}
