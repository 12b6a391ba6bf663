// Transfers of the reaction sums between advances and between frames.

override rows: u32;

// The last step of an advance counts in full once another advance follows before a frame.
@compute @workgroup_size(WORKGROUP)
fn fold(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(OPEN) {
        return;
    }
    for (var k = id.x; k < rows * WRENCH_COMPONENTS; k += groups.x * WORKGROUP) {
        let to = reaction_row(k / WRENCH_COMPONENTS) + k % WRENCH_COMPONENTS * COMPONENT_WORDS;
        let at = to + LAST_STEP * ACCUMULATOR_WORDS;
        add_words(to, reactions_load(at), reactions_load(at + 1u), reactions_load(at + 2u));
        for (var word = 0u; word < COMPONENT_WORDS; word += 1u) {
            reactions_store(at + word, 0u);
        }
    }
}

// Clears the sums for the next frame, after a frame was copied out.
@compute @workgroup_size(WORKGROUP)
fn clear(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(CLOSE) {
        return;
    }
    for (var word = id.x; word < rows * REACTION_ROW_WORDS; word += groups.x * WORKGROUP) {
        reactions_store(reaction_row(0u) + word, 0u);
    }
}

// Resets the contact counts before a frame is measured, possibly for the second time.
@compute @workgroup_size(WORKGROUP)
fn forget(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(CAPTURE) {
        return;
    }
    for (var collider = id.x; collider < launch.colliders; collider += groups.x * WORKGROUP) {
        reactions_store(collider, 0u);
    }
}
