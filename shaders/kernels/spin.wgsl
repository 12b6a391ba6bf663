// Spin and rotation of elements that are balls.

fn spin_begin(i: u32) {}

// Angular velocity after half a step.
fn spin_kicked(w: vec3<f32>, torque: vec3<f32>, mine: Own, half: f32) -> vec3<f32> {
    return motion_kick(w, torque, mine.inverse_inertia, vec3<f32>(0.0), launch.drag, half);
}

// Rotates the element over a step.
fn spin_turned(i: u32, a: Motion) -> Motion {
    var b = a;
    let turned = motion_turn(a.q, a.unapplied, a.w * launch.dt);
    b.q = turned.x0;
    b.unapplied = turned.x1;
    return b;
}

// Angular velocity after the rotation.
fn spin_after(i: u32, b: Motion, mine: Own) -> vec3<f32> {
    return b.w;
}
