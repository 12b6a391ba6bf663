//! Values on faces of the grid.

use crate::parallel::prelude::*;

/// Values for some of the grid's faces, sorted by face. A face is numbered as three times the node of the
/// cell above it, plus its axis.
#[derive(Clone, Debug)]
pub struct FaceMap<T> {
    faces: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for FaceMap<T> {
    fn default() -> Self {
        FaceMap {
            faces: Vec::new(),
            values: Vec::new(),
        }
    }
}

impl<T: Send + Sync> FaceMap<T> {
    /// Makes a value for each face from the `entries` of that face, in their order. Returns `None` if a value
    /// cannot be made.
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
        Some(FaceMap {
            faces: of_faces.iter().map(|own| own[0].0).collect(),
            values: values?,
        })
    }

    /// Maps the value of each face. Returns `None` if a value cannot be made.
    pub fn map<U: Send>(&self, make: impl Fn(u64, &T) -> Option<U> + Sync) -> Option<FaceMap<U>> {
        let values: Option<Vec<U>> = self
            .faces
            .par_iter()
            .zip(&self.values)
            .with_min_len(64)
            .map(|(&face, value)| make(face, value))
            .collect();
        Some(FaceMap {
            faces: self.faces.clone(),
            values: values?,
        })
    }

    /// Value of a face, if it has one.
    pub fn get(&self, face: u64) -> Option<&T> {
        let at = self.faces.binary_search(&face).ok()?;
        Some(&self.values[at])
    }

    /// All faces with their values.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.faces.iter().copied().zip(&self.values)
    }

    /// All values.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
}
