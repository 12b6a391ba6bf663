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
    return launch.closed_shells == 0u || launch.slots == 0u || countOneBits(whole) < WHOLE_SHELL;
}

// A link of the chain of a bucket: an element's position, and the index plus one of the next element.
fn link_of(p: vec3<f32>, next: u32) -> vec4<f32> {
    return vec4<f32>(p, bitcast<f32>(next + LINK));
}
fn link_next(link: vec4<f32>) -> u32 {
    return bitcast<u32>(link.w) - LINK;
}
// Added to an index: alone, its bits are a denormal number, which drivers may flush to zero.
const LINK: u32 = 0x40000000u;
