// Stress and energy of an intact bond: σ, τ, energy.
fn carried_at(i: u32, a: Motion, at: u32) -> vec3<f32> {
    let b = read_motion(neighbour(at));
    let rest = bond_rest(at);
    let kind = read_class(at);
    let k = class_stiffness(kind, rest.w);
    let x = motion_separation(a.p, a.low, b.p, b.low);
    let unapplied = b.unapplied - a.unapplied;
    let load = bond_law(x, a.q, b.q, unapplied, rest.xyz, rest.w, k);
    let energy = bond_energy(load, x, a.q, b.q, unapplied, rest.xyz, rest.w, k);
    if !softens {
        let stress = failure_stress(load, kind.section);
        return vec3<f32>(stress.x0, stress.x1, energy);
    }
    let left = bond_left(at).stiffness;
    let stress = failure_stress(softening_softened(load, x, rest.w, k.normal, left), kind.section);
    return vec3<f32>(stress.x0, stress.x1, softening_energy(energy, x, rest.w, k.normal, left));
}

// Energy of an element in addition to that of its bonds.
fn own_energy(i: u32) -> f32 {
    return 0.0;
}
