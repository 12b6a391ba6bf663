//! The laws that are tested on a device: how rows of numbers become their arguments, and the generators of
//! random arguments.

use cullet::laws::bond::{self, BondLaw, BondLoad, BondState, arm_torque};
use cullet::laws::contact::{self, SurfacePair};
use cullet::laws::cosserat::Cosserat;
use cullet::laws::manifold::Manifold;
use cullet::laws::softening::{self, Left};
use cullet::laws::{damping, failure, motion};
use cullet::math::quat;
use cullet::math::solid::{self, Nearest};
use cullet::math::{Quat, Real, Vec3};

use super::bound::Bound;
use super::draw::RandomStream;
use crate::vectors::{
    bond_results, bond_stiffness, contact_parameters, contact_results, quat as rotation, section,
    vec3,
};
use crate::vectors_materials::softened_bond;

/// A law as a function from a row of numbers to a row of numbers.
pub struct Law {
    /// Entry point of its probe.
    pub name: &'static str,
    /// Number of components of each value in a result: vectors are compared as a whole.
    pub values: &'static [usize],
    /// Generator of random arguments.
    pub draw: fn(&mut RandomStream) -> Vec<f64>,
    pub single: fn(&[f32]) -> Vec<f32>,
    pub double: fn(&[f64]) -> Vec<f64>,
    pub bound: fn(&[Bound]) -> Vec<Bound>,
}

impl Law {
    /// Number of numbers in a result.
    pub fn outputs(&self) -> usize {
        self.values.iter().sum()
    }
}

macro_rules! laws {
    ($($name:literal $law:ident $draw:ident $values:expr;)*) => {
        /// Laws that are tested on a device; bond laws have their names in pipeline files.
        pub const LAWS: &[Law] = &[$(Law {
            name: $name,
            values: &$values,
            draw: RandomStream::$draw,
            single: $law::<f32>,
            double: $law::<f64>,
            bound: $law::<Bound>,
        }),*];
    };
}
laws! {
    "bdem" bond_results bond [3, 3, 3, 1, 1, 1];
    "manifold" manifold_results bond [3, 3, 3, 1, 1, 1, 1];
    "cosserat" cosserat_results bond [3, 3, 3, 1, 1, 1, 1];
    "stress" stress stress [1, 1];
    "may_exceed" may_exceed strained [1];
    "softened" softened_bond softened [3, 1];
    "damage" damage damage [1, 1, 1];
    "linear_energy" linear_energy linear_energy [1];
    "section_stiffness" stiffness stiffness [1, 1, 1, 1];
    "damping" damping_bond damping [3, 3, 3];
    "coefficient" coefficient coefficient [1];
    "contact" contact_results contact [3, 3, 3, 1];
    "parameters" parameters parameters [1, 1, 1, 1];
    "arms" arms arms [1, 1];
    "wall" wall wall [3, 1, 1];
    "energy" contact_energy contact_energy [1];
    "kick" kick kick [3];
    "add_to_pair" add_to_pair pair [1, 1];
    "turn" turn turn [4, 3];
    "separation" separation separation [3];
    "rotate" rotate rotate [3];
    "product" product rotations [4];
    "normalised" normalised rotations [4];
    "from_rotation_vector" from_rotation_vector rotation_vector [4];
    "rotation_between" rotation_between rotations [3];
    "half_space" half_space half_space [1, 3];
    "sphere" sphere sphere [1, 3];
    "cuboid" cuboid cuboid [1, 3];
    "cylinder" cylinder cylinder [1, 3];
    "surface_velocity" surface_velocity surface_velocity [3];
}

fn flat_vectors<T: Real>(vectors: &[Vec3<T>]) -> Vec<T> {
    vectors.iter().flat_map(|v| [v.x, v.y, v.z]).collect()
}

fn flat_quaternion<T: Real>(q: Quat<T>) -> Vec<T> {
    vec![q.v.x, q.v.y, q.v.z, q.w]
}

/// A load with only the components that criteria and energies use.
fn load_components<T: Real>(a: &[T]) -> BondLoad<T> {
    BondLoad {
        force: Vec3::zero(),
        moment: Vec3::zero(),
        axial: a[0],
        shear: vec3(&a[1..]),
        twist: vec3(&a[4..]),
        bend: vec3(&a[7..]),
    }
}

/// force_i, torque_i, torque_j, axial force, σ, τ, energy.
fn energy_bond_results<B: BondLaw, T: Real>(a: &[T]) -> Vec<T> {
    let at = BondState {
        x: vec3(a),
        q_i: rotation(&a[3..]),
        q_j: rotation(&a[7..]),
        unapplied: vec3(&a[11..]),
        rest_direction: vec3(&a[14..]),
        rest_length: a[17],
        k: bond_stiffness(&a[18..]),
    };
    let load = B::load(at);
    let alike = arm_torque(at.x, load.force);
    let (moment, opposite) = (alike + load.moment, alike - load.moment);
    let mut all = flat_vectors(&[load.force, moment, opposite]);
    let (sigma, tau) = failure::stress(&load, &section(&a[22..]));
    all.extend([load.axial, sigma, tau, B::energy(at, &load)]);
    all
}

fn manifold_results<T: Real>(a: &[T]) -> Vec<T> {
    energy_bond_results::<Manifold, T>(a)
}

fn cosserat_results<T: Real>(a: &[T]) -> Vec<T> {
    energy_bond_results::<Cosserat, T>(a)
}

fn stress<T: Real>(a: &[T]) -> Vec<T> {
    let (sigma, tau) = failure::stress(&load_components(a), &section(&a[10..]));
    vec![sigma, tau]
}

