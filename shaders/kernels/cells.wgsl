// Cells of a uniform grid, hashed into buckets.

fn cell_of(p: vec3<f32>) -> vec3<i32> {
    // Beyond this an element is lost anyway; cells merge there, and pairs are still distinguished by their
    // distance.
    return vec3<i32>(clamp(floor(p / launch.cell), vec3<f32>(-1.0e9), vec3<f32>(1.0e9)));
}

fn bucket_of(cell: vec3<i32>) -> u32 {
    let c = bitcast<vec3<u32>>(cell);
    let mixed = (c.x * 0x9e3779b1u) ^ (c.y * 0x85ebca77u) ^ (c.z * 0xc2b2ae3du);
    return (mixed ^ (mixed >> 15u)) & launch.cell_mask;
}

// WHOLE_SHELL bonds, as many as equal balls can touch one at once, leave no room for another ball. When such
// a shell breaks, the existing lists remain valid: broken pairs are checked separately, and everything else
// is beyond the skin.
fn is_exposed(whole: u32) -> bool {
    return launch.equal_radii == 0u || launch.slots == 0u || countOneBits(whole) < WHOLE_SHELL;
}
