//! Records of all elements at rank 0, a window at a time: their memory does not grow with the number of elements.

use super::Ranks;
use crate::simulate::share::bytes::{Reader, Record};

/// Elements of a window.
pub const WINDOW: usize = 1 << 14;

impl Ranks {
    /// Passes the records of all `count` elements to `take` at rank 0, in order, with the number of the first one.
    /// `own` makes the record of an element of this rank.
    pub fn each_window<T: Record>(
        &self,
        count: usize,
        own: impl Fn(usize) -> T,
        mut take: impl FnMut(usize, &[T]),
    ) {
        for first in (0..count).step_by(WINDOW) {
            let elements = first..(first + WINDOW).min(count);
            let Some(team) = &self.0 else {
                let records: Vec<T> = elements.map(&own).collect();
                take(first, &records);
                continue;
            };
            let mut bytes = Vec::new();
            for i in elements
                .clone()
                .filter(|i| team.owned.contains(i / team.chunk))
            {
                own(i).put(&mut bytes);
            }
            let all = team.transport.gather_first(&bytes);
            let mut from: Vec<Reader> = all.iter().map(|bytes| Reader::new(bytes)).collect();
            if from.is_empty() {
                continue;
            }
            let records: Vec<T> = elements
                .map(|i| T::get(&mut from[team.owner_of(i as u32)]))
                .collect();
            take(first, &records);
        }
    }
}
