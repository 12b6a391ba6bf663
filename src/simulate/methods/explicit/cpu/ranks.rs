//! The step on several ranks: exchange of ghosts, and load balancing.

use std::time::Instant;

use super::Cpu;
use super::loads::Part;
use crate::math::Lanes;
use crate::simulate::bonded::border::Border;
use crate::simulate::bonded::work;
use crate::simulate::bonded_run::costs::Timer;
use crate::simulate::bonded_run::ranks::ListUpdate;
use crate::simulate::share::ranks::Receivers;

/// What a rebalance is assumed to cost until one has been measured, thread-seconds.
pub(super) const FIRST_COST: f64 = 0.5;
/// Costs of chunks are forgotten once a rank has computed as long as this many rebalances take: where work is
/// uneven only later, old costs would hide it.
const REMEMBERED: f64 = 20.0;

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
        let sleep = &self.sleep;
        let is_asleep = |i| sleep.as_ref().is_some_and(|sleep| sleep.is_asleep(i));
        self.run.plan_exchange(self.rankine.is_some(), is_asleep);
    }

    /// Receives the rows of this rank's ghosts.
    pub(super) fn receive_ghosts(&mut self) {
        if let Some(mut exchange) = self.run.begin_exchange() {
            exchange.run(|| ());
            self.run.end_exchange(exchange);
        }
    }

    /// Updates the contact lists after a step in which elements and colliders moved at most these distances, m.
    pub(super) fn follow_lists_on_ranks(&mut self, distances: (f64, f64)) {
        let update = self.run.advance_lists(distances, &self.driven.colliders);
        // Where lists hold, chunks may still take longer than at the start.
        let moves = update != ListUpdate::None && self.rebalance();
        if update == ListUpdate::Rebuilt && !moves {
            self.plan_exchange();
        }
    }

    /// Rebalances once other owners of the chunks would have saved what a rebalance costs. Returns whether any chunk
    /// moved.
    pub(super) fn rebalance(&mut self) -> bool {
        if let Some(costs) = self.next_costs.take() {
            return self.rebalance_by(&costs);
        }
        let mut costs: Vec<f64> = self.chunk_costs.iter().map(Timer::seconds).collect();
        let each = |cost: &mut f64, act: &mut dyn FnMut(&mut f64)| act(cost);
        self.run
            .ranks
            .gather_chunks(Receivers::All, &mut costs, each);
        let sums = sums(self.run.ranks.owners(), &costs, self.run.ranks.count());
        let busiest = largest(&sums);
        let mean = sums.iter().sum::<f64>() / sums.len() as f64;
        if busiest - mean < self.rebalance_cost {
            if busiest > REMEMBERED * self.rebalance_cost {
                self.forget_costs();
            }
            return false;
        }
        self.forget_costs();
        self.rebalance_by(&costs)
    }

    fn forget_costs(&mut self) {
        self.chunk_costs.iter().for_each(|cost| {
            cost.take();
        });
    }

    /// Rebalances chunks by their costs (thread-seconds, equal on all ranks) if that saves as much as it costs. Returns
    /// whether any moved.
    fn rebalance_by(&mut self, costs: &[f64]) -> bool {
        let clock = Instant::now();
        let before = self.run.ranks.clone();
        let owner = self.run.balanced_owners(costs);
        let busiest = |owner: &[u32]| largest(&sums(owner, costs, before.count()));
        let saves = busiest(before.owners()) - busiest(&owner) >= self.rebalance_cost;
        if !saves || !self.run.move_chunks(owner, &self.driven.colliders) {
            return false;
        }
        before.gather_chunks(Receivers::All, &mut self.dissipation, |chunk, act| {
            work::each(chunk, act)
        });
        self.borders = Border::all(&self.run.system, &self.run.ranks.owned());
        self.plan_exchange();
        self.run.ranks.note_rebalance();
        let seconds = clock.elapsed().as_secs_f64();
        let mut cost = [seconds * rayon::current_num_threads() as f64];
        self.run.ranks.largest(&mut cost);
        self.rebalance_cost = cost[0];
        true
    }

    /// For tests: uses these costs when pair lists are next checked, thread-seconds; they must be equal on all ranks.
    pub fn rebalance_next(&mut self, costs: Vec<f64>) {
        self.next_costs = Some(costs);
    }
}

/// Costs of the chunks of each rank.
fn sums(owner: &[u32], costs: &[f64], ranks: usize) -> Vec<f64> {
    let mut sums = vec![0.0; ranks];
    for (&rank, cost) in owner.iter().zip(costs) {
        sums[rank as usize] += cost;
    }
    sums
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}
