//! What a device has been asked to do, in the order of phases, so that it can be asked again from any of them.

use super::launch::phase;

/// A piece of work asked for and not yet confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingTask {
    /// The loads at the start.
    Start {
        /// Step that the run starts at.
        step: u64,
    },
    /// Steps `from + 1` to `to`, velocities closed at the end.
    Steps {
        /// Step before the first.
        from: u64,
        /// Last step.
        to: u64,
    },
    /// The frame at a step.
    Capture {
        /// Its number.
        frame: u32,
        /// The step.
        step: u64,
        /// Whether the state is wanted.
        state: bool,
    },
}

/// Dispatches in the order of their phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// Loads before the first step.
    Start,
    /// First half of a frame's first step.
    Open,
    /// A force pass and the motion around it; the last one of a frame only closes its step.
    Move {
        /// Whether the next step is opened.
        open: bool,
    },
    /// Bonds are taken out.
    Break,
}

impl StepAction {
    /// Whether it writes the other motion column.
    pub fn flips(self) -> bool {
        self != StepAction::Break
    }
}

/// A step's phase as the kernels count.
pub fn at(step: u64, part: u32) -> u32 {
    step as u32 * phase::PHASES + part
}

/// The actions of steps `from + 1` to `to` that lie within a step, with their phases.
pub fn actions(step: u64, (from, to): (u64, u64)) -> impl Iterator<Item = (u32, StepAction)> {
    let opens = step == from;
    let first = opens.then_some((at(step, phase::OPEN), StepAction::Open));
    let open = step < to;
    let rest = [
        (at(step, phase::MOVE), StepAction::Move { open }),
        (at(step, phase::BREAK), StepAction::Break),
    ];
    first
        .into_iter()
        .chain(rest.into_iter().filter(move |_| !opens))
}

impl PendingTask {
    /// How often the motion column changes in those of its actions that lie up to phase `halt`.
    pub fn flips(&self, halt: u32) -> u64 {
        match *self {
            PendingTask::Start { step } => u64::from(at(step, phase::MOVE) <= halt),
            PendingTask::Capture { .. } => 0,
            PendingTask::Steps { from, to } => (from..=to)
                .flat_map(|step| actions(step, (from, to)))
                .filter(|(when, action)| action.flips() && *when <= halt)
                .count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_opens_once_and_closes_once() {
        let list = |step| actions(step, (4, 6)).map(|(_, a)| a).collect::<Vec<_>>();
        assert_eq!(list(4), [StepAction::Open]);
        assert_eq!(list(5), [StepAction::Move { open: true }, StepAction::Break]);
        assert_eq!(list(6), [StepAction::Move { open: false }, StepAction::Break]);
        let task = PendingTask::Steps { from: 4, to: 6 };
        assert_eq!(task.flips(u32::MAX), 3);
        assert_eq!(task.flips(at(5, phase::BREAK)), 2);
        assert_eq!(task.flips(at(4, phase::CAPTURE)), 0);
    }
}
