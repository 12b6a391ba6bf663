//! The surface of one fragment: its shape at rest, its texture, and how its elements deform it in a frame.

pub mod carried;
pub mod hold;
pub mod motion;
pub mod shell;
pub mod texture;
