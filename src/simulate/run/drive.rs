//! The loop over frames: asks an engine for steps and frames, and hands the frames over in order.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::simulate::error::SimulateError;
use crate::simulate::method::{Capture, Method};
use crate::simulate::run_state::state::State;

/// Which frames a run makes.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Frame at which the engine stands.
    pub start: u32,
    /// Whether that frame is to be made too; a resumed run has it on disk.
    pub anew: bool,
    /// Last frame; it comes with a state.
    pub last: u32,
    /// Steps from frame to frame.
    pub steps_per_frame: u64,
    /// Frames from state to state.
    pub state_every: u32,
}

/// What a run hands over.
#[derive(Debug)]
pub enum Delivery {
    /// A frame, with its state where an engine gives both in one.
    Frame {
        /// The frame.
        capture: Box<Capture>,
        /// Whether its state follows: it is made when the frame has been taken.
        state_follows: bool,
    },
    /// The state of the frame just handed over.
    State(Box<State>),
}

/// Takes what is delivered and tells whether it can take more.
pub type Sink<'a> = dyn FnMut(u32, Delivery) -> bool + 'a;

/// Runs the course: while a frame is brought in, an engine that works [`ahead`](Method::ahead) is busy with the next.
///
/// Ends early when `stop` is set, with the state of the last frame, or when the sink is full. Frames asked
/// for before a stop or a failure are still handed over; of two failures the earlier frame's is returned.
pub fn drive(
    engine: &mut dyn Method,
    course: &Course,
    stop: &AtomicBool,
    sink: &mut Sink,
) -> Result<(), SimulateError> {
    let ahead = engine.ahead();
    let mut frames = Outstanding {
        next: course.start + u32::from(!course.anew),
        asked: course.start + 1,
    };
    let apart = engine.has_state_apart();
    if course.anew {
        engine.capture(course.start, !apart && course.state_due(course.start))?;
    }
    let mut asked = Ok(());
    let mut stopped = false;
    for frame in course.start + 1..=course.last {
        if !frames.bring_in(engine, course, ahead, sink)? {
            return Ok(());
        }
        stopped = stop.load(Ordering::Relaxed);
        if stopped {
            break;
        }
        asked = engine
            .advance(course.steps_per_frame)
            .and_then(|()| engine.capture(frame, !apart && course.state_due(frame)));
        if asked.is_err() {
            break;
        }
        frames.asked += 1;
    }
    if frames.bring_in(engine, course, 0, sink)? && stopped {
        let last = frames.next - 1;
        if last > course.start && !course.state_due(last) {
            state_of(engine, last, sink)?;
        }
    }
    asked
}

/// The state of the last frame delivered, where the engine still stands.
fn state_of(engine: &mut dyn Method, frame: u32, sink: &mut Sink) -> Result<(), SimulateError> {
    let state = if engine.has_state_apart() {
        engine.state_apart(frame)
    } else {
        engine.capture(frame, true)?;
        engine.deliver()?.state
    };
    if let Some(state) = state {
        sink(frame, Delivery::State(Box::new(state)));
    }
    Ok(())
}

impl Course {
    fn state_due(&self, frame: u32) -> bool {
        frame.is_multiple_of(self.state_every.max(1)) || frame == self.last
    }
}

/// Frames asked for and not yet delivered: `next..asked`.
struct Outstanding {
    next: u32,
    asked: u32,
}

