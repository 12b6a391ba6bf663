//! The surface of one fragment: its shape at rest, its attributes, and how its elements deform it in a frame.

pub mod attributes;
pub mod binding;
pub mod chips;
pub mod motion;
pub mod rest_surface;
pub mod rigged;
