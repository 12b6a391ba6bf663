//! What surrounds the pieces of a run.

use crate::simulate::bonded::system::System;
use crate::simulate::contact::lists::Contacts;
use crate::simulate::scene::colliders::PosedCollider;

/// The elements of a run and what surrounds them.
#[derive(Clone, Copy)]
pub struct Surroundings<'a, S> {
    /// Elements in their present places.
    pub system: &'a System<S>,
    /// Contact lists.
    pub contacts: &'a Contacts<S>,
    /// Colliders in their present poses.
    pub colliders: &'a [PosedCollider],
}
