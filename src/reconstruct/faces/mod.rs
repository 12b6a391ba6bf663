//! Both faces of every crack, meshed and joined to the cut skin.

pub mod divide;
pub mod extract;
pub mod fans;
pub mod place;
pub mod rough;
pub mod smooth;
pub mod surface;
