// Contacts of an element with other elements and with colliders, in the form that the laws take.

struct Touch {
    load: ContactLoad,
    energy: f32,
    // Whether the spring has to be stored.
    changed: bool,
}

// Constants of contacts between two surfaces, read from the tables.
fn read_pair(index: u32) -> SurfacePair {
    let row = tables(launch.pairs + index);
    return SurfacePair(row.x, row.y, row.z, row.w);
}

fn no_touch() -> Touch {
    let none = vec3<f32>(0.0);
    return Touch(ContactLoad(none, none, none, -1.0), 0.0, false);
}

fn touch_of(state: ContactState, k: ContactParameters, dt: f32) -> Touch {
    let load = contact_contact(state, dt, k);
    var energy = 0.0;
    if load.overlap > 0.0 {
        energy = contact_energy(load.overlap, state.spring, k);
    }
    return Touch(load, energy, true);
}

// Contact of two elements; `spring` holds the tangential spring and the touching distance.
fn touch_element(a: Motion, mine: Own, j: u32, spring: vec4<f32>, dt: f32) -> Touch {
    let b = read_motion(j);
    let x = motion_separation(a.p, a.low, b.p, b.low);
    let untouched = dot(spring.xyz, spring.xyz) == 0.0;
    // Clearly apart: nothing to compute.
    if untouched && dot(x, x) > spring.w * spring.w * 1.0001 {
        return no_touch();
    }
    let other = read_own(j);
    let arms = contact_arms(x, a.r, b.r);
    let state = ContactState(x, a.v - b.v, a.w, b.w, arms.x0, arms.x1, spring.w, spring.xyz);
    let pair = read_pair(mine.material * launch.materials + other.material);
    let k = contact_parameters(pair, a.r, b.r, mine.inverse_mass, other.inverse_mass);
    return touch_of(state, k, dt);
}

// A collider acts as a mirrored element of the same size without mass or spin of its own.
fn touch_collider(a: Motion, mine: Own, collider: u32, spring: vec3<f32>, dt: f32) -> Touch {
    let surface = collider_at(collider, a.p, a.low);
    if surface.nearest.distance >= a.r && dot(spring, spring) == 0.0 {
        return no_touch();
    }
    let c = contact_wall(surface.nearest.distance, surface.nearest.normal, a.r);
    let still = vec3<f32>(0.0);
    let state = ContactState(c.x, a.v - surface.velocity, a.w, still, c.arm, 0.0, c.touch, spring);
    let m = launch.materials;
    let pair = read_pair(m * m + collider * m + mine.material);
    let k = contact_parameters(pair, a.r, a.r, mine.inverse_mass, 0.0);
    return touch_of(state, k, dt);
}
