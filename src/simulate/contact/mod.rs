//! Contact lists, contact properties, and the passes over contacts.

pub mod chunk;
pub mod collider_list;
pub mod listed;
pub mod lists;
pub mod near;
pub mod pair_list;
pub mod pair_pass;
pub mod pass;
pub mod polyhedra;
pub mod properties;
pub mod rebuild;
pub mod renew;
pub mod soft;
mod springs;
pub mod static_columns;
pub mod surfaces;
pub mod suspend;
