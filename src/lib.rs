//! Bonded discrete elements from packing to fragment meshes.
//!
//! A shot runs in stages that meet only in the [frame store](store): [`pack`] fills shapes with bonded
//! elements, [`simulate`] integrates them in time while bonds break, [`reconstruct`] rebuilds the surfaces of
//! the fragments, [`export`] hands them to renderers, [`preview`] draws them and [`plot`] makes charts. A
//! [pipeline file](spec) describes the shot. The physics stands in [`laws`], each formula once.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use cullet::{pack, simulate, spec, store::{Manifest, Store}};
//!
//! let shot = spec::read("pipelines/single_bond.toml".as_ref(), &[])?;
//! let store = Store::at("out/single_bond");
//! pack::write(&store, &pack::pack(&shot.pipeline, &shot.folder)?)?;
//! Manifest::new(shot.pipeline.clone()).write(&store)?;
//! let options = simulate::Options { backend: None, adapter: None, start: simulate::Start::Anew, until: None, inherited: None };
//! simulate::run(&store, &shot.pipeline, &options, &AtomicBool::new(false), &mut |_| ())?;
//! println!("{} bonds broke", store.read_history(1)?.broken[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used))] // a panic is a failed test

pub mod bem;
pub mod cli;
pub mod columns;
pub mod export;
pub mod geometry;
pub mod gpu;
pub mod laws;
pub mod math;
pub mod pack;
mod parallel;
mod picture;
pub mod plot;
pub mod preview;
pub mod reconstruct;
pub mod simulate;
pub mod solve;
pub mod spec;
pub mod store;
pub mod stress;
pub mod units;
