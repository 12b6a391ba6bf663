//! Counts the floating-point operations of the laws, by running each law once on numbers that count.
//!
//! Additions, subtractions, multiplications, divisions and roots count as one operation each, fused multiply-adds
//! as two; signs, comparisons and selections as none. The states are typical of nearly all bonds, so that what the
//! laws skip for these is not counted. Other work of a kernel (sums over bonds, transposes, indices, a bond
//! evaluated on both of its sides) is not counted either: the figure is the work that any implementation has to do.

use std::cell::Cell;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Sub};

use cullet::laws::bdem;
use cullet::laws::bond::{self, Stiffness};
use cullet::laws::contact::{self, ContactState, SurfacePair};
use cullet::laws::failure::{self, CriterionSection};
use cullet::laws::{damping, motion};
use cullet::math::{Mask, Quat, Real, Vec3};

thread_local! {
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
}

/// A number that counts the operations on it, per thread.
#[derive(Clone, Copy, Debug)]
pub struct Counted(f64);

/// Outcome of a comparison of [`Counted`].
#[derive(Clone, Copy, Debug)]
pub struct Truth(bool);

fn counted(value: f64) -> Counted {
    OPERATIONS.set(OPERATIONS.get() + 1);
    Counted(value)
}

macro_rules! counting {
    ($($operator:ident $method:ident $sign:tt),*) => {$(
        impl $operator for Counted {
            type Output = Self;
            fn $method(self, other: Self) -> Self {
                counted(self.0 $sign other.0)
            }
        }
    )*};
}
counting!(Add add +, Sub sub -, Mul mul *, Div div /);

impl Neg for Counted {
    type Output = Self;
    fn neg(self) -> Self {
        Counted(-self.0)
    }
}

impl BitAnd for Truth {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Truth(self.0 & other.0)
    }
}

impl BitOr for Truth {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Truth(self.0 | other.0)
    }
}

impl Mask for Truth {
    fn all(self) -> bool {
        self.0
    }
}

impl Real for Counted {
    type Mask = Truth;
    fn splat(value: f64) -> Self {
        Counted(value)
    }
    fn sqrt(self) -> Self {
        counted(self.0.sqrt())
    }
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        self * factor + addend
    }
    fn abs(self) -> Self {
        Counted(self.0.abs())
    }
    fn lt(self, other: Self) -> Truth {
        Truth(self.0 < other.0)
    }
    fn select(mask: Truth, yes: Self, no: Self) -> Self {
        if mask.0 { yes } else { no }
    }
}

/// Number of operations of `work`.
pub fn operations<T>(work: impl FnOnce() -> T) -> u64 {
    let before = OPERATIONS.get();
    work();
    OPERATIONS.get() - before
}

fn number(value: f64) -> Counted {
    Counted(value)
}

fn vector(x: f64, y: f64, z: f64) -> Vec3<Counted> {
    Vec3::new(number(x), number(y), number(z))
}

fn unit() -> Quat<Counted> {
    Quat::new(number(0.0), number(0.0), number(0.0), number(1.0))
}

/// Operations for one bond at small strain and far from breaking: separation, stiffnesses, loads, damping and
/// the check of its strengths.
pub fn per_bond() -> u64 {
    let (zero, x) = (vector(0.0, 0.0, 0.0), vector(2.0, 0.0, 0.0));
    let at_j = zero;
    let section = CriterionSection {
        inverse_area: number(1.0),
        bend_modulus: number(1.0),
        twist_modulus: number(1.0),
        compression_counts: number(0.0),
        inverse_shear_area: number(1.0),
    };
    operations(|| {
        let x = motion::separation(x, zero, zero, zero);
        let k: Stiffness<Counted> = bond::stiffness(
            number(1.0),
            number(1.0),
            number(1.0),
            number(1.0),
            number(2.0),
        );
        let unapplied = at_j - zero;
        let direction = vector(-1.0, 0.0, 0.0);
        let load = bdem::bond(x, unit(), unit(), unapplied, direction, number(2.0), k);
        let damped = damping::bond(x, zero - at_j, zero, at_j, number(1.0), number(1.0));
        (
            failure::may_exceed(&load, &section, number(1.0), number(1.0)),
            damped,
        )
    })
}

/// Operations for the motion of one element: both kicks of velocity and spin, the drift of a two-word
/// position, the rotation.
pub fn per_element() -> u64 {
    let (zero, one) = (vector(0.0, 0.0, 0.0), number(1.0));
    operations(|| {
        let kicked = [(); 4].map(|()| motion::kick(zero, zero, one, zero, one, one));
        let moved = kicked[0] * one;
        for step in [moved.x, moved.y, moved.z] {
            motion::add_to_pair(one, one, step);
        }
        motion::turn(unit(), zero, kicked[1] * one)
    })
}

/// Operations for one contact: separation, arms, parameters, loads and friction.
pub fn per_contact() -> u64 {
    let (zero, one) = (vector(0.0, 0.0, 0.0), number(1.0));
    let at_j = zero;
    let pair = SurfacePair {
        modulus: one,
        shear_ratio: one,
        friction: one,
        damping_ratio: one,
    };
    operations(|| {
        let x = motion::separation(vector(1.9, 0.0, 0.0), zero, zero, zero);
        let (arm_i, arm_j) = contact::arms(x, one, one);
        let state = ContactState {
            x,
            v: zero - at_j,
            w_i: zero,
            w_j: at_j,
            arm_i,
            arm_j,
            touch: number(2.0),
            spring: zero,
        };
        contact::contact(state, one, contact::parameters(pair, one, one, one, one))
    })
}
