// Chains the elements that may touch others, one chain for each grid bucket, and sets the current contact
// lists aside. The order within a chain differs from run to run; the lists that follow are sorted.

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(LISTS) || status_load(REBUILD) == 0u {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        let p = motion(i).xyz;
        var after = 0u;
        if is_exposed(masks_load(whole_at(i))) {
            after = cells_exchange(bucket_of(cell_of(p)), i + 1u);
        }
        anchor_set(i, link_of(p, after));
    }
    let used = status_load(LIST_USED);
    for (var at = id.x; at < used; at += groups.x * WORKGROUP) {
        kept_partner_set(at, list_partner(at));
        kept_spring_set(at, list_spring(at));
    }
}
