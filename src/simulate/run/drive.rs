//! The loop over frames: lets a method compute steps and frames, and passes the frames to a sink in order.

use crate::columns::Frames;
use crate::parallel::on_pool;
use crate::simulate::error::SimulateError;
use crate::simulate::method::{Capture, Method};
use crate::simulate::run_state::state_in_parts::{StateInParts, StatePart};

/// The frames that a run computes.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Frame at which the run starts.
    pub start: u32,
    /// Whether that frame is delivered too; a resumed run has it on disk.
    pub writes_start: bool,
    /// Last frame; it is delivered with a state.
    pub last: u32,
    /// Steps per frame.
    pub steps_per_frame: u64,
    /// Frames per state.
    pub state_every: u32,
}

/// Data that a run passes to the sink.
#[derive(Debug)]
pub enum Delivery {
    /// The next rows of a frame that comes in parts; what the sink returns is ignored.
    Part(Box<Frames>),
    /// A frame, with its state if the method captures both together; without rows if they came in parts.
    Frame {
        /// The frame.
        capture: Box<Capture>,
        /// Whether its state follows: it is made after the sink has taken the frame.
        state_follows: bool,
    },
    /// The state of the last frame delivered; its bytes may follow.
    State(Box<StateInParts>),
    /// The next bytes of a state that comes in parts; what the sink returns is ignored.
    StateBytes(Vec<u8>),
}

/// Takes a frame number and its data, and returns whether it can take more.
pub type Sink<'a> = dyn FnMut(u32, Delivery) -> bool + 'a;

/// Computes the frames of a course. While a frame is delivered, a method that works [`ahead`](Method::ahead)
/// computes the next ones.
///
/// Ends early if `stop` returns true, which it is asked before every frame, with the state of the last frame, or if
/// the sink takes no more. Frames requested before a stop or an error are still delivered; of two errors that of the
/// earlier frame is returned.
pub fn drive(
    method: &mut dyn Method,
    course: &Course,
    stop: &mut dyn FnMut() -> bool,
    sink: &mut Sink,
) -> Result<(), SimulateError> {
    let ahead = method.ahead();
    let mut frames = PendingFrames {
        next: course.start + u32::from(!course.writes_start),
        end: course.start + 1,
    };
    let separate_state = method.has_state_without_frame();
    if course.writes_start {
        method.capture(
            course.start,
            !separate_state && course.state_due(course.start),
        )?;
    }
    let mut outcome = Ok(());
    let mut stopped = false;
    for frame in course.start + 1..=course.last {
        if !frames.deliver_until(method, course, ahead, sink)? {
            return Ok(());
        }
        stopped = stop();
        if stopped {
            break;
        }
        outcome = on_pool(|| {
            method.advance(course.steps_per_frame)?;
            method.capture(frame, !separate_state && course.state_due(frame))
        });
        if outcome.is_err() {
            break;
        }
        frames.end += 1;
    }
    if frames.deliver_until(method, course, 0, sink)? && stopped {
        let last = frames.next - 1;
        if last > course.start && !course.state_due(last) {
            deliver_state(method, last, sink)?;
        }
    }
    outcome
}

/// Delivers the state of the last frame delivered, at which the method still is.
fn deliver_state(
    method: &mut dyn Method,
    frame: u32,
    sink: &mut Sink,
) -> Result<(), SimulateError> {
    if method.has_state_without_frame() {
        pass_state(method, frame, sink);
        return Ok(());
    }
    method.capture(frame, true)?;
    if let Some(state) = method.deliver()?.state {
        sink(frame, Delivery::State(Box::new(state.into())));
    }
    Ok(())
}

/// Passes the state on that a method makes without a frame; returns whether the sink can take more.
fn pass_state(method: &mut dyn Method, frame: u32, sink: &mut Sink) -> bool {
    let mut takes = true;
    method.state_in_parts(frame, &mut |part| match part {
        StatePart::Head(state) => takes = sink(frame, Delivery::State(state)),
        StatePart::Bytes(bytes) => {
            sink(frame, Delivery::StateBytes(bytes));
        }
    });
    takes
}

impl Course {
    fn state_due(&self, frame: u32) -> bool {
        frame.is_multiple_of(self.state_every.max(1)) || frame == self.last
    }
}

