// Copies a column, to measure the bandwidth of the device's memory.

override items: u32;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    for (var i = id.x; i < items; i += groups.x * WORKGROUP) {
        copied_set(i, original(i));
    }
}
