//! How the elements of a run are shared out among ranks, and what these tell each other.
//!
//! A rank owns whole chunks of elements: it steps them, evaluates their bonds and lists their contacts. A bond or a
//! contact between two chunks is evaluated by both, with the same bits, so its loads are not sent. In every step a rank
//! gets the rows of the elements of others that its own are bonded to or may touch, and all ranks agree on the largest
//! distances moved and on the bonds that broke. Rank 0 gets what frames and states record. Nothing is added up across
//! ranks: sums run over chunks in their order. So the number of ranks does not change a bit.
//!
//! Every rank keeps the rows of all elements; those of elements that it neither owns nor needs are out of date.

pub mod bisection;
pub mod bytes;
pub mod ranks;
