//! cullet simulates how solids break: it packs bodies with bonded elements, integrates them in time while bonds break,
//! rebuilds the surfaces of the fragments, and exports them to renderers.
//!
//! Begin with the [`guide`]: pages for [artists](guide::artist), [researchers](guide::researcher),
//! [engineers](guide::engineer) and [developers](guide::developer), and a page on each part.
//!
//! As a library, cullet offers its stages as functions. Stages share only the [frame store](store): [`pack`]
//! fills bodies with elements, [`simulate`] integrates them in time, [`reconstruct`] rebuilds surfaces,
//! [`export`] writes files for renderers, [`preview`] draws pictures, [`plot`] draws charts, [`view`] shows
//! frames in a browser, [`stress`] computes the stress at rest, [`calibrate`] tests specimens of a packing, [`jobs`]
//! writes the stages as jobs for render farms, [`ranks`] lets several processes simulate together.
//! A [pipeline file](spec) describes the shot. [`laws`] holds the physics, each formula once.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use cullet::{pack, simulate, spec, store::{Manifest, Store}};
//!
//! let shot = spec::read("pipelines/single_bond.toml".as_ref(), &[])?;
//! let store = Store::at("out/single_bond");
//! pack::write(&store, &pack::pack(&shot.pipeline, &shot.folder)?)?;
//! Manifest::new(shot.pipeline.clone()).write(&store)?;
//! let options = simulate::Options {
//!     backend: None,
//!     adapter: None,
//!     start: simulate::Start::Packing,
//!     until: None,
//!     inherited: None,
//! };
//! simulate::run(&store, &shot.pipeline, &options, &AtomicBool::new(false), &mut |_| ())?;
//! println!("{} bonds broke", store.read_history(1)?.broken[0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(test, allow(clippy::unwrap_used))] // a panic is a failed test

pub mod bem;
pub mod calibrate;
pub mod cli;
pub mod columns;
pub mod export;
pub mod geometry;
pub mod gpu;
pub mod guide;
pub mod jobs;
pub mod laws;
pub mod math;
pub mod pack;
mod parallel;
mod picture;
pub mod plot;
pub mod preview;
pub mod ranks;
pub mod reconstruct;
pub mod simulate;
pub mod solve;
pub mod spec;
pub mod store;
pub mod stress;
pub mod units;
pub mod view;
