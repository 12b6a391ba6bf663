//! The step on several ranks: exchange of ghosts, and load balancing.

use super::Cpu;
use super::loads::Part;
use crate::math::Lanes;
use crate::ranks::Transport;
use crate::simulate::bonded::border::Border;
use crate::simulate::bonded::work;
use crate::simulate::bonded_run::costs::Timer;
use crate::simulate::bonded_run::ranks::ListUpdate;
use crate::simulate::share::ranks::Receivers;

/// Relative excess of the busiest rank over the mean cost that triggers rebalancing.
const IMBALANCE: f64 = 0.1;
/// Costs are compared once the busiest rank has computed this long, s; shorter times are noise.
const LEAST_TIME: f64 = 0.2;

/// Number of threads of all ranks.
pub(super) fn all_threads(transport: &dyn Transport) -> usize {
    let own = rayon::current_num_threads() as u64;
    let all = transport.gather_all(&own.to_ne_bytes());
    let threads = all
        .iter()
        .map(|bytes| bytemuck::pod_read_unaligned::<u64>(bytes));
    threads.sum::<u64>() as usize
}

impl<L: Lanes> Cpu<L> {
    /// Adds the loads of this rank's chunks: first of those that read no ghosts, while these are on their way.
    pub(super) fn add_loads_on_ranks(&mut self, dt: L::Scalar) {
        let exchange = match std::mem::take(&mut self.exchange_due) {
            true => self.run.begin_exchange(),
            false => None,
        };
        if let Some(mut exchange) = exchange {
            exchange.run(|| self.add_bonds_and_contacts(dt, Part::WithoutGhosts));
            self.run.end_exchange(exchange);
            self.add_bonds_and_contacts(dt, Part::WithGhosts);
        } else {
            self.add_bonds_and_contacts(dt, Part::All);
        }
    }

    /// Finds this rank's ghosts. Rankine's criterion reads the stress of both ends of a bond, and so all bonds of both.
    pub(super) fn plan_exchange(&mut self) {
        self.run.plan_exchange(self.rankine.is_some());
    }

    /// Updates the contact lists after a step in which elements and colliders moved at most these distances, m.
    pub(super) fn follow_lists_on_ranks(&mut self, distances: (f64, f64)) {
        let update = self.run.advance_lists(distances, &self.driven.colliders);
        // Where lists hold, chunks may still take longer than at the start.
        let moves = update != ListUpdate::None && self.rebalance();
        if update == ListUpdate::Rebuilt && !moves {
            self.plan_exchange();
        }
        self.exchange_due = true;
    }

    /// Rebalances if the busiest rank exceeds the mean cost since the last comparison by [`IMBALANCE`]. Returns whether
    /// any chunk moved.
    fn rebalance(&mut self) -> bool {
        if let Some(costs) = self.next_costs.take() {
            return self.rebalance_by(&costs);
        }
        let mut costs: Vec<f64> = self.chunk_costs.iter().map(Timer::seconds).collect();
        let each = |cost: &mut f64, act: &mut dyn FnMut(&mut f64)| act(cost);
        self.run
            .ranks
            .gather_chunks(Receivers::All, &mut costs, each);
        let mut sums = vec![0.0; self.run.ranks.count()];
        for (&rank, cost) in self.run.ranks.owners().iter().zip(&costs) {
            sums[rank as usize] += cost;
        }
        let busiest = sums.iter().copied().fold(0.0, f64::max);
        let mean = sums.iter().sum::<f64>() / sums.len() as f64;
        if busiest < LEAST_TIME {
            return false;
        }
        self.chunk_costs.iter().for_each(|cost| {
            cost.take();
        });
        busiest > (1.0 + IMBALANCE) * mean && self.rebalance_by(&costs)
    }

    /// Rebalances chunks by their costs (any unit, equal on all ranks). Returns whether any moved.
    fn rebalance_by(&mut self, costs: &[f64]) -> bool {
        let before = self.run.ranks.clone();
        if !self.run.rebalance_by(costs, &self.driven.colliders) {
            return false;
        }
        before.gather_chunks(Receivers::All, &mut self.dissipation, |chunk, act| {
            work::each(chunk, act)
        });
        self.borders = Border::all(&self.run.system, &self.run.ranks.owned());
        self.plan_exchange();
        self.rebalances += 1;
        true
    }

    /// How often chunks moved to other ranks.
    pub fn rebalances(&self) -> u64 {
        self.rebalances
    }

    /// For tests: uses these costs when pair lists are next checked; they must be equal on all ranks.
    pub fn rebalance_next(&mut self, costs: Vec<f64>) {
        self.next_costs = Some(costs);
    }
}
