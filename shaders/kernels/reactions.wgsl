// What is borne, from advance to advance and from frame to frame.

override rows: u32;

// A step that was the last of an advance counts in full when another advance follows before a frame.
@compute @workgroup_size(WORKGROUP)
fn fold(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(OPEN) {
        return;
    }
    for (var k = id.x; k < rows * NUMBERS; k += groups.x * WORKGROUP) {
        let to = bear_row(k / NUMBERS) + k % NUMBERS * NUMBER_WORDS;
        let at = to + LAST * AREA_WORDS;
        add_words(to, borne_load(at), borne_load(at + 1u), borne_load(at + 2u));
        for (var word = 0u; word < NUMBER_WORDS; word += 1u) {
            borne_store(at + word, 0u);
        }
    }
}

// A frame was copied out: the next begins.
@compute @workgroup_size(WORKGROUP)
fn clear(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(CLOSE) {
        return;
    }
    for (var word = id.x; word < rows * ROW_WORDS; word += groups.x * WORKGROUP) {
        borne_store(bear_row(0u) + word, 0u);
    }
}

// A frame is measured, maybe a second time.
@compute @workgroup_size(WORKGROUP)
fn forget(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(CAPTURE) {
        return;
    }
    for (var collider = id.x; collider < launch.colliders; collider += groups.x * WORKGROUP) {
        borne_store(collider, 0u);
    }
}
