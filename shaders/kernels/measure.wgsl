// Measurements of a frame for each element: stresses, energies, contacts.

@compute @workgroup_size(WORKGROUP)
fn carried(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(CAPTURE) {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        measure_element(i);
    }
}

// Largest σ and τ; own energy plus half of that of the intact bonds; energy of the contacts (half of those
// with other elements). The second column gets the contact sides: the touching elements plus twice the
// touching colliders.
fn measure_element(i: u32) {
    let a = read_motion(i);
    let mine = read_own(i);
    let whole = masks_load(whole_at(i));
    let near = masks_load(near_at(i));
    var out = vec4<f32>(0.0, 0.0, own_energy(i), 0.0);
    var sides = 0u;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        let at = slot * launch.stride + i;
        if (whole >> slot & 1u) != 0u {
            let carried = carried_at(i, a, at);
            out.x = max(out.x, carried.x);
            out.y = max(out.y, carried.y);
            out.z += 0.5 * carried.z;
        } else if (near >> slot & 1u) != 0u {
            let touch = touch_element(a, mine, neighbour(at), bond_rest(at), 0.0);
            out.w += 0.5 * touch.energy;
            sides += select(0u, 1u, touch.load.overlap > 0.0);
        }
    }
    let end = list_bounds(launch.stride + i);
    for (var at = list_bounds(i); at < end; at += 1u) {
        let j = list_partner(at);
        let spring = list_spring(at);
        if j >= COLLIDER {
            let touch = touch_collider(a, mine, j - COLLIDER, spring.xyz, 0.0);
            out.w += touch.energy;
            if touch.load.overlap > 0.0 {
                sides += 2u;
                reactions_add(j - COLLIDER, 1u);
            }
        } else {
            let touch = touch_element(a, mine, j, spring, 0.0);
            out.w += 0.5 * touch.energy;
            sides += select(0u, 1u, touch.load.overlap > 0.0);
        }
    }
    measured_set(i, out);
    touched_set(i, sides);
}
