// Sorts the elements that may touch others into the grid buckets: count, sum, place.

fn rebuilding() -> bool {
    return allowed(LISTS) && status_load(REBUILD) != 0u;
}

@compute @workgroup_size(WORKGROUP)
fn clear(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !rebuilding() {
        return;
    }
    for (var cell = id.x; cell <= launch.cell_mask + 1u; cell += groups.x * WORKGROUP) {
        cells_store(cell, 0u);
    }
}

@compute @workgroup_size(WORKGROUP)
fn count(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !rebuilding() {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        if is_exposed(masks_load(whole_at(i))) {
            cells_add(bucket_of(cell_of(motion(i).xyz)), 1u);
        }
    }
}

// After the sum a bucket holds the index of its first element. Placement moves it to the end, which is the
// start of the next bucket.
@compute @workgroup_size(WORKGROUP)
fn place(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !rebuilding() {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        if is_exposed(masks_load(whole_at(i))) {
            let at = cells_add(bucket_of(cell_of(motion(i).xyz)), 1u);
            cell_elements_set(at, i);
        }
    }
}
