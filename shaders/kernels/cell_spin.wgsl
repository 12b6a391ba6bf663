// Spin and rotation of cells from their angular momentum, with RATTLE.

// Most iterations of a rotation: at the largest rotation that converges, each gains a factor of two or more.
const ITERATIONS: u32 = 60u;

// Angular momentum of the current cell, world frame, kg m²/s.
var<private> momentum: vec3<f32>;

fn spin_begin(i: u32) {
    momentum = cell_row(i, CELL_MOMENTUM).xyz;
}

// Kicks the momentum; the angular velocity is computed from it after the rotation.
fn spin_kicked(w: vec3<f32>, torque: vec3<f32>, mine: Own, half: f32) -> vec3<f32> {
    let free = select(0.0, 1.0, mine.inverse_inertia > 0.0);
    momentum = motion_kick(momentum, torque, free, vec3<f32>(0.0), launch.drag, half);
    return w;
}

// Principal axes as columns, world frame; `q` is the rotation since rest. A matrix column here is a row in
// the laws.
fn cell_frame(i: u32, q: vec4<f32>) -> mat3x3<f32> {
    return mat3_rotation(quat_product(q, cell_row(i, CELL_AXES)));
}

// Rotation vector of the step, principal axes; `scaled` = Δt Π there.
fn cell_turn(i: u32, scaled: vec3<f32>) -> vec3<f32> {
    let moments = cell_row(i, CELL_MOMENTS).xyz;
    let inverse = cell_row(i, CELL_INVERSE).xyz;
    var phi = scaled * inverse;
    var last = 1e30;
    for (var k = 0u; k < ITERATIONS; k += 1u) {
        let next = rattle_next(phi, scaled, moments, inverse);
        let size = vec3_sum_of_sizes(next - phi);
        // Stop when only rounding is left.
        if !(size < last) {
            break;
        }
        phi = next;
        last = size;
    }
    return phi;
}

fn spin_turned(i: u32, a: Motion) -> Motion {
    var b = a;
    let frame = cell_frame(i, a.q);
    let phi = cell_turn(i, (momentum * transpose(frame)) * launch.dt);
    let turned = motion_turn(a.q, a.unapplied, phi * frame);
    b.q = turned.x0;
    b.unapplied = turned.x1;
    return b;
}

fn spin_after(i: u32, b: Motion, mine: Own) -> vec3<f32> {
    cell_rows_set(CELL_MOMENTUM * launch.stride + i, vec4<f32>(momentum, 0.0));
    let frame = cell_frame(i, b.q);
    let own = (momentum * transpose(frame)) * cell_row(i, CELL_INVERSE).xyz;
    return select(b.w, own * frame, mine.inverse_inertia > 0.0);
}