fn may_exceed<T: Real>(a: &[T]) -> Vec<T> {
    let may = failure::may_exceed(&load_components(a), &section(&a[10..]), a[15], a[16]);
    vec![T::select(may, T::splat(1.0), T::zero())]
}

/// u_f, then what is left of stiffness and strength.
fn damage<T: Real>(a: &[T]) -> Vec<T> {
    let before = Left {
        stiffness: a[0],
        strength: a[1],
    };
    let end = softening::end(a[2], a[3], a[4]);
    let left = softening::left_at(softening::reached(before, a[3]), end);
    vec![end, left.stiffness, left.strength]
}

fn linear_energy<T: Real>(a: &[T]) -> Vec<T> {
    let k = bond_stiffness(&a[11..]);
    vec![bond::linear_energy(&load_components(a), a[10], k)]
}

fn stiffness<T: Real>(a: &[T]) -> Vec<T> {
    let k = bond::stiffness(a[0], a[1], a[2], a[3], a[4]);
    vec![k.normal, k.shear, k.twist, k.bend]
}

fn damping_bond<T: Real>(a: &[T]) -> Vec<T> {
    let (w_i, w_j) = (vec3(&a[6..]), vec3(&a[9..]));
    let (force, moment) = damping::bond(vec3(a), vec3(&a[3..]), w_i, w_j, a[12], a[13]);
    flat_vectors(&[force, arm_torque(vec3(a), force), moment])
}

fn coefficient<T: Real>(a: &[T]) -> Vec<T> {
    vec![damping::coefficient(a[0], a[1], a[2], a[3])]
}

fn parameters<T: Real>(a: &[T]) -> Vec<T> {
    let pair = SurfacePair {
        modulus: a[0],
        shear_ratio: a[1],
        friction: a[2],
        damping_ratio: a[3],
    };
    let k = contact::parameters(pair, a[4], a[5], a[6], a[7]);
    vec![k.normal, k.tangential, k.friction, k.damping]
}

fn arms<T: Real>(a: &[T]) -> Vec<T> {
    let (i, j) = contact::arms(vec3(a), a[3], a[4]);
    vec![i, j]
}

fn wall<T: Real>(a: &[T]) -> Vec<T> {
    let wall = contact::wall(a[0], vec3(&a[1..]), a[4]);
    let mut all = flat_vectors(&[wall.x]);
    all.extend([wall.touch, wall.arm]);
    all
}

fn contact_energy<T: Real>(a: &[T]) -> Vec<T> {
    let k = contact_parameters(&a[4..]);
    vec![contact::energy(a[0], vec3(&a[1..]), k)]
}

fn kick<T: Real>(a: &[T]) -> Vec<T> {
    let field = vec3(&a[7..]);
    flat_vectors(&[motion::kick(
        vec3(a),
        vec3(&a[3..]),
        a[6],
        field,
        a[10],
        a[11],
    )])
}

fn add_to_pair<T: Real>(a: &[T]) -> Vec<T> {
    let (high, low) = motion::add_to_pair(a[0], a[1], a[2]);
    vec![high, low]
}

fn turn<T: Real>(a: &[T]) -> Vec<T> {
    let (q, left) = motion::turn(rotation(a), vec3(&a[4..]), vec3(&a[7..]));
    let mut all = flat_quaternion(q);
    all.extend(flat_vectors(&[left]));
    all
}

fn separation<T: Real>(a: &[T]) -> Vec<T> {
    let (high_j, low_j) = (vec3(&a[6..]), vec3(&a[9..]));
    flat_vectors(&[motion::separation(vec3(a), vec3(&a[3..]), high_j, low_j)])
}

fn rotate<T: Real>(a: &[T]) -> Vec<T> {
    flat_vectors(&[rotation(a).rotate(vec3(&a[4..]))])
}

fn product<T: Real>(a: &[T]) -> Vec<T> {
    flat_quaternion(rotation(a).product(rotation(&a[4..])))
}

fn normalised<T: Real>(a: &[T]) -> Vec<T> {
    flat_quaternion(rotation(a).normalised())
}

fn from_rotation_vector<T: Real>(a: &[T]) -> Vec<T> {
    flat_quaternion(Quat::from_rotation_vector(vec3(a)))
}

/// The rotation vector from the quaternion in the first four numbers to the one in the next four.
pub fn rotation_between<T: Real>(a: &[T]) -> Vec<T> {
    flat_vectors(&[quat::rotation_between(rotation(a), rotation(&a[4..]))])
}

fn seen<T: Real>(nearest: Nearest<T>) -> Vec<T> {
    let mut all = vec![nearest.distance];
    all.extend(flat_vectors(&[nearest.normal]));
    all
}

fn half_space<T: Real>(a: &[T]) -> Vec<T> {
    seen(solid::half_space(vec3(a), vec3(&a[3..])))
}

fn sphere<T: Real>(a: &[T]) -> Vec<T> {
    seen(solid::sphere(vec3(a), a[3]))
}

fn cuboid<T: Real>(a: &[T]) -> Vec<T> {
    seen(solid::cuboid(vec3(a), vec3(&a[3..])))
}

fn cylinder<T: Real>(a: &[T]) -> Vec<T> {
    seen(solid::cylinder(vec3(a), a[3], a[4]))
}

fn surface_velocity<T: Real>(a: &[T]) -> Vec<T> {
    let nearest = Nearest {
        distance: a[3],
        normal: vec3(&a[4..]),
    };
    let (velocity, spin) = (vec3(&a[7..]), vec3(&a[10..]));
    flat_vectors(&[solid::surface_velocity(vec3(a), nearest, velocity, spin)])
}
