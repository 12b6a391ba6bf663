//! All integration tests in one binary, since each binary links everything again.
#![allow(clippy::unwrap_used)] // a panic is a failed test

mod bench;
mod bending;
mod charts;
mod clamps;
mod codecs;
mod device;
mod drilling;
mod energy;
mod energy_bonds;
mod explicit_laws;
mod external;
mod foreign;
mod gpu_laws;
mod harness;
mod implicit;
mod implicit_scenes;
mod lawgen;
mod loads;
mod materials;
mod mesh_colliders;
mod pipeline;
mod properties;
mod random;
mod refusals;
mod rigid;
mod sand;
mod scenes;
mod shells;
mod statics;
mod store;
mod twisting;
mod vectors;
mod work;
mod yarns;
