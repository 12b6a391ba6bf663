//! Events of falling asleep and waking, for the table of a frame.

use crate::columns::{self, SleepEvent, SleepReason};

/// One event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Step after which it happened.
    pub step: u64,
    /// First element of the fragment.
    pub element: u32,
    /// Number of its elements.
    pub elements: u32,
    /// What happened.
    pub what: SleepEvent,
    /// Why.
    pub reason: SleepReason,
    /// Largest stress over strength.
    pub use_of_strength: f64,
    /// Kinetic energy that left the motion, or less than 0: that came back into it, J.
    pub energy: f64,
}

/// The table of a frame; `labels` is the fragment of each element, `dt` the time step, s.
pub fn table(events: &[Event], frame: u32, labels: &[u32], dt: f64) -> columns::Sleep {
    let numbers = |value: fn(&Event) -> u32| events.iter().map(value).collect::<Vec<u32>>();
    let reals = |value: fn(&Event) -> f64| events.iter().map(value).collect::<Vec<f64>>();
    columns::Sleep {
        frame: vec![frame; events.len()],
        time: events.iter().map(|event| event.step as f64 * dt).collect(),
        step: events.iter().map(|event| event.step).collect(),
        fragment: events
            .iter()
            .map(|event| labels[event.element as usize])
            .collect(),
        elements: numbers(|event| event.elements),
        what: events.iter().map(|event| event.what).collect(),
        reason: events.iter().map(|event| event.reason).collect(),
        use_of_strength: reals(|event| event.use_of_strength),
        energy: reals(|event| event.energy),
    }
}
