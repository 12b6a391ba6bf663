//! The properties of one contact, and which of them lists of pairs keep.

use crate::laws::contact::ContactParameters;

/// Properties of one contact.
#[derive(Clone, Copy, Debug)]
pub struct ContactProperties<T> {
    /// Parameters of the contact law.
    pub k: ContactParameters<T>,
    /// Coefficient of static friction.
    pub static_friction: T,
    /// Coefficient of rolling friction.
    pub rolling: T,
}

/// Which forces act in some of the contacts between elements. Lists keep columns for these alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairFeatures {
    /// Whether anything resists rolling.
    pub rolling: bool,
    /// Whether static friction exceeds kinetic friction.
    pub static_friction: bool,
}
