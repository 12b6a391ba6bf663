//! glTF in its binary form: one file a frame, or one that plays the shot.

pub mod animated;
mod file;
pub mod part;
mod shape;
pub mod still;
