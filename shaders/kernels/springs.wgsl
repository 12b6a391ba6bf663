// Gathers the stretched tangential springs of all contacts, unordered; the host sorts them.

@compute @workgroup_size(WORKGROUP)
fn gather(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(CAPTURE) {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        let whole = masks_load(whole_at(i));
        for (var slot = 0u; slot < launch.slots; slot += 1u) {
            let at = slot * launch.stride + i;
            let j = neighbour(at);
            if j != i && (whole >> slot & 1u) == 0u {
                append(i, j, bond_rest(at).xyz);
            }
        }
        let end = list_bounds(launch.stride + i);
        for (var at = list_bounds(i); at < end; at += 1u) {
            append(i, list_partner(at), list_spring(at).xyz);
        }
    }
}

fn append(i: u32, j: u32, spring: vec3<f32>) {
    if all(spring == vec3<f32>(0.0)) {
        return;
    }
    let found = status_add(SPRINGS, 1u);
    if found >= launch.spring_capacity {
        halt_after(CAPTURE, SPRINGS_FULL);
        return;
    }
    let at = found * SPRING_WORDS;
    stretched_set(at + SPRING_ELEMENT, i);
    stretched_set(at + SPRING_PARTNER, j);
    stretched_set(at + SPRING_VECTOR, bitcast<u32>(spring.x));
    stretched_set(at + SPRING_VECTOR + 1u, bitcast<u32>(spring.y));
    stretched_set(at + SPRING_VECTOR + 2u, bitcast<u32>(spring.z));
}

// Resets the counters after a frame was copied out.
@compute @workgroup_size(1)
fn close() {
    if !allowed(CLOSE) {
        return;
    }
    status_store(EVENTS, 0u);
    status_store(SPRINGS, 0u);
}
