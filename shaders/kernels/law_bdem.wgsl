// Bonds by `bdem`: the names that kernels call.

fn bond_law(
    x: vec3<f32>,
    q_i: vec4<f32>,
    q_j: vec4<f32>,
    unapplied: vec3<f32>,
    rest_direction: vec3<f32>,
    rest_length: f32,
    k: Stiffness,
) -> BondLoad {
    return bdem_bond(x, q_i, q_j, unapplied, rest_direction, rest_length, k);
}

fn bond_energy(
    load: BondLoad,
    x: vec3<f32>,
    q_i: vec4<f32>,
    q_j: vec4<f32>,
    unapplied: vec3<f32>,
    rest_direction: vec3<f32>,
    rest_length: f32,
    k: Stiffness,
) -> f32 {
    return bdem_linear_energy(load, rest_length, k);
}
