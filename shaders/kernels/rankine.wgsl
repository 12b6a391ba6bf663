// Rankine's criterion: a bond breaks by the mean stress of its ends. The stresses of a step are those of its force
// pass; those of a frame are measured.

override measuring: bool;

// σ̄ of each element with bonds of this criterion.
@compute @workgroup_size(WORKGROUP)
fn stresses(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    // In the phase of the force pass: where bonds are removed again, because their events were too many, stresses
    // would be those without the bonds that are gone.
    if !allowed(select(MOVE, CAPTURE, measuring)) {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        let volume = solid_volume(i);
        if volume > 0.0 {
            let stress = rankine_of_element(virial_of(i), volume);
            solid_stress_set(i, vec4<f32>(stress.diagonal, volume));
            solid_stress_set(launch.stride + i, vec4<f32>(stress.off_diagonal, 0.0));
        }
    }
}

// Bonds that break in the step, in addition to those that break by shear.
@compute @workgroup_size(WORKGROUP)
fn find(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(MOVE) {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        if solid_volume(i) > 0.0 {
            find_breaks(i);
        }
    }
}

// Largest σ of each element with bonds of this criterion.
@compute @workgroup_size(WORKGROUP)
fn sigmas(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(CAPTURE) {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        if solid_volume(i) > 0.0 {
            let row = measured(i);
            measured_set(i, vec4<f32>(largest_sigma(i), row.yzw));
        }
    }
}

// Volume of an element with bonds of this criterion, otherwise 0.
fn solid_volume(i: u32) -> f32 {
    return solid_stress(i).w;
}

fn stress_of(i: u32) -> SymmetricTensor {
    return SymmetricTensor(solid_stress(i).xyz, solid_stress(launch.stride + i).xyz);
}

// Sum over all bonds of an element, from their loads without damage and damping.
fn virial_of(i: u32) -> SymmetricTensor {
    var sum = SymmetricTensor(vec3<f32>(0.0), vec3<f32>(0.0));
    let a = read_motion(i);
    let whole = masks_load(whole_at(i));
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        if (whole >> slot & 1u) == 0u {
            continue;
        }
        let at = slot * launch.stride + i;
        let b = read_motion(neighbour(at));
        let rest = bond_rest(at);
        let k = class_stiffness(read_class(at), rest.w);
        let x = motion_separation(a.p, a.low, b.p, b.low);
        let load = bond_law(x, a.q, b.q, b.unapplied - a.unapplied, rest.xyz, rest.w, k);
        sum = rankine_sum(sum, rankine_virial(-x, load.force));
    }
    return sum;
}

// σ of a bond between elements with this mean stress.
fn sigma_between(i: u32, j: u32, mean: SymmetricTensor) -> f32 {
    let a = read_motion(i);
    let b = read_motion(j);
    let x = motion_separation(a.p, a.low, b.p, b.low);
    return rankine_sigma(mean, x / length(x));
}

fn find_breaks(i: u32) {
    let whole = masks_load(whole_at(i));
    let sheared = masks_load(breaking_at(i));
    var breaking = sheared;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        let at = slot * launch.stride + i;
        let j = neighbour(at);
        let strength = solid_strength(at);
        // One end decides.
        if (whole >> slot & 1u) == 0u || j < i || strength < 0.0 {
            continue;
        }
        let mean = rankine_mean(stress_of(i), stress_of(j));
        let is_sheared = (sheared >> slot & 1u) != 0u;
        if !is_sheared && rankine_bound(mean) <= strength {
            continue;
        }
        let sigma = sigma_between(i, j, mean);
        if is_sheared {
            bond_strength_set(at, vec2<f32>(sigma, bond_strength(at).y));
        } else if sigma > strength {
            breaking |= 1u << slot;
            bond_strength_set(at, vec2<f32>(sigma, carried_at(i, read_motion(i), at).y));
            if softens {
                // Bonds of this criterion do not soften: nothing is left.
                bond_strength_set(left_at(at), vec2<f32>(1.0, -1.0));
            }
        }
    }
    if breaking != sheared {
        masks_store(breaking_at(i), breaking);
    }
}

fn largest_sigma(i: u32) -> f32 {
    let a = read_motion(i);
    let whole = masks_load(whole_at(i));
    var most = 0.0;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        if (whole >> slot & 1u) == 0u {
            continue;
        }
        let at = slot * launch.stride + i;
        if solid_strength(at) < 0.0 {
            most = max(most, carried_at(i, a, at).x);
        } else {
            let j = neighbour(at);
            most = max(most, sigma_between(i, j, rankine_mean(stress_of(i), stress_of(j))));
        }
    }
    return most;
}