/// Frames requested and not yet delivered: `next..end`.
struct PendingFrames {
    next: u32,
    end: u32,
}

impl PendingFrames {
    /// Delivers the oldest frames until at most `left` are pending; `false` if the sink takes no more.
    fn deliver_until(
        &mut self,
        method: &mut dyn Method,
        course: &Course,
        left: usize,
        sink: &mut Sink,
    ) -> Result<bool, SimulateError> {
        while (self.end - self.next) as usize > left {
            let frame = self.next;
            self.next += 1;
            let state_follows = method.has_state_without_frame() && course.state_due(frame);
            let capture = method.deliver_in_parts(&mut |part| {
                sink(frame, Delivery::Part(Box::new(part)));
            })?;
            let delivery = Delivery::Frame {
                capture: Box::new(capture),
                state_follows,
            };
            if !sink(frame, delivery) {
                return Ok(false);
            }
            if state_follows && !pass_state(method, frame, sink) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::simulate::error::StateError;
    use crate::simulate::method::Platform;
    use crate::simulate::run_state::snapshot::Snapshot;
    use crate::simulate::run_state::state::State;

    /// Records all calls, and fails at the given frames.
    #[derive(Default)]
    struct Recorder {
        ahead: usize,
        calls: Vec<String>,
        frame: u64,
        outstanding: std::collections::VecDeque<u32>,
        /// Frame before which stepping fails.
        failed_step: Option<u64>,
        /// Frame whose delivery fails.
        failed_delivery: Option<u32>,
        /// Whether states are made separately from frames.
        separate_state: bool,
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
            if self.failed_step == Some(self.frame) {
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
            if self.failed_delivery == Some(frame) {
                failure(u64::from(frame))?;
            }
            let mut snapshot = Snapshot::default();
            snapshot.history.frame = vec![frame];
            Ok(Capture {
                snapshot,
                state: None,
            })
        }
        fn has_state_without_frame(&self) -> bool {
            self.separate_state
        }
        fn state_without_frame(&mut self, frame: u32) -> Option<State> {
            self.calls.push(format!("state {frame}"));
            None
        }
        fn platform(&self) -> Platform {
            Platform {
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
        writes_start: true,
        last: 3,
        steps_per_frame: 7,
        state_every: 2,
    };

    /// Drives the method; the stop flag is set at frame `stop`, the sink takes no more after frame `full`.
    fn run(
        method: &mut Recorder,
        course: &Course,
        (stop, full): (Option<u32>, Option<u32>),
    ) -> (Vec<u32>, Option<u64>) {
        let flag = Cell::new(false);
        let mut sunk = Vec::new();
        let result = drive(
            method,
            course,
            &mut || flag.get(),
            &mut |frame, delivery| {
                let Delivery::Frame { capture, .. } = delivery else {
                    panic!("it has no states");
                };
                assert_eq!(capture.snapshot.history.frame, [frame]);
                sunk.push(frame);
                flag.set(flag.get() || stop == Some(frame));
                full != Some(frame)
            },
        );
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
        let mut method = recorder(0);
        let (sunk, error) = run(&mut method, &COURSE, (None, None));
        assert_eq!((sunk, error), (vec![0, 1, 2, 3], None));
        let calls =
            "ask 0!, get 0, step 7, ask 1, get 1, step 7, ask 2!, get 2, step 7, ask 3!, get 3";
        assert_eq!(method.calls.join(", "), calls);
    }

    #[test]
    fn a_state_that_comes_apart_is_made_when_its_frame_has_been_taken() {
        let mut method = recorder(0);
        method.separate_state = true;
        let (sunk, error) = run(&mut method, &COURSE, (None, None));
        assert_eq!((sunk, error), (vec![0, 1, 2, 3], None));
        let calls = "ask 0, get 0, state 0, step 7, ask 1, get 1, step 7, ask 2, get 2, state 2, \
                     step 7, ask 3, get 3, state 3";
        assert_eq!(method.calls.join(", "), calls);
        // If the sink takes no more, no state is made.
        let mut method = recorder(0);
        method.separate_state = true;
        run(&mut method, &COURSE, (None, Some(0)));
        assert_eq!(method.calls.join(", "), "ask 0, get 0");
    }

    #[test]
    fn a_device_is_busy_with_the_next_frame_while_one_is_brought_in() {
        let mut method = recorder(1);
        let (sunk, error) = run(&mut method, &COURSE, (None, None));
        assert_eq!((sunk, error), (vec![0, 1, 2, 3], None));
        let calls =
            "ask 0!, step 7, ask 1, get 0, step 7, ask 2!, get 1, step 7, ask 3!, get 2, get 3";
        assert_eq!(method.calls.join(", "), calls);
    }

    #[test]
    fn a_resumed_run_goes_on_with_the_next_frame() {
        let mut method = recorder(1);
        let course = Course {
            start: 1,
            writes_start: false,
            ..COURSE
        };
        let (sunk, error) = run(&mut method, &course, (None, None));
        assert_eq!((sunk, error), (vec![2, 3], None));
        let calls = "step 7, ask 2!, step 7, ask 3!, get 2, get 3";
        assert_eq!(method.calls.join(", "), calls);
    }

    #[test]
    fn a_resumed_run_that_is_over_does_nothing() {
        let mut method = recorder(1);
        let course = Course {
            start: 5,
            writes_start: false,
            ..COURSE
        };
        assert_eq!(run(&mut method, &course, (None, None)), (vec![], None));
        assert_eq!(method.calls, [""; 0]);
    }

    #[test]
    fn frames_before_a_failed_delivery_are_handed_over() {
        let mut method = recorder(1);
        method.failed_delivery = Some(2);
        assert_eq!(
            run(&mut method, &COURSE, (None, None)),
            (vec![0, 1], Some(2))
        );
    }

    #[test]
    fn frames_asked_for_before_a_refused_step_are_handed_over() {
        for ahead in [0, 1] {
            let mut method = recorder(ahead);
            method.failed_step = Some(2);
            assert_eq!(
                run(&mut method, &COURSE, (None, None)),
                (vec![0, 1], Some(2))
            );
        }
        // The pending frame is the one that failed.
        let mut method = recorder(1);
        (method.failed_step, method.failed_delivery) = (Some(2), Some(1));
        assert_eq!(run(&mut method, &COURSE, (None, None)), (vec![0], Some(1)));
    }

    #[test]
    fn a_stopped_run_ends_with_what_was_asked_for() {
        let mut method = recorder(0);
        let (sunk, error) = run(&mut method, &COURSE, (Some(1), None));
        assert_eq!((sunk, error), (vec![0, 1], None));
        let mut method = recorder(1);
        let (sunk, error) = run(&mut method, &COURSE, (Some(1), None));
        assert_eq!((sunk, error), (vec![0, 1, 2], None));
        assert!(method.outstanding.is_empty());
    }

    #[test]
    fn a_stopped_run_leaves_a_state_of_its_last_frame() {
        let calls = |separate_state: bool, stop: u32, course: &Course| {
            let mut method = recorder(usize::from(!separate_state));
            method.separate_state = separate_state;
            run(&mut method, course, (Some(stop), None));
            method.calls.join(", ")
        };
        let often = calls(true, 1, &COURSE);
        assert_eq!(
            often,
            "ask 0, get 0, state 0, step 7, ask 1, get 1, state 1"
        );
        // A state is due at frame 2 anyway.
        assert!(calls(true, 2, &COURSE).ends_with("get 2, state 2"));
        let ahead = calls(false, 0, &COURSE);
        assert_eq!(ahead, "ask 0!, step 7, ask 1, get 0, get 1, ask 1!, get 1");
        // No frame came after the state from which the run resumed.
        let resumed = Course {
            start: 1,
            writes_start: false,
            ..COURSE
        };
        let mut method = recorder(0);
        drive(&mut method, &resumed, &mut || true, &mut |_, _| true).unwrap();
        assert_eq!(method.calls, [""; 0]);
    }

    #[test]
    fn a_full_sink_gets_nothing_more() {
        for ahead in [0, 1] {
            let mut method = recorder(ahead);
            let (sunk, error) = run(&mut method, &COURSE, (None, Some(1)));
            assert_eq!((sunk, error), (vec![0, 1], None));
        }
    }
}
