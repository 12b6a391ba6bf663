// Entry points that put a row of numbers through a law each.

@group(1) @binding(0) var<uniform> zero: vec4<u32>;

// Bits that no compiler knows.
fn kept(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ zero.x);
}

override COUNT: u32;
override INPUTS: u32;
override OUTPUTS: u32;

var<private> entry: u32;

fn begin(id: vec3<u32>) -> bool {
    entry = id.x;
    return entry < COUNT;
}
fn f(k: u32) -> f32 {
    return bitcast<f32>(states(entry * INPUTS + k));
}
fn v(k: u32) -> vec3<f32> {
    return vec3<f32>(f(k), f(k + 1u), f(k + 2u));
}
fn q(k: u32) -> vec4<f32> {
    return vec4<f32>(v(k), f(k + 3u));
}
fn put(k: u32, x: f32) {
    results_set(entry * OUTPUTS + k, bitcast<u32>(x));
}
fn put3(k: u32, x: vec3<f32>) {
    put(k, x.x);
    put(k + 1u, x.y);
    put(k + 2u, x.z);
}
fn put4(k: u32, x: vec4<f32>) {
    put3(k, x.xyz);
    put(k + 3u, x.w);
}
fn put_nearest(nearest: Nearest) {
    put(0u, nearest.distance);
    put3(1u, nearest.normal);
}

// Torques on i and on j.
fn put_torques(alike: vec3<f32>, opposite: vec3<f32>) {
    put3(3u, alike + opposite);
    put3(6u, alike - opposite);
}

@compute @workgroup_size(WORKGROUP)
fn bdem(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let k = Stiffness(f(18u), f(19u), f(20u), f(21u));
        let load = bdem_bond(v(0u), q(3u), q(7u), v(11u), v(14u), f(17u), k);
        let counting = failure_stress(load, CriterionSection(f(22u), f(23u), f(24u), f(25u), f(26u)));
        let relieving = failure_stress(load, CriterionSection(f(22u), f(23u), f(24u), 0.0, f(26u)));
        put3(0u, load.force);
        put_torques(bond_arm_torque(v(0u), load.force), load.moment);
        put(9u, counting.x0);
        put(10u, relieving.x0);
        put(11u, counting.x1);
    }
}

fn put_energetic(load: BondLoad, energy: f32) {
    let stress = failure_stress(load, CriterionSection(f(22u), f(23u), f(24u), f(25u), f(26u)));
    put3(0u, load.force);
    put_torques(bond_arm_torque(v(0u), load.force), load.moment);
    put(9u, load.axial);
    put(10u, stress.x0);
    put(11u, stress.x1);
    put(12u, energy);
}

@compute @workgroup_size(WORKGROUP)
fn manifold(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let k = Stiffness(f(18u), f(19u), f(20u), f(21u));
        let load = manifold_bond(v(0u), q(3u), q(7u), v(11u), v(14u), f(17u), k);
        let ends = relative_relative(v(0u), q(3u), q(7u), v(11u), v(14u));
        put_energetic(load, manifold_energy(ends, f(17u), k));
    }
}

@compute @workgroup_size(WORKGROUP)
fn cosserat(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let k = Stiffness(f(18u), f(19u), f(20u), f(21u));
        let load = cosserat_bond(v(0u), q(3u), q(7u), v(11u), v(14u), f(17u), k);
        let ends = relative_relative(v(0u), q(3u), q(7u), v(11u), v(14u));
        put_energetic(load, cosserat_energy(ends, f(17u), k));
    }
}

@compute @workgroup_size(WORKGROUP)
fn stress(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let none = vec3<f32>();
        let load = BondLoad(none, none, f(0u), v(1u), v(4u), v(7u));
        let stress = failure_stress(load, CriterionSection(f(10u), f(11u), f(12u), f(13u), f(14u)));
        put(0u, stress.x0);
        put(1u, stress.x1);
    }
}

@compute @workgroup_size(WORKGROUP)
fn may_exceed(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let none = vec3<f32>();
        let load = BondLoad(none, none, f(0u), v(1u), v(4u), v(7u));
        let section = CriterionSection(f(10u), f(11u), f(12u), f(13u), f(14u));
        put(0u, select(0.0, 1.0, failure_may_exceed(load, section, f(15u), f(16u))));
    }
}

