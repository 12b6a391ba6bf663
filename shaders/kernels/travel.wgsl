// Largest displacement and speed of elements since the last rebuild of the contact lists, and whether the
// lists remain valid for the next batch of steps.

var<workgroup> farthest: array<f32, WORKGROUP>;
var<workgroup> fastest: array<f32, WORKGROUP>;

@compute @workgroup_size(WORKGROUP)
fn measure(
    @builtin(global_invocation_id) id: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    var far = 0.0;
    var fast = 0.0;
    if allowed(LISTS) {
        for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
            let moved = motion(i).xyz - anchor(i).xyz;
            let v = motion(2u * launch.stride + i).xyz;
            far = max(far, dot(moved, moved));
            fast = max(fast, dot(v, v));
        }
    }
    farthest[local] = far;
    fastest[local] = fast;
    for (var half = WORKGROUP / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if local < half {
            farthest[local] = max(farthest[local], farthest[local + half]);
            fastest[local] = max(fastest[local], fastest[local + half]);
        }
    }
    if local == 0u {
        status_max(FARTHEST, bitcast<u32>(farthest[0]));
        status_max(FASTEST, bitcast<u32>(fastest[0]));
    }
}

const UNLIMITED: f32 = 3.0e38;

// The lists hold every pair within the skin. Two elements may approach by twice the distance that one moves,
// an element and a collider by the sum of both. A speed above the cap would violate this before the next
// check, and stops the commands.
@compute @workgroup_size(1)
fn decide() {
    if !allowed(LISTS) {
        return;
    }
    let drifts = f32(launch.batch - 1u) * launch.dt;
    let fast = sqrt(bitcast<f32>(status_load(FASTEST)));
    var far = sqrt(bitcast<f32>(status_load(FARTHEST)));
    var since = f32(step_now() - status_load(ANCHOR_STEP) + launch.batch);
    var allowance = min(0.5 * launch.skin, launch.skin - launch.surface_travel * since);
    // Allows for a quarter more than the current speed: a rebuild is better than a stop.
    let rebuild = status_load(FORCE_REBUILD) != 0u || far + 1.25 * fast * drifts > allowance;
    if rebuild {
        far = 0.0;
        allowance = min(0.5 * launch.skin, launch.skin - launch.surface_travel * f32(launch.batch));
        status_store(ANCHOR_STEP, step_now());
        status_add(REBUILDS, 1u);
        status_store(LIST_NEED, 0u);
    }
    status_store(REBUILD, select(0u, 1u, rebuild));
    var cap = UNLIMITED;
    if launch.batch > 1u {
        cap = max(allowance - far, 0.0) / drifts;
    }
    status_store(SPEED_CAP, bitcast<u32>(min(cap * cap, UNLIMITED)));
    status_store(SPEED_SEEN, status_load(FASTEST));
    status_store(FARTHEST, 0u);
    status_store(FASTEST, 0u);
    status_store(FORCE_REBUILD, 0u);
}
