// Options of a step.

// Parts of a step that an entry point performs; the frame's first step only opens, its last only closes.
override forces: bool;
override close: bool;
override open: bool;
// Whether this is before the first step: only loads are computed; nothing slides or breaks before time runs.
override starting: bool;
// Whether bonds have damping.
override damped: bool;

struct Sum {
    force: vec3<f32>,
    torque: vec3<f32>,
}
