// Loads of a cell's faces on it, and the faces that break.

fn bonds_of(i: u32, a: Motion, whole: u32) -> Sum {
    var sum = Sum(vec3<f32>(0.0), vec3<f32>(0.0));
    var breaking = 0u;
    for (var slot = 0u; slot < launch.slots; slot += 1u) {
        if (whole >> slot & 1u) == 0u {
            continue;
        }
        let at = slot * launch.stride + i;
        let j = neighbour(at);
        let rest = read_face(at);
        let ends = ends_of(i, a, j, rest);
        let loads = face_loads(i, j, at, ends, rest);
        let damp = cell_damping(
            ends.face,
            ends.lower.v,
            ends.upper.v,
            ends.lower.w,
            ends.upper.w,
            face_row(at, FACE_NORMAL).w,
            face_row(at, FACE_SECOND).w,
        );
        sum.force += (loads.load.force + damp.force) * ends.side;
        let lower = loads.load.torque + loads.bend.torque + damp.torque_i;
        let upper = loads.load.torque_j - loads.bend.torque + damp.torque_j;
        sum.torque += select(upper, lower, ends.side > 0.0);
        // The lower cell decides.
        if !starting && j > i {
            let strength = bond_strength(at);
            let carried = face_carried(at, loads);
            let section = face_section(at, rest);
            if failure_may_exceed(carried, section, strength.x, strength.y) {
                let stress = failure_stress(carried, section);
                if strength.x < stress.x0 || strength.y < stress.x1 {
                    breaking |= 1u << slot;
                    bond_strength_set(at, vec2<f32>(stress.x0, stress.x1));
                }
            }
        }
    }
    if breaking != 0u {
        masks_store(breaking_at(i), breaking);
    }
    // Damping by absorbing sides.
    sum.force -= a.v * cell_row(i, CELL_RESISTANCE).xyz;
    return sum;
}
