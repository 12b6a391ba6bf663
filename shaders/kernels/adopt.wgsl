// Adopts the new lists once every element has read the old ones, or restores the old ones if the new ones
// do not fit; empties the buckets for the next time.
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(LISTS) || status_load(REBUILD) == 0u {
        return;
    }
    let need = status_load(LIST_NEED);
    let invocations = groups.x * WORKGROUP;
    for (var cell = id.x; cell <= launch.cell_mask; cell += invocations) {
        cells_store(cell, 0u);
    }
    if need > launch.list_capacity {
        let used = status_load(LIST_USED);
        for (var at = id.x; at < used; at += invocations) {
            list_partner_set(at, kept_partner(at));
            list_spring_set(at, kept_spring(at));
        }
        if id.x == 0u {
            halt_after(LISTS, LISTS_FULL);
        }
        return;
    }
    for (var i = id.x; i < launch.count; i += invocations) {
        list_bounds_set(i, next_bounds(i));
        list_bounds_set(launch.stride + i, next_bounds(launch.stride + i));
    }
    if id.x == 0u {
        status_store(LIST_USED, need);
    }
}
