// Stress and energy of an intact face: σ, τ, energy of its gap and of bending.
fn carried_at(i: u32, a: Motion, at: u32) -> vec3<f32> {
    let j = neighbour(at);
    let rest = read_face(at);
    let ends = ends_of(i, a, j, rest);
    let loads = face_loads(i, j, at, ends, rest);
    let stress = face_stress(at, loads, rest);
    return vec3<f32>(stress.x0, stress.x1, cell_gap_energy(ends.face, rest.traction) + loads.bend.energy);
}

// Energy of a cell from its dilation and from the bending of its one-layer wall.
fn own_energy(i: u32) -> f32 {
    let dilation = cell_row(i, CELL_DILATION);
    var energy = 0.0;
    if dilation.z > 0.0 || dilation.z < 0.0 {
        energy = 0.5 * dilation.x * dilation.x / dilation.z;
        if dilation.w > 0.0 {
            energy += 0.5 * dilation.y * dilation.y / (dilation.z * dilation.w);
        }
    }
    return energy;
}
