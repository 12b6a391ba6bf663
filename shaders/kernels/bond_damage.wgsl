// Damage of bonds. The end with the lower index decides: it writes its own copy of what is left in the force
// pass, and the pass that breaks bonds copies it to the other end. No other invocation reads a copy meanwhile.

// Damages a bond under a stress of `used` times the strength left; returns whether it holds. `released` is the
// energy that it would release if it broke now, if it is undamaged. The strength left of a bond that breaks
// becomes negative.
fn soften_bond(at: u32, used: f32, released: f32) -> bool {
    let left = bond_left(at);
    let limits = bond_strength(limits_at(at));
    var end = limits.x;
    if left.stiffness == 1.0 {
        end = softening_end(limits.y, used, released);
    }
    let reached = softening_reached(left, used);
    if !(reached < end) {
        bond_strength_set(left_at(at), vec2<f32>(left.stiffness, -left.strength));
        return false;
    }
    let after = softening_left_at(reached, end);
    bond_strength_set(left_at(at), vec2<f32>(after.stiffness, after.strength));
    bond_strength_set(limits_at(at), vec2<f32>(end, limits.y));
    return true;
}

// Copies what is left of a bond to its other end.
fn copy_damage(at: u32, to: u32) {
    bond_strength_set(left_at(to), bond_strength(left_at(at)));
    bond_strength_set(limits_at(to), bond_strength(limits_at(at)));
}
