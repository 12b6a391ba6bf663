//! The step on several ranks: who needs what, and who computes what once costs have changed.

use super::Cpu;
use super::loads::Part;
use crate::math::Lanes;
use crate::ranks::Transport;
use crate::simulate::bonded::border::Border;
use crate::simulate::bonded::work;
use crate::simulate::bonded_run::costs::Timer;
use crate::simulate::share::ranks::Receivers;

/// Part by which the busiest rank may exceed the mean before chunks are shared out anew.
const IMBALANCE: f64 = 0.1;
/// Time that the busiest rank must have computed before its cost means anything, s.
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
    /// Adds the loads of this rank's chunks: first of those that need no rows of others, while these are on their way.
    pub(super) fn add_loads_on_ranks(&mut self, dt: L::Scalar) {
        let exchange = match std::mem::take(&mut self.exchange_due) {
            true => self.run.begin_exchange(),
            false => None,
        };
        if let Some(mut exchange) = exchange {
            exchange.run(|| self.add_bonds_and_contacts(dt, Part::Inside));
            self.run.end_exchange(exchange);
            self.add_bonds_and_contacts(dt, Part::AtBorders);
        } else {
            self.add_bonds_and_contacts(dt, Part::All);
        }
    }

    /// Finds the elements of other ranks whose rows this one needs. By Rankine's criterion a bond breaks by the
    /// stresses of both ends, each of which follows from all bonds of that element.
    pub(super) fn plan_exchange(&mut self) {
        self.run.plan_exchange(self.rankine.is_some());
    }

    /// Brings contact lists up to date after a step in which elements and colliders moved at most these distances, m.
    pub(super) fn follow_lists_on_ranks(&mut self, distances: (f64, f64)) {
        if self.run.advance_lists(distances, &self.driven.colliders) && !self.rebalance() {
            self.plan_exchange();
        }
        self.exchange_due = true;
    }

    /// Shares chunks out anew if some rank needed much longer than others since the last time; returns whether it did.
    fn rebalance(&mut self) -> bool {
        if let Some(costs) = self.next_costs.take() {
            return self.share_out_again(&costs);
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
        busiest > (1.0 + IMBALANCE) * mean && self.share_out_again(&costs)
    }

    /// Shares chunks out anew by what a step of each costs, in any unit; all ranks pass the same costs. Returns whether
    /// any chunk got another rank.
    fn share_out_again(&mut self, costs: &[f64]) -> bool {
        let before = self.run.ranks.clone();
        self.run.receive_all_rows();
        if !self.run.share_out_again(costs, &self.driven.colliders) {
            return false;
        }
        before.gather_chunks(Receivers::All, &mut self.dissipation, |chunk, act| {
            work::each(chunk, act)
        });
        self.borders = Border::all(&self.run.system, &self.run.ranks.owned());
        self.plan_exchange();
        true
    }

    /// Shares chunks out by these costs when they could next be shared out, for tests; all ranks pass the same costs.
    pub fn share_out_next(&mut self, costs: Vec<f64>) {
        self.next_costs = Some(costs);
    }
}
