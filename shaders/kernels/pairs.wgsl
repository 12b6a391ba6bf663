// Contact lists: every pair that has no slot and is within the skin, sorted by partner, with the springs from
// the previous lists.

fn rebuilding() -> bool {
    return allowed(LISTS) && status_load(REBUILD) != 0u;
}

fn distance_squared(a: Motion, j: u32) -> f32 {
    let b = motion(j);
    let low = vec3<f32>(b.w, motion(2u * launch.stride + j).w, motion(3u * launch.stride + j).w);
    let x = motion_separation(a.p, a.low, b.xyz, low);
    return dot(x, x);
}

// Bonded and broken pairs are handled by their slots.
fn has_slot(i: u32, j: u32) -> bool {
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        if neighbour(slot * launch.stride + i) == j {
            return true;
        }
    }
    return false;
}

fn listed(i: u32, a: Motion, held: bool, j: u32) -> bool {
    let reach = a.r + motion(4u * launch.stride + j).w + launch.skin;
    if j == i || distance_squared(a, j) > reach * reach {
        return false;
    }
    // Two held elements cannot answer a force.
    return !(held && own(j).x == 0.0) && !has_slot(i, j);
}

// Inserts a partner in ascending order.
fn insert(first: u32, found: u32, j: u32) {
    var at = first + found;
    while at > first {
        let before = list_partner(at - 1u);
        if before < j {
            break;
        }
        list_partner_set(at, before);
        at -= 1u;
    }
    list_partner_set(at, j);
}

// Visits the partners of an element and, unless `first` is `COUNT_ONLY`, writes them from `first` on. Returns
// their number.
const COUNT_ONLY: u32 = 0xffffffffu;

fn partners(i: u32, first: u32) -> u32 {
    let a = read_motion(i);
    let held = own(i).x == 0.0;
    var found = 0u;
    if is_exposed(masks_load(whole_at(i))) {
        let home = cell_of(a.p);
        for (var k = 0; k < 27; k += 1) {
            let cell = home + vec3<i32>(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
            let bucket = bucket_of(cell);
            var at = 0u;
            if bucket > 0u {
                at = cells_load(bucket - 1u);
            }
            for (let end = cells_load(bucket); at < end; at += 1u) {
                let j = cell_elements(at);
                // Cells may share a bucket; an element counts only in its own cell.
                if any(cell_of(motion(j).xyz) != cell) || !listed(i, a, held, j) {
                    continue;
                }
                if first != COUNT_ONLY {
                    insert(first, found, j);
                }
                found += 1u;
            }
        }
    }
    if !held {
        for (var k = 0u; k < launch.colliders; k += 1u) {
            if collider_at(k, a.p, a.low).nearest.distance < a.r + launch.skin {
                if first != COUNT_ONLY {
                    list_partner_set(first + found, COLLIDER + k);
                }
                found += 1u;
            }
        }
    }
    return found;
}

@compute @workgroup_size(WORKGROUP)
fn count(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !rebuilding() {
        return;
    }
    for (var i = id.x; i <= launch.stride; i += groups.x * WORKGROUP) {
        var found = 0u;
        if i < launch.count {
            found = partners(i, COUNT_ONLY);
        }
        next_first_set(i, found);
    }
}

// Checks the capacity before anything is overwritten.
@compute @workgroup_size(1)
fn admit() {
    if !rebuilding() {
        return;
    }
    let need = next_first(launch.stride);
    status_store(LIST_NEED, need);
    if need > launch.list_capacity {
        status_store(REBUILD, 0u);
        halt_after(LISTS, LISTS_FULL);
    }
}

@compute @workgroup_size(WORKGROUP)
fn keep(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !rebuilding() {
        return;
    }
    let total = list_first(launch.stride);
    for (var at = id.x; at < total; at += groups.x * WORKGROUP) {
        kept_partner_set(at, list_partner(at));
        kept_spring_set(at, list_spring(at));
    }
}

fn kept_spring_of(i: u32, j: u32) -> vec3<f32> {
    let end = list_first(i + 1u);
    for (var at = list_first(i); at < end; at += 1u) {
        if kept_partner(at) == j {
            return kept_spring(at).xyz;
        }
    }
    return vec3<f32>(0.0);
}

@compute @workgroup_size(WORKGROUP)
fn fill(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !rebuilding() {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        let first = next_first(i);
        let found = partners(i, first);
        let r = motion(4u * launch.stride + i).w;
        for (var at = first; at < first + found; at += 1u) {
            let j = list_partner(at);
            var touch = 0.0;
            if j < COLLIDER {
                touch = r + motion(4u * launch.stride + j).w;
            }
            list_spring_set(at, vec4<f32>(kept_spring_of(i, j), touch));
        }
        watch_broken(i);
        anchor_set(i, motion(i));
    }
}

// Broken pairs that are far apart are skipped until they may meet again.
fn watch_broken(i: u32) {
    let a = read_motion(i);
    let held = own(i).x == 0.0;
    let whole = masks_load(whole_at(i));
    var near = 0u;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        let j = neighbour(slot * launch.stride + i);
        if j == i || (whole >> slot & 1u) != 0u || (held && own(j).x == 0.0) {
            continue;
        }
        let reach = bond_rest(slot * launch.stride + i).w + launch.skin;
        if distance_squared(a, j) <= reach * reach {
            near |= 1u << slot;
        }
    }
    masks_store(near_at(i), near);
}

// The new first entries replace the old ones only after every element has read both.
@compute @workgroup_size(WORKGROUP)
fn adopt(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !rebuilding() {
        return;
    }
    for (var i = id.x; i <= launch.stride; i += groups.x * WORKGROUP) {
        list_first_set(i, next_first(i));
    }
}
