// Rows of elements, read from the columns.

struct Motion {
    p: vec3<f32>,
    low: vec3<f32>,
    q: vec4<f32>,
    v: vec3<f32>,
    w: vec3<f32>,
    // Rotation not yet applied to the quaternion.
    unapplied: vec3<f32>,
    r: f32,
}

fn read_motion(i: u32) -> Motion {
    let a = motion(i);
    let b = motion(launch.stride + i);
    let c = motion(2u * launch.stride + i);
    let d = motion(3u * launch.stride + i);
    let e = motion(4u * launch.stride + i);
    return Motion(a.xyz, vec3<f32>(a.w, c.w, d.w), b, c.xyz, d.xyz, e.xyz, e.w);
}

// Returns `b` if `second`, else `a`.
fn pick_motion(a: Motion, b: Motion, second: bool) -> Motion {
    return Motion(
        select(a.p, b.p, second),
        select(a.low, b.low, second),
        select(a.q, b.q, second),
        select(a.v, b.v, second),
        select(a.w, b.w, second),
        select(a.unapplied, b.unapplied, second),
        select(a.r, b.r, second),
    );
}

// Inverse mass, inverse inertia, material; for a free element the index of its attached force plus one, for a
// held element its index among the held ones plus one.
struct Own {
    inverse_mass: f32,
    inverse_inertia: f32,
    material: u32,
    force: u32,
    held: u32,
}

fn read_own(i: u32) -> Own {
    let row = own(i);
    let index = u32(row.w);
    let moves = row.x > 0.0;
    return Own(row.x, row.y, u32(row.z), select(0u, index, moves), select(index, 0u, moves));
}

// Words of the masks: intact bonds, broken pairs near enough to touch, bonds found beyond their strength.
fn whole_at(i: u32) -> u32 {
    return i;
}
fn near_at(i: u32) -> u32 {
    return launch.stride + i;
}
fn breaking_at(i: u32) -> u32 {
    return 2u * launch.stride + i;
}
