// What every kernel of the simulation knows: numbers of the launch, the status words, and when a dispatch may act.
//
// Commands are recorded ahead of time. When something needs the host (a list is full, an element outran the lists, a number went wrong)
// the word HALT takes the phase up to which the commands may still act; all later ones leave everything as it is, and the host goes on
// from there.

struct Launch {
    // First step of the submission, elements, stride of columns, slots of an element.
    base_step: u32,
    count: u32,
    stride: u32,
    slots: u32,
    // Gravity, drag.
    gravity: vec3<f32>,
    drag: f32,
    // Time step; distance beyond touching up to which pairs are listed; cell edge; farthest that a collider moves in a step.
    dt: f32,
    skin: f32,
    cell: f32,
    driven: f32,
    // Force passes from one look at the lists to the next; colliders; materials; 1 where all radii are equal.
    batch: u32,
    colliders: u32,
    materials: u32,
    equal: u32,
    // Where in the tables contact pairs begin, and forces; cells less one; room in the contact lists.
    pairs: u32,
    forces: u32,
    cell_mask: u32,
    list_room: u32,
    // Room for broken bonds, and for springs that are gathered.
    event_room: u32,
    spring_room: u32,
    // Always 0, which no compiler knows.
    zero: u32,
    // What one N is in units of what is borne.
    load_scale: f32,
    // Clamps that are driven; where in the tables what they hold begins, and in the poses where they are.
    clamps: u32,
    grips: u32,
    clamp_poses: u32,
    unused: u32,
}

struct Dispatch {
    // Step within the submission.
    step: u32,
    unused_0: u32,
    unused_1: u32,
    unused_2: u32,
}

@group(1) @binding(0) var<uniform> launch: Launch;
@group(1) @binding(1) var<uniform> dispatch: Dispatch;

// Status words.
const HALT: u32 = 0u;
const REASONS: u32 = 1u;
const BAD_ELEMENT: u32 = 2u;
const EVENTS: u32 = 3u;
const LIST_NEED: u32 = 4u;
const REBUILD: u32 = 5u;
const FARTHEST: u32 = 6u; // squares of non-negative floats: their bits order as they do
const FASTEST: u32 = 7u;
const SPEED_CAP: u32 = 8u;
const ANCHOR_STEP: u32 = 9u;
const SPRINGS: u32 = 10u;
const FORCE: u32 = 11u;
const REBUILDS: u32 = 12u;
const SPEED_SEEN: u32 = 13u;

// Why HALT was set.
const NOT_FINITE: u32 = 1u;
const OUTRUN: u32 = 2u;
const LISTS_FULL: u32 = 4u;
const EVENTS_FULL: u32 = 8u;
const SPRINGS_FULL: u32 = 16u;

// Phases of a step, in their order.
const PHASES: u32 = 8u;
const LISTS: u32 = 0u;
const MOVE: u32 = 1u;
const BREAK: u32 = 2u;
const CAPTURE: u32 = 3u;
const CLOSE: u32 = 4u;
const OPEN: u32 = 5u;

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

// Partners from this number on are colliders.
const COLLIDER: u32 = 0x80000000u;
