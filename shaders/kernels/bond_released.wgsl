// Energy that a bond releases as it breaks, and took as it softened.
fn released(i: u32, a: Motion, at: u32) -> f32 {
    if softens && bond_left(at).stiffness < 1.0 {
        return bond_strength(limits_at(at)).y;
    }
    return carried_at(i, a, at).z;
}
