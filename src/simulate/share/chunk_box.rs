//! Boxes around the elements of chunks, by which ranks find what is near them.

use glam::DVec3;

use super::bytes::{Reader, Record, put};
use crate::math::Scalar;
use crate::simulate::bonded::system::{MotionRow, position};

/// Box around the elements of a chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChunkBox {
    low: DVec3,
    high: DVec3,
}

impl ChunkBox {
    /// The box around nothing.
    pub const EMPTY: Self = ChunkBox {
        low: DVec3::INFINITY,
        high: DVec3::NEG_INFINITY,
    };

    /// Box around the positions of these elements.
    pub fn of<S: Scalar>(rows: &[MotionRow<S>]) -> Self {
        let places = rows.iter().map(position);
        places.fold(Self::EMPTY, |all, place| ChunkBox {
            low: all.low.min(place),
            high: all.high.max(place),
        })
    }

    /// Box around two boxes.
    pub fn joined(&self, other: &Self) -> Self {
        ChunkBox {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The box widened on all sides, m.
    pub fn widened(&self, margin: f64) -> Self {
        ChunkBox {
            low: self.low - DVec3::splat(margin),
            high: self.high + DVec3::splat(margin),
        }
    }

    /// Whether the boxes have a point in common.
    pub fn meets(&self, other: &Self) -> bool {
        self.low.cmple(other.high).all() && self.high.cmpge(other.low).all()
    }

    /// Whether a point is in the box.
    pub fn contains(&self, place: DVec3) -> bool {
        self.low.cmple(place).all() && self.high.cmpge(place).all()
    }
}

impl Record for ChunkBox {
    fn put(&self, bytes: &mut Vec<u8>) {
        put(bytes, [self.low, self.high]);
    }
    fn get(from: &mut Reader) -> Self {
        let [low, high] = from.get();
        ChunkBox { low, high }
    }
}
