// Forces on every element and its motion over a step. Each element gathers its own bonds and contacts in a
// fixed order and writes its own row to the other motion column. bond_loads.wgsl or face_loads.wgsl provide
// the loads of bonds, spin.wgsl or cell_spin.wgsl the rotation.

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    var at = MOVE;
    if !forces {
        at = OPEN;
    }
    if !allowed(at) {
        return;
    }
    for (var i = id.x; i < launch.count; i += groups.x * WORKGROUP) {
        move_element(i);
    }
}

// Accumulator of the reaction sums that this step adds to.
fn reaction_accumulator() -> u32 {
    if starting {
        return START_LOADS;
    }
    return select(LAST_STEP, FULL_STEPS, open);
}

fn contacts_of(i: u32, a: Motion, near: u32) -> Sum {
    var sum = Sum(vec3<f32>(0.0), vec3<f32>(0.0));
    let mine = read_own(i);
    var dt = launch.dt;
    if starting {
        dt = 0.0;
    }
    var left = near;
    while left != 0u {
        let slot = firstTrailingBit(left);
        left &= left - 1u;
        // A broken pair: the place of its rest direction holds the spring, that of its length the touching
        // distance.
        let at = slot * launch.stride + i;
        let rest = bond_rest(at);
        let touch = touch_element(a, mine, neighbour(at), rest, dt);
        sum.force += touch.load.force;
        sum.torque += touch.load.torque;
        if touch.changed {
            bond_rest_set(at, vec4<f32>(touch.load.spring, rest.w));
        }
    }
    let end = list_bounds(launch.stride + i);
    for (var at = list_bounds(i); at < end; at += 1u) {
        let j = list_partner(at);
        let spring = list_spring(at);
        var touch: Touch;
        if j >= COLLIDER {
            touch = touch_collider(a, mine, j - COLLIDER, spring.xyz, dt);
            if touch.load.overlap > 0.0 {
                add_collider_wrench(i, j - COLLIDER, reaction_accumulator(), a, touch.load);
            }
        } else {
            touch = touch_element(a, mine, j, spring, dt);
        }
        sum.force += touch.load.force;
        sum.torque += touch.load.torque;
        if touch.changed {
            list_spring_set(at, vec4<f32>(touch.load.spring, spring.w));
        }
    }
    if mine.force != 0u {
        sum.force += tables(launch.forces + mine.force - 1u).xyz;
    }
    return sum;
}

fn move_element(i: u32) {
    let a = read_motion(i);
    let mine = read_own(i);
    var sum: Sum;
    if forces {
        let bonded = bonds_of(i, a, masks_load(whole_at(i)));
        let touched = contacts_of(i, a, masks_load(near_at(i)));
        sum = Sum(bonded.force + touched.force, bonded.torque + touched.torque);
        if mine.held != 0u {
            var torque = sum.torque;
            if clamped {
                torque += clamp_torque(mine.held, a, sum.force);
            }
            add_held_wrench(mine.held, reaction_accumulator(), sum.force, torque);
        }
    } else {
        sum = Sum(loads(i).xyz, loads(launch.stride + i).xyz);
    }
    if forces && !open {
        loads_set(i, vec4<f32>(sum.force, 0.0));
        loads_set(launch.stride + i, vec4<f32>(sum.torque, 0.0));
    }
    let half = launch.dt * 0.5;
    var b = a;
    spin_begin(i);
    if close {
        b.v = motion_kick(b.v, sum.force, mine.inverse_mass, launch.gravity, launch.drag, half);
        b.w = spin_kicked(b.w, sum.torque, mine, half);
    }
    if open {
        b.v = motion_kick(b.v, sum.force, mine.inverse_mass, launch.gravity, launch.drag, half);
        b.w = spin_kicked(b.w, sum.torque, mine, half);
        let moved = b.v * launch.dt;
        let x = motion_add_to_pair(b.p.x, b.low.x, moved.x);
        let y = motion_add_to_pair(b.p.y, b.low.y, moved.y);
        let z = motion_add_to_pair(b.p.z, b.low.z, moved.z);
        b.p = vec3<f32>(x.x0, y.x0, z.x0);
        b.low = vec3<f32>(x.x1, y.x1, z.x1);
        b = spin_turned(i, b);
    }
    if open || close {
        b.w = spin_after(i, b, mine);
    }
    if open {
        if clamped && mine.held != 0u {
            b = clamp_element(mine.held, b);
        }
    }
    moved_set(i, vec4<f32>(b.p, b.low.x));
    moved_set(launch.stride + i, b.q);
    moved_set(2u * launch.stride + i, vec4<f32>(b.v, b.low.y));
    moved_set(3u * launch.stride + i, vec4<f32>(b.w, b.low.z));
    moved_set(4u * launch.stride + i, vec4<f32>(b.unapplied, b.r));
    var speed = dot(b.v, b.v);
    if clamped && mine.held != 0u {
        // Key frames within the step may move an element farther than its velocity after the step suggests.
        let moved = motion_separation(b.p, b.low, a.p, a.low) / launch.dt;
        speed = max(speed, dot(moved, moved));
    }
    if !finite(speed + dot(b.w, b.w) + b.p.x + b.p.y + b.p.z) {
        status_min(BAD_ELEMENT, i);
        if forces {
            halt_after(MOVE, NOT_FINITE);
        } else {
            halt_after(OPEN, NOT_FINITE);
        }
    } else if open && speed > bitcast<f32>(status_load(SPEED_CAP)) {
        if forces {
            halt_after(BREAK, OUTRUN);
        } else {
            halt_after(OPEN, OUTRUN);
        }
    }
}
