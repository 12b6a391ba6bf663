//! Loads on the elements of a piece.

use glam::DVec3;

/// Load on an element of a piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElementLoad {
    /// The element.
    pub element: u32,
    /// Force, N.
    pub force: DVec3,
    /// Torque, N m.
    pub torque: DVec3,
}

/// A touch that just begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blow {
    /// The element.
    pub element: u32,
    /// Largest normal force that it may come to if the piece is rigid, N.
    pub force: DVec3,
    /// Normal force now, N.
    pub now: DVec3,
    /// Elastic energy that the contact has under the largest force, J.
    pub energy: f64,
}

/// One load per element, ascending.
pub fn merged(mut loads: Vec<ElementLoad>) -> Vec<ElementLoad> {
    loads.sort_by_key(|one| one.element);
    loads.dedup_by(|later, first| {
        let same = later.element == first.element;
        if same {
            first.force += later.force;
            first.torque += later.torque;
        }
        same
    });
    loads
}

/// Loads less others, both by ascending element.
pub fn differences(loads: &[ElementLoad], others: &[ElementLoad]) -> Vec<ElementLoad> {
    let gone = |one: &ElementLoad| ElementLoad {
        force: -one.force,
        torque: -one.torque,
        ..*one
    };
    let (mut out, mut others) = (Vec::with_capacity(loads.len()), others.iter().peekable());
    for load in loads {
        while let Some(other) = others.next_if(|other| other.element < load.element) {
            out.push(gone(other));
        }
        let same = others.next_if(|other| other.element == load.element);
        let (force, torque) = same.map_or_else(Default::default, |one| (one.force, one.torque));
        out.push(ElementLoad {
            force: load.force - force,
            torque: load.torque - torque,
            ..*load
        });
    }
    out.extend(others.map(gone));
    out
}
