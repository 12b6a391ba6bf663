//! The tasks submitted to a device, in the order of phases, so that they can be resubmitted from any phase.

use super::launch::phase;

/// A task that was submitted and is not yet confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingTask {
    /// Loads at the start.
    Start {
        /// Step that the run starts at.
        step: u64,
    },
    /// Steps `from + 1` to `to`; velocities end at step `to`.
    Steps {
        /// Step before the first.
        from: u64,
        /// Last step.
        to: u64,
    },
    /// A frame.
    Capture {
        /// Number of the frame.
        frame: u32,
        /// Step of the frame.
        step: u64,
        /// Whether it has a checkpoint.
        state: bool,
    },
}

/// Actions of a step, in the order of their phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// Loads before the first step.
    Start,
    /// First half of a frame's first step.
    Open,
    /// A force pass and the motion around it; the last one of a frame only completes its step.
    Move {
        /// Whether it starts the next step.
        open: bool,
    },
    /// Removal of broken bonds.
    Break,
}

impl StepAction {
    /// Whether the action writes its result to the other of the two motion columns, so that they swap roles.
    pub fn flips(self) -> bool {
        self != StepAction::Break
    }
}

/// Number of a phase of a step, as the kernels count phases.
pub fn phase_number(step: u64, part: u32) -> u32 {
    step as u32 * phase::PHASES + part
}

/// The actions of steps `from + 1` to `to` that lie within a step, with their phases.
pub fn actions(step: u64, (from, to): (u64, u64)) -> impl Iterator<Item = (u32, StepAction)> {
    let opens = step == from;
    let first = opens.then_some((phase_number(step, phase::OPEN), StepAction::Open));
    let open = step < to;
    let rest = [
        (phase_number(step, phase::MOVE), StepAction::Move { open }),
        (phase_number(step, phase::BREAK), StepAction::Break),
    ];
    first
        .into_iter()
        .chain(rest.into_iter().filter(move |_| !opens))
}

impl PendingTask {
    /// Number of swaps of the motion columns by those of its actions whose phase is at most `halt`.
    pub fn flips(&self, halt: u32) -> u64 {
        match *self {
            PendingTask::Start { step } => u64::from(phase_number(step, phase::MOVE) <= halt),
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
        assert_eq!(
            list(5),
            [StepAction::Move { open: true }, StepAction::Break]
        );
        assert_eq!(
            list(6),
            [StepAction::Move { open: false }, StepAction::Break]
        );
        let task = PendingTask::Steps { from: 4, to: 6 };
        assert_eq!(task.flips(u32::MAX), 3);
        assert_eq!(task.flips(phase_number(5, phase::BREAK)), 2);
        assert_eq!(task.flips(phase_number(4, phase::CAPTURE)), 0);
    }
}