impl Outstanding {
    /// Delivers the oldest frames until no more than `left` are outstanding; `false` when the sink is full.
    fn bring_in(
        &mut self,
        engine: &mut dyn Method,
        course: &Course,
        left: usize,
        sink: &mut Sink,
    ) -> Result<bool, SimulateError> {
        while (self.asked - self.next) as usize > left {
            let frame = self.next;
            self.next += 1;
            let state_follows = engine.has_state_apart() && course.state_due(frame);
            let capture = Box::new(engine.deliver()?);
            let taken = Delivery::Frame {
                capture,
                state_follows,
            };
            if !sink(frame, taken) {
                return Ok(false);
            }
            if state_follows
                && let Some(state) = engine.state_apart(frame)
                && !sink(frame, Delivery::State(Box::new(state)))
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::error::StateError;
    use crate::simulate::method::Place;
    use crate::simulate::run_state::snapshot::Snapshot;
    use crate::simulate::run_state::state::State;

    /// Notes what it is asked for, and fails where it is told to.
    #[derive(Default)]
    struct Recorder {
        ahead: usize,
        calls: Vec<String>,
        frame: u64,
        outstanding: std::collections::VecDeque<u32>,
        /// Frame on the way to which stepping is refused.
        refused: Option<u64>,
        /// Frame whose delivery fails.
        spoilt: Option<u32>,
        /// Whether states come apart from frames.
        apart: bool,
    }

    fn failure(step: u64) -> Result<(), SimulateError> {
        Err(SimulateError::NotFinite {
            step,
            time: 0.0,
            element: 0,
        })
    }

    impl Method for Recorder {
        fn advance(&mut self, steps: u64) -> Result<(), SimulateError> {
            self.frame += 1;
            self.calls.push(format!("step {steps}"));
            if self.refused == Some(self.frame) {
                failure(self.frame)?;
            }
            Ok(())
        }
        fn step(&self) -> u64 {
            self.frame
        }
        fn capture(&mut self, frame: u32, state: bool) -> Result<(), SimulateError> {
            let with = if state { "!" } else { "" };
            self.calls.push(format!("ask {frame}{with}"));
            self.outstanding.push_back(frame);
            Ok(())
        }
        fn deliver(&mut self) -> Result<Capture, SimulateError> {
            let frame = self.outstanding.pop_front().unwrap();
            self.calls.push(format!("get {frame}"));
            if self.spoilt == Some(frame) {
                failure(u64::from(frame))?;
            }
            let mut snapshot = Snapshot::default();
            snapshot.history.frame = vec![frame];
            Ok(Capture {
                snapshot,
                state: None,
            })
        }
        fn has_state_apart(&self) -> bool {
            self.apart
        }
        fn state_apart(&mut self, frame: u32) -> Option<State> {
            self.calls.push(format!("state {frame}"));
            None
        }
        fn place(&self) -> Place {
            Place {
                name: "recorder".into(),
                device_bytes: None,
            }
        }
        fn ahead(&self) -> usize {
            self.ahead
        }
        fn restore(&mut self, _: &State) -> Result<(), StateError> {
            Ok(())
        }
    }

    const COURSE: Course = Course {
        start: 0,
        anew: true,
        last: 3,
        steps_per_frame: 7,
        state_every: 2,
    };

    /// Drives the engine; the flag is set with frame `stop`, the sink is full with frame `full`.
    fn run(
        engine: &mut Recorder,
        course: &Course,
        (stop, full): (Option<u32>, Option<u32>),
    ) -> (Vec<u32>, Option<u64>) {
        let flag = AtomicBool::new(false);
        let mut sunk = Vec::new();
        let result = drive(engine, course, &flag, &mut |frame, delivery| {
            let Delivery::Frame { capture, .. } = delivery else {
                panic!("it has no states");
            };
            assert_eq!(capture.snapshot.history.frame, [frame]);
            sunk.push(frame);
            flag.fetch_or(stop == Some(frame), Ordering::Relaxed);
            full != Some(frame)
        });
        let step = match result {
            Ok(()) => None,
            Err(SimulateError::NotFinite { step, .. }) => Some(step),
            Err(other) => panic!("{other}"),
        };
        (sunk, step)
    }

    fn recorder(ahead: usize) -> Recorder {
        Recorder {
            ahead,
            ..Recorder::default()
        }
    }

    #[test]
    fn in_place_every_frame_is_brought_in_before_the_next_is_begun() {
        let mut engine = recorder(0);
        let (sunk, error) = run(&mut engine, &COURSE, (None, None));
        assert_eq!((sunk, error), (vec![0, 1, 2, 3], None));
        let calls =
            "ask 0!, get 0, step 7, ask 1, get 1, step 7, ask 2!, get 2, step 7, ask 3!, get 3";
        assert_eq!(engine.calls.join(", "), calls);
    }

    #[test]
    fn a_state_that_comes_apart_is_made_when_its_frame_has_been_taken() {
        let mut engine = recorder(0);
        engine.apart = true;
        let (sunk, error) = run(&mut engine, &COURSE, (None, None));
        assert_eq!((sunk, error), (vec![0, 1, 2, 3], None));
        let calls = "ask 0, get 0, state 0, step 7, ask 1, get 1, step 7, ask 2, get 2, state 2, \
                     step 7, ask 3, get 3, state 3";
        assert_eq!(engine.calls.join(", "), calls);
        // Where the sink is full there is no use for one.
        let mut engine = recorder(0);
        engine.apart = true;
        run(&mut engine, &COURSE, (None, Some(0)));
        assert_eq!(engine.calls.join(", "), "ask 0, get 0");
    }

    #[test]
    fn a_device_is_busy_with_the_next_frame_while_one_is_brought_in() {
        let mut engine = recorder(1);
        let (sunk, error) = run(&mut engine, &COURSE, (None, None));
        assert_eq!((sunk, error), (vec![0, 1, 2, 3], None));
        let calls =
            "ask 0!, step 7, ask 1, get 0, step 7, ask 2!, get 1, step 7, ask 3!, get 2, get 3";
        assert_eq!(engine.calls.join(", "), calls);
    }

    #[test]
    fn a_resumed_run_goes_on_with_the_next_frame() {
        let mut engine = recorder(1);
        let course = Course {
            start: 1,
            anew: false,
            ..COURSE
        };
        let (sunk, error) = run(&mut engine, &course, (None, None));
        assert_eq!((sunk, error), (vec![2, 3], None));
        let calls = "step 7, ask 2!, step 7, ask 3!, get 2, get 3";
        assert_eq!(engine.calls.join(", "), calls);
    }

    #[test]
    fn a_resumed_run_that_is_over_does_nothing() {
        let mut engine = recorder(1);
        let course = Course {
            start: 5,
            anew: false,
            ..COURSE
        };
        assert_eq!(run(&mut engine, &course, (None, None)), (vec![], None));
        assert_eq!(engine.calls, [""; 0]);
    }

    #[test]
    fn frames_before_a_failed_delivery_are_handed_over() {
        let mut engine = recorder(1);
        engine.spoilt = Some(2);
        assert_eq!(
            run(&mut engine, &COURSE, (None, None)),
            (vec![0, 1], Some(2))
        );
    }

    #[test]
    fn frames_asked_for_before_a_refused_step_are_handed_over() {
        for ahead in [0, 1] {
            let mut engine = recorder(ahead);
            engine.refused = Some(2);
            assert_eq!(
                run(&mut engine, &COURSE, (None, None)),
                (vec![0, 1], Some(2))
            );
        }
        // The frame that was outstanding is the one that failed.
        let mut engine = recorder(1);
        (engine.refused, engine.spoilt) = (Some(2), Some(1));
        assert_eq!(run(&mut engine, &COURSE, (None, None)), (vec![0], Some(1)));
    }

    #[test]
    fn a_stopped_run_ends_with_what_was_asked_for() {
        let mut engine = recorder(0);
        let (sunk, error) = run(&mut engine, &COURSE, (Some(1), None));
        assert_eq!((sunk, error), (vec![0, 1], None));
        let mut engine = recorder(1);
        let (sunk, error) = run(&mut engine, &COURSE, (Some(1), None));
        assert_eq!((sunk, error), (vec![0, 1, 2], None));
        assert!(engine.outstanding.is_empty());
    }

    #[test]
    fn a_stopped_run_leaves_a_state_of_its_last_frame() {
        let calls = |apart: bool, stop: u32, course: &Course| {
            let mut engine = recorder(usize::from(!apart));
            engine.apart = apart;
            run(&mut engine, course, (Some(stop), None));
            engine.calls.join(", ")
        };
        let often = calls(true, 1, &COURSE);
        assert_eq!(
            often,
            "ask 0, get 0, state 0, step 7, ask 1, get 1, state 1"
        );
        // Frame 2 has one by itself.
        assert!(calls(true, 2, &COURSE).ends_with("get 2, state 2"));
        let ahead = calls(false, 0, &COURSE);
        assert_eq!(ahead, "ask 0!, step 7, ask 1, get 0, get 1, ask 1!, get 1");
        // Nothing came after the state that a resumed run began with.
        let resumed = Course {
            start: 1,
            anew: false,
            ..COURSE
        };
        let flag = AtomicBool::new(true);
        let mut engine = recorder(0);
        drive(&mut engine, &resumed, &flag, &mut |_, _| true).unwrap();
        assert_eq!(engine.calls, [""; 0]);
    }

    #[test]
    fn a_full_sink_gets_nothing_more() {
        for ahead in [0, 1] {
            let mut engine = recorder(ahead);
            let (sunk, error) = run(&mut engine, &COURSE, (None, Some(1)));
            assert_eq!((sunk, error), (vec![0, 1], None));
        }
    }
}
