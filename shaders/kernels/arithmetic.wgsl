// Two-word sums, to check whether the device keeps what rounding leaves out.

@group(1) @binding(0) var<uniform> zero: vec4<u32>;

fn kept(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ zero.x);
}

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let row = tried(id.x);
    let sum = motion_add_to_pair(row.x, row.y, row.z);
    tried_set(id.x, vec4<f32>(sum.x0, sum.x1, 0.0, 0.0));
}
