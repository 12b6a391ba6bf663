// Removes the bonds whose strength a force pass found exceeded, at both ends, lets their ends touch, and
// records each break. Of bonds that soften and hold, the other end gets what is left.

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    if !allowed(BREAK) {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        let breaking = masks_load(breaking_at(i));
        if breaking != 0u {
            break_bonds(i, breaking);
        }
    }
}

fn break_bonds(i: u32, breaking: u32) {
    var left = breaking;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        if (breaking >> slot & 1u) == 0u {
            continue;
        }
        if softens && bond_left(slot * launch.stride + i).strength > 0.0 {
            left &= ~(1u << slot);
            share_damage(i, slot);
            continue;
        }
        let event = status_add(EVENTS, 1u);
        if event >= launch.event_capacity {
            // The bond stays marked: the host enlarges the column and this pass runs again.
            halt_after(BREAK, EVENTS_FULL);
            continue;
        }
        left &= ~(1u << slot);
        break_bond(i, slot, event);
    }
    masks_store(breaking_at(i), left);
}

fn share_damage(i: u32, slot: u32) {
    let at = slot * launch.stride + i;
    let j = neighbour(at);
    for (var other = 0u; other < launch.slots; other += 1u) {
        let to = other * launch.stride + j;
        if neighbour(to) == i {
            copy_damage(at, to);
        }
    }
}

fn break_bond(i: u32, slot: u32, event: u32) {
    let at = slot * launch.stride + i;
    let j = neighbour(at);
    let a = read_motion(i);
    let b = read_motion(j);
    let bond = bond_rest(at);
    let rest = bond.xyz;
    let stress = bond_strength(at);
    // A closing crack transmits load at once; but the overlap stored in a compressed pair must not explode.
    let x = motion_separation(a.p, a.low, b.p, b.low);
    let touch = min(max(bond.w, a.r + b.r), length(x));
    let middle = b.p + b.low + x * 0.5;
    let from_i = quat_rotate(a.q, rest);
    let from_j = -quat_rotate(b.q, rest);
    let to = event * EVENT_WORDS;
    events_set(to + EVENT_STEP, step_now());
    events_set(to + EVENT_ELEMENT, i);
    events_set(to + EVENT_SLOT, slot);
    write_vector(to + EVENT_STRESS, vec3<f32>(stress, touch));
    write_vector(to + EVENT_MIDDLE, middle);
    write_vector(to + EVENT_FROM_I, from_i);
    write_vector(to + EVENT_FROM_J, from_j);
    events_set(to + EVENT_ENERGY, bitcast<u32>(released(i, a, at)));
    events_set(to + EVENT_LEFT, bitcast<u32>(abs(bond_left(at).strength)));
    // Two held elements cannot answer a force: they never touch.
    let moves = read_own(i).inverse_mass > 0.0 || read_own(j).inverse_mass > 0.0;
    convert_to_contact(i, slot, touch, moves);
    for (var other = 0u; other < launch.slots; other += 1u) {
        if neighbour(other * launch.stride + j) == i {
            convert_to_contact(j, other, touch, moves);
        }
    }
}

fn write_vector(at: u32, v: vec3<f32>) {
    events_set(at, bitcast<u32>(v.x));
    events_set(at + 1u, bitcast<u32>(v.y));
    events_set(at + 2u, bitcast<u32>(v.z));
}

// One end of a broken bond: an unstretched spring and the touching distance.
fn convert_to_contact(i: u32, slot: u32, touch: f32, moves: bool) {
    bond_rest_set(slot * launch.stride + i, vec4<f32>(0.0, 0.0, 0.0, touch));
    masks_and(whole_at(i), ~(1u << slot));
    if moves {
        masks_or(near_at(i), 1u << slot);
    }
}
