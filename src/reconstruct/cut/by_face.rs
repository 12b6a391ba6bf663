//! Values by face of the grid.

use crate::parallel::prelude::*;

/// A value for each of some faces, in the order of the faces. A face goes by three times the node of the cell
/// above it, plus its axis.
#[derive(Clone, Debug)]
pub struct ByFace<T> {
    faces: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for ByFace<T> {
    fn default() -> Self {
        ByFace {
            faces: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Send + Sync> ByFace<T> {
    /// Makes a value for each face out of its `entries`, which come in their order; nothing if one cannot be made.
    pub fn gather<E: Send + Sync>(
        mut entries: Vec<(u64, E)>,
        make: impl Fn(&[(u64, E)]) -> Option<T> + Sync,
    ) -> Option<Self> {
        entries.par_sort_by_key(|entry| entry.0);
        let of_faces: Vec<&[(u64, E)]> = entries.chunk_by(|a, b| a.0 == b.0).collect();
        let values: Option<Vec<T>> = of_faces
            .par_iter()
            .with_min_len(64)
            .map(|own| make(own))
            .collect();
        Some(ByFace {
            faces: of_faces.iter().map(|own| own[0].0).collect(),
            values: values?,
        })
    }

    /// Another value for each face; nothing if one cannot be made.
    pub fn map<U: Send>(&self, make: impl Fn(u64, &T) -> Option<U> + Sync) -> Option<ByFace<U>> {
        let values: Option<Vec<U>> = self
            .faces
            .par_iter()
            .zip(&self.values)
            .with_min_len(64)
            .map(|(&face, value)| make(face, value))
            .collect();
        Some(ByFace {
            faces: self.faces.clone(),
            values: values?,
        })
    }

    /// The value of a face, if it has one.
    pub fn get(&self, face: u64) -> Option<&T> {
        let at = self.faces.binary_search(&face).ok()?;
        Some(&self.values[at])
    }

    /// All faces and values.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.faces.iter().copied().zip(&self.values)
    }

    /// All values.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}