@compute @workgroup_size(WORKGROUP)
fn softened(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let none = vec3<f32>();
        let x = v(0u);
        let change = vec3_norm(x) - f(3u);
        let force = x * (-(f(4u) * change) / vec3_norm(x));
        let load = softening_softened(BondLoad(force, none, f(4u) * change, none, none, none), x, f(3u), f(4u), f(5u));
        put3(0u, load.force);
        let whole = 0.5 * f(4u) * change * change;
        put(3u, softening_energy(whole, x, f(3u), f(4u), f(5u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn damage(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let end = softening_end(f(2u), f(3u), f(4u));
        let left = softening_left_at(softening_reached(Left(f(0u), f(1u)), f(3u)), end);
        put(0u, end);
        put(1u, left.stiffness);
        put(2u, left.strength);
    }
}

@compute @workgroup_size(WORKGROUP)
fn linear_energy(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let none = vec3<f32>();
        let load = BondLoad(none, none, f(0u), v(1u), v(4u), v(7u));
        put(0u, bond_linear_energy(load, f(10u), Stiffness(f(11u), f(12u), f(13u), f(14u))));
    }
}

@compute @workgroup_size(WORKGROUP)
fn section_stiffness(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let k = bond_stiffness(f(0u), f(1u), f(2u), f(3u), f(4u));
        put4(0u, vec4<f32>(k.normal, k.shear, k.twist, k.bend));
    }
}

@compute @workgroup_size(WORKGROUP)
fn damping(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let load = damping_bond(v(0u), v(3u), v(6u), v(9u), f(12u), f(13u));
        put3(0u, load.x0);
        put3(3u, bond_arm_torque(v(0u), load.x0));
        put3(6u, load.x1);
    }
}

@compute @workgroup_size(WORKGROUP)
fn coefficient(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put(0u, damping_coefficient(f(0u), f(1u), f(2u), f(3u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn contact(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let state = ContactState(v(0u), v(3u), v(6u), v(9u), f(12u), f(13u), f(14u), v(15u));
        let load = contact_contact(state, f(18u), ContactParameters(f(19u), f(20u), f(21u), f(22u)));
        put3(0u, load.force);
        put3(3u, load.torque);
        put3(6u, load.spring);
        put(9u, load.overlap);
    }
}

@compute @workgroup_size(WORKGROUP)
fn parameters(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let pair = SurfacePair(f(0u), f(1u), f(2u), f(3u));
        let k = contact_parameters(pair, f(4u), f(5u), f(6u), f(7u));
        put4(0u, vec4<f32>(k.normal, k.tangential, k.friction, k.damping));
    }
}

@compute @workgroup_size(WORKGROUP)
fn arms(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let arms = contact_arms(v(0u), f(3u), f(4u));
        put(0u, arms.x0);
        put(1u, arms.x1);
    }
}

@compute @workgroup_size(WORKGROUP)
fn wall(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let wall = contact_wall(f(0u), v(1u), f(4u));
        put3(0u, wall.x);
        put(3u, wall.touch);
        put(4u, wall.arm);
    }
}

@compute @workgroup_size(WORKGROUP)
fn energy(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let k = ContactParameters(f(4u), f(5u), f(6u), f(7u));
        put(0u, contact_energy(f(0u), v(1u), k));
    }
}

@compute @workgroup_size(WORKGROUP)
fn kick(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put3(0u, motion_kick(v(0u), v(3u), f(6u), v(7u), f(10u), f(11u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn add_to_pair(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let sum = motion_add_to_pair(f(0u), f(1u), f(2u));
        put(0u, sum.x0);
        put(1u, sum.x1);
    }
}

@compute @workgroup_size(WORKGROUP)
fn turn(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let turned = motion_turn(q(0u), v(4u), v(7u));
        put4(0u, turned.x0);
        put3(4u, turned.x1);
    }
}

@compute @workgroup_size(WORKGROUP)
fn separation(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put3(0u, motion_separation(v(0u), v(3u), v(6u), v(9u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn rotate(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put3(0u, quat_rotate(q(0u), v(4u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn product(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put4(0u, quat_product(q(0u), q(4u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn normalised(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put4(0u, quat_normalised(q(0u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn from_rotation_vector(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put4(0u, quat_from_rotation_vector(v(0u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn rotation_between(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put3(0u, quat_rotation_between(q(0u), q(4u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn half_space(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put_nearest(solid_half_space(v(0u), v(3u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn sphere(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put_nearest(solid_sphere(v(0u), f(3u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn cuboid(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put_nearest(solid_cuboid(v(0u), v(3u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn cylinder(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put_nearest(solid_cylinder(v(0u), f(3u), f(4u)));
    }
}

@compute @workgroup_size(WORKGROUP)
fn surface_velocity(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        put3(0u, solid_surface_velocity(v(0u), Nearest(f(3u), v(4u)), v(7u), v(10u)));
    }
}

// xx, yy, zz, yz, xz, xy and a normal: largest principal stress, its direction, σ.
@compute @workgroup_size(WORKGROUP)
fn principal(@builtin(global_invocation_id) id: vec3<u32>) {
    if begin(id) {
        let stress = SymmetricTensor(v(0u), v(3u));
        let largest = rankine_largest_principal(stress);
        put(0u, largest.x0);
        put3(1u, largest.x1);
        put(4u, rankine_sigma(stress, v(6u)));
    }
}
