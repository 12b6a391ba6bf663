// What a step of an element consists of.

// Which parts of a step an entry does; the frame's first step only opens, its last only closes.
override forces: bool;
override close: bool;
override open: bool;
// Before the first step: loads alone; nothing slides or breaks before time runs.
override starting: bool;

struct Sum {
    force: vec3<f32>,
    torque: vec3<f32>,
}
