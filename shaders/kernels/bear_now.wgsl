// Adds loads to what is borne.

// A number as 96 bits: every part of it is exact, but for what is smaller than the unit.
fn bear_number(at: u32, value: f32) {
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

fn bear(row: u32, area: u32, force: vec3<f32>, torque: vec3<f32>) {
    let at = bear_row(row) + area * AREA_WORDS;
    for (var k = 0u; k < 3u; k += 1u) {
        bear_number(at + k * NUMBER_WORDS, force[k]);
        bear_number(at + (3u + k) * NUMBER_WORDS, torque[k]);
    }
}

// What a touching element does to a collider: about the collider's position.
fn bear_collider(i: u32, collider: u32, area: u32, a: Motion, load: ContactLoad) {
    let at = (dispatch.step * launch.colliders + collider) * POSE_ROWS;
    let arm = motion_separation(a.p, a.low, poses(at + POSE_PLACE).xyz, poses(at + POSE_LOW).xyz);
    let torque = load.torque + cross(arm, load.force);
    bear(i / BEAR_BLOCK * launch.colliders + collider, area, -load.force, -torque);
}

// What a held element does to its clamp.
fn bear_held(held: u32, area: u32, force: vec3<f32>, torque: vec3<f32>) {
    bear(bear_rows_of_colliders() + held - 1u, area, force, torque);
}
