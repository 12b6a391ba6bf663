//! Which elements are rigid, and which of them move as one.

/// For each element the rigid piece that it belongs to, if any. The elements of a piece move as one: nothing
/// acts between them, so bonds within a piece are kept but not evaluated.
/// [`System::set_rigid`](crate::simulate::bonded::system::System::set_rigid) changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RigidMask {
    /// Number of the piece of each element, 0 for elements in none; empty where no element is rigid.
    pieces: Vec<u32>,
}

impl RigidMask {
    /// Takes the number of the piece of each element, 0 for elements in none.
    pub fn new(pieces: Vec<u32>) -> Self {
        match pieces.iter().any(|&piece| piece != 0) {
            true => RigidMask { pieces },
            false => RigidMask::default(),
        }
    }

    /// Whether any element is rigid.
    pub fn any(&self) -> bool {
        !self.pieces.is_empty()
    }

    /// Number of the piece of each element, 0 for elements in none; empty where no element is rigid.
    pub fn pieces(&self) -> &[u32] {
        &self.pieces
    }

    /// Whether two elements belong to one piece: nothing acts between them.
    pub fn is_one_piece(&self, i: usize, j: usize) -> bool {
        let of = |k: usize| self.pieces.get(k).copied().unwrap_or(0);
        of(i) != 0 && of(i) == of(j)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_one_piece() {
        let mask = RigidMask::new(vec![0, 1, 2, 1, 0]);
        assert!(mask.is_one_piece(1, 3) && !mask.is_one_piece(1, 2));
        assert!(!mask.is_one_piece(0, 4), "elastic elements are in no piece");
        // Rows that fill up a block are of no element.
        assert!(!mask.is_one_piece(5, 6) && !mask.is_one_piece(1, 6));
        assert_eq!(RigidMask::new(vec![0; 3]), RigidMask::default());
        assert!(mask.any() && !RigidMask::default().any());
    }
}
