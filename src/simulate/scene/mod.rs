//! What surrounds the elements: colliders, attachments and rigid bodies, and the loads on them.

pub mod attachments;
pub mod clamps;
pub mod colliders;
pub mod pressure;
pub mod reaction_sums;
pub mod reactions;
pub mod rigid;
pub mod rigid_body;
pub mod springs;
