//! The viewer: frames of stores in a browser, from a server on this machine or as one file.
//!
//! The page asks the server for one frame at a time, by addresses that `README.md` beside this file lists, and draws it
//! with WebGL. It shows the newest frames of a simulation that still runs.

mod arrays;
mod assets;
mod bonds;
mod colliders;
mod error;
mod frames;
mod http;
mod overview;
mod quantities;
mod recording;
mod routes;
mod server;
mod strengths;
mod surfaces;
mod tables;
mod viewed;

pub use error::ViewError;
pub use recording::write as write_page;
pub use server::ViewServer;
pub use viewed::ViewedStore;
