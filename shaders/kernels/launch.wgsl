// What every kernel of the simulation knows: numbers of the launch, and when a dispatch may act.
//
// Commands are recorded ahead of time. When something needs the host (a list is full, an element outran the lists, a number went wrong)
// the word HALT takes the phase up to which the commands may still act; all later ones leave everything as it is, and the host goes on
// from there.
//
// `Launch`, and the constants that the host knows too, are written before this text: they stand in launch.rs and constants.rs of
// `src/simulate/methods/explicit/device`, as the columns do in columns.rs.

struct Dispatch {
    // Step within the submission.
    step: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(1) @binding(0) var<uniform> launch: Launch;
@group(1) @binding(1) var<uniform> dispatch: Dispatch;

// What laws ask of a kernel: the number as it was rounded. Drivers simplify (a + b) − a to b, but not through bits they do not know.
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

// Lets commands act up to a phase of this step and no farther.
fn halt_after(last: u32, reason: u32) {
    status_min(HALT, phase(last));
    status_or(REASONS, reason);
}

fn finite(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}
