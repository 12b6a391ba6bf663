//! Domain decomposition: which rank computes which chunk, and what ranks exchange.
//!
//! A rank owns whole chunks of elements: it steps them and evaluates their bonds and contacts. A bond or a
//! contact between two chunks is evaluated by both, with the same bits, so its loads are not sent. In every step a rank
//! receives the rows of its ghosts: the elements of others that its own are bonded to or may touch. All ranks agree on
//! the largest distances moved and on the bonds that broke. Rank 0 receives what frames and states record. Only
//! integers are summed across ranks; floating-point sums run over chunks in order. So results are bitwise equal for any
//! number of ranks.
//!
//! A rank holds the bonds of its own elements, and the rows of its own elements, of ghosts and of elements that were
//! near. Rank 0 receives those of all elements for each frame and each state, but only some at a time. Columns have the
//! length and the numbering of one process; pages of other rows are never written, so that the system gives them no
//! memory. With Rankine's criterion, bonds that soften or fragments that sleep, every rank holds all.

pub mod bisection;
pub mod bytes;
mod chunk_box;
mod ghost_rows;
mod ghosts;
pub mod ranks;
pub mod shared;
mod team;
mod windows;
