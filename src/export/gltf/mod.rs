//! Binary glTF: a still of one frame, or an animation of the shot.

pub mod animated;
mod file;
pub mod mesh;
mod shape;
pub mod still;
