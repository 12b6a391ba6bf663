// What is left of bonds that soften before they break: rows after the strengths. Both ends of a bond have a copy.

override softens: bool;

// Stiffness and strength left.
fn left_at(at: u32) -> u32 {
    return launch.slots * launch.stride + at;
}

// Use of strength at which a damaged bond breaks, and energy that it takes until then.
fn limits_at(at: u32) -> u32 {
    return 2u * launch.slots * launch.stride + at;
}

fn bond_left(at: u32) -> Left {
    if !softens {
        return Left(1.0, 1.0);
    }
    let left = bond_strength(left_at(at));
    return Left(left.x, left.y);
}
