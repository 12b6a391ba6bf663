//! Both faces of every crack, meshed and joined to the cut skin.

pub mod divide;
pub mod extract;
pub mod fair;
pub mod fans;
pub mod place;
pub mod rough;
pub mod surface;
