// Loads of an element's bonds on it, and the bonds that break.

fn bonds_of(i: u32, a: Motion, whole: u32) -> Sum {
    var sum = Sum(vec3<f32>(0.0), vec3<f32>(0.0));
    var breaking = 0u;
    // The next bond's other end is read ahead: its motion can only be fetched once it is known.
    var next = neighbour(i);
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        let at = slot * launch.stride + i;
        let j = next;
        if slot + 1u < launch.slots {
            next = neighbour(at + launch.stride);
        }
        if (whole >> slot & 1u) == 0u {
            continue;
        }
        let other = read_motion(j);
        let rest = bond_rest(at);
        let kind = read_class(at);
        // Both ends compute the bond from the lower one's side. Drivers fuse multiplications and additions
        // freely, so the bond computed from its other end would differ in the last bits, and a pair would
        // accelerate itself.
        let turned = j < i;
        let side = select(1.0, -1.0, turned);
        let lower = pick_motion(a, other, turned);
        let upper = pick_motion(other, a, turned);
        let x = motion_separation(lower.p, lower.low, upper.p, upper.low);
        let unapplied = upper.unapplied - lower.unapplied;
        let k = class_stiffness(kind, rest.w);
        let undamaged = bond_law(x, lower.q, upper.q, unapplied, rest.xyz * side, rest.w, k);
        var load = undamaged;
        let left = bond_left(at);
        if softens {
            load = softening_softened(load, x, rest.w, k.normal, left.stiffness);
        }
        var force = load.force;
        var opposite = load.moment;
        if damped {
            let damping = vec2<f32>(kind.damping, kind.spin_damping) * left.stiffness;
            let damp = damping_bond(x, lower.v - upper.v, lower.w, upper.w, damping.x, damping.y);
            force += damp.x0;
            opposite += damp.x1;
        }
        sum.force += force * side;
        sum.torque += bond_arm_torque(x, force) + opposite * side;
        // One end decides.
        if !starting && j > i {
            let strength = bond_strength(at) * left.strength;
            if failure_may_exceed(load, kind.section, strength.x, strength.y) {
                let stress = failure_stress(load, kind.section);
                if strength.x < stress.x0 || strength.y < stress.x1 {
                    breaking |= 1u << slot;
                    var holds = false;
                    if softens {
                        let energy = bond_energy(undamaged, x, lower.q, upper.q, unapplied, rest.xyz * side, rest.w, k);
                        let released = softening_energy(energy, x, rest.w, k.normal, 1.0)
                            - softening_energy(energy, x, rest.w, k.normal, 0.0);
                        holds = soften_bond(at, max(stress.x0 / strength.x, stress.x1 / strength.y), released);
                    }
                    if !holds {
                        bond_strength_set(at, vec2<f32>(stress.x0, stress.x1));
                    }
                }
            }
        }
    }
    if breaking != 0u {
        masks_store(breaking_at(i), breaking);
    }
    return sum;
}
