// Adds loads to the reaction sums.

// Adds a number as a 96-bit integer: exact except for what is smaller than the unit.
fn add_component(at: u32, value: f32) {
    var rest = abs(value) * launch.load_scale;
    let upper = floor(rest * 5.42101086242752217e-20);
    rest -= upper * 18446744073709551616.0;
    let middle = floor(rest * 2.3283064365386963e-10);
    rest -= middle * 4294967296.0;
    var low = u32(floor(rest + 0.5));
    var mid = u32(middle);
    var high = u32(upper);
    if value < 0.0 {
        low = ~low + 1u;
        mid = ~mid + select(0u, 1u, low == 0u);
        high = ~high + select(0u, 1u, low == 0u && mid == 0u);
    }
    add_words(at, low, mid, high);
}

fn add_wrench(row: u32, accumulator: u32, force: vec3<f32>, torque: vec3<f32>) {
    let at = reaction_row(row) + accumulator * ACCUMULATOR_WORDS;
    for (var k = 0u; k < 3u; k += 1u) {
        add_component(at + k * COMPONENT_WORDS, force[k]);
        add_component(at + (3u + k) * COMPONENT_WORDS, torque[k]);
    }
}

// Adds the wrench of a touching element on a collider, about the collider's position.
fn add_collider_wrench(i: u32, collider: u32, accumulator: u32, a: Motion, load: ContactLoad) {
    let at = (dispatch.step * launch.colliders + collider) * POSE_ROWS;
    let arm = motion_separation(a.p, a.low, poses(at + POSE_PLACE).xyz, poses(at + POSE_LOW).xyz);
    let torque = load.torque + cross(arm, load.force);
    add_wrench(i / REACTION_BLOCK * launch.colliders + collider, accumulator, -load.force, -torque);
}

// Adds the load of a held element to its reaction.
fn add_held_wrench(held: u32, accumulator: u32, force: vec3<f32>, torque: vec3<f32>) {
    add_wrench(collider_reaction_rows() + held - 1u, accumulator, force, torque);
}
