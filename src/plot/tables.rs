//! Tables that charts are drawn from.

use crate::columns::{Breaks, Convergence, Fragments, History, Loads};
use crate::store::Packing;

/// Tables that charts are drawn from, one per frame in order; empty if the store has none.
pub struct ChartTables {
    pub history: Vec<History>,
    pub breaks: Vec<Breaks>,
    pub fragments: Vec<Fragments>,
    pub loads: Vec<Loads>,
    pub convergence: Vec<Convergence>,
    pub packing: Option<Packing>,
}
