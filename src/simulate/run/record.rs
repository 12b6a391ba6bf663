//! Passes frames and states to the writing thread, and reports progress.

use std::time::Instant;

use super::drive::Delivery;
use super::writer::{WriteJob, Writer};
use crate::store;

/// Progress of a run, reported after every frame.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Frame just computed.
    pub frame: u32,
    /// Last frame of the run.
    pub last: u32,
    /// Bonds broken so far.
    pub broken: u32,
    /// Fragments in this frame.
    pub fragments: u32,
    /// Elements awake in this frame; `None` without `simulate.sleep`.
    pub awake: Option<u32>,
}

/// Records the frames and states of a run; on ranks that do not write, only which frame came last.
pub struct Recorder<'a> {
    writer: Option<Writer>,
    /// Hash of what the states belong to.
    inputs: u64,
    clock: Instant,
    progress: Progress,
    on_frame: &'a mut dyn FnMut(Progress),
}

impl<'a> Recorder<'a> {
    /// Of a run from one frame to another. `inputs` is the hash of what its states belong to; `on_frame` is called
    /// after each frame.
    pub fn new(
        writer: Option<Writer>,
        inputs: u64,
        (start, last): (u32, u32),
        on_frame: &'a mut dyn FnMut(Progress),
    ) -> Self {
        Recorder {
            writer,
            inputs,
            clock: Instant::now(),
            progress: Progress {
                frame: start,
                last: last.max(start),
                broken: 0,
                fragments: 0,
                awake: None,
            },
            on_frame,
        }
    }

    /// Records a frame or a state; returns whether it can take more.
    pub fn record(&mut self, frame: u32, delivery: Delivery) -> bool {
        let Some(writer) = &self.writer else {
            self.progress.frame = frame;
            return true;
        };
        let (capture, state_follows) = match delivery {
            Delivery::Part(part) => return writer.send(WriteJob::Part(frame, part)),
            Delivery::Frame {
                capture,
                state_follows,
            } => (capture, state_follows),
            Delivery::State(mut state) => {
                state.set_inputs(self.inputs);
                return writer.send(WriteJob::State(state));
            }
            Delivery::StateBytes(bytes) => return writer.send(WriteJob::StateBytes(bytes)),
        };
        let (mut snapshot, progress) = (capture.snapshot, &mut self.progress);
        snapshot.history.seconds = vec![self.clock.elapsed().as_secs_f64()];
        self.clock = Instant::now();
        progress.frame = frame;
        progress.broken = snapshot.history.broken[0];
        progress.fragments = snapshot.history.fragments[0];
        progress.awake = snapshot.history.awake.first().copied();
        let mut alive = writer.send(WriteJob::Frame(frame, Box::new(snapshot)));
        if let Some(mut state) = capture.state {
            state.inputs = self.inputs;
            alive &= writer.send(WriteJob::State(Box::new(state.into())));
        }
        (self.on_frame)(*progress);
        // A state is large: the frame is written and freed before the state is made.
        alive && (!state_follows || writer.wait())
    }

    /// Waits until everything is on disk; returns the last frame.
    pub fn finish(self) -> store::Result<u32> {
        self.writer.map_or(Ok(()), Writer::finish)?;
        Ok(self.progress.frame)
    }
}
