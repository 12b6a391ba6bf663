// Driven clamps (rotating or following key frames): positions of their elements. The layout of their rows is
// documented at CLAMP_ROWS and HELD_ROWS in constants.rs.

// Whether there are driven clamps.
override clamped: bool;

// First row of a clamp at the current step or, with `ahead` 1, at the next.
fn clamp_at(clamp: u32, ahead: u32) -> u32 {
    return launch.clamp_poses + ((dispatch.step + ahead) * launch.clamps + clamp) * CLAMP_ROWS;
}

// One component of the product of two sums of parts, as three numbers of decreasing size; the first two are
// exact.
fn product_of_parts(at: u32, a: vec3<f32>, b: vec3<f32>, c: vec3<f32>) -> vec3<f32> {
    let x = poses(at).xyz;
    let y = poses(at + 3u).xyz;
    let z = poses(at + 6u).xyz;
    // Kept: otherwise a driver could fuse them into the following sums and round each term there.
    return vec3_each_kept(vec3<f32>(
        dot(x, a),
        dot(x, b) + dot(y, a),
        dot(x, c) + dot(y, b + c) + dot(z, a + (b + c)),
    ));
}

// A two-word coordinate moved by a two-word displacement and such a product.
fn moved_coordinate(high: f32, low: f32, at: u32, product: vec3<f32>) -> motion_add_to_pair_result {
    let x = motion_add_to_pair(high, 0.0, poses(at).w);
    let y = motion_add_to_pair(x.x0, 0.0, product.x);
    let z = motion_add_to_pair(y.x0, 0.0, product.y);
    let rest = (low + poses(at + 3u).w) + product.z + (x.x1 + y.x1 + z.x1);
    return motion_add_to_pair(z.x0, 0.0, rest);
}

// Position and motion of the element at the next step, if its clamp is driven.
fn clamp_element(held: u32, free: Motion) -> Motion {
    let grip = launch.held_rows + (held - 1u) * HELD_ROWS;
    let rest = tables(grip);
    let clamp = u32(rest.w);
    if clamp == 0u {
        return free;
    }
    let at = clamp_at(clamp - 1u, 1u);
    let a = tables(grip + 1u);
    let b = tables(grip + 2u);
    let c = tables(grip + 3u);
    let dx = product_of_parts(at, a.xyz, b.xyz, c.xyz);
    let dy = product_of_parts(at + 1u, a.xyz, b.xyz, c.xyz);
    let dz = product_of_parts(at + 2u, a.xyz, b.xyz, c.xyz);
    let x = moved_coordinate(rest.x, a.w, at, dx);
    let y = moved_coordinate(rest.y, b.w, at + 1u, dy);
    let z = moved_coordinate(rest.z, c.w, at + 2u, dz);
    let arm = (a.xyz + b.xyz) + vec3<f32>(dx.x + dx.y, dy.x + dy.y, dz.x + dz.y);
    var held_now = free;
    held_now.p = vec3<f32>(x.x0, y.x0, z.x0);
    held_now.low = vec3<f32>(x.x1, y.x1, z.x1);
    held_now.q = poses(at + CLAMP_ROTATION);
    held_now.unapplied = vec3<f32>(poses(at + 6u).w, poses(at + 7u).w, poses(at + 8u).w);
    held_now.v = solid_point_velocity(arm, poses(at + CLAMP_VELOCITY).xyz, poses(at + CLAMP_SPIN).xyz);
    held_now.w = poses(at + CLAMP_SPIN).xyz;
    return held_now;
}

// Torque of a held element's load about the middle of its clamp, if that is driven.
fn clamp_torque(held: u32, a: Motion, force: vec3<f32>) -> vec3<f32> {
    let clamp = u32(tables(launch.held_rows + (held - 1u) * HELD_ROWS).w);
    if clamp == 0u {
        return vec3<f32>(0.0);
    }
    let at = clamp_at(clamp - 1u, 0u);
    let arm = motion_separation(a.p, a.low, poses(at + CLAMP_MIDDLE).xyz, poses(at + CLAMP_MIDDLE_LOW).xyz);
    return cross(arm, force);
}
