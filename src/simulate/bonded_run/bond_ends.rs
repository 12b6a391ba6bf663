//! Checks which elements the bonds of a packing join.

use crate::simulate::error::SimulateError;

/// Checks the ends of bonds one after the other.
pub struct BondEnds {
    /// Number of bonds of each element.
    valence: Vec<u32>,
    /// Ends of the last bond.
    last: [u32; 2],
    /// Id and ends of the first bond whose ends are invalid.
    wrong: Option<(u32, [u32; 2])>,
    /// Id and ends of the first bond with the same ends as the one before: packings have them in order.
    twice: Option<(u32, [u32; 2])>,
}

impl BondEnds {
    /// No bonds yet between this many elements.
    pub fn new(elements: usize) -> Self {
        BondEnds {
            valence: vec![0; elements],
            last: [u32::MAX; 2],
            wrong: None,
            twice: None,
        }
    }

    /// Adds a bond. Returns whether its ends are valid.
    pub fn add(&mut self, id: u32, ends: [u32; 2]) -> bool {
        let [i, j] = ends.map(|end| end as usize);
        if i >= j || j >= self.valence.len() {
            self.wrong.get_or_insert((id, ends));
            return false;
        }
        if self.last == ends {
            self.twice.get_or_insert((id, ends));
        }
        self.last = ends;
        self.valence[i] += 1;
        self.valence[j] += 1;
        true
    }

    /// The number of bonds of each element.
    ///
    /// # Errors
    /// A bond has invalid ends or those of the one before, or an element has too many bonds.
    pub fn finish(self) -> Result<Vec<u32>, SimulateError> {
        if let Some((id, [i, j])) = self.wrong {
            return Err(SimulateError::Packing(format!(
                "bond {id} joins {i} and {j}; expected i < j < {}",
                self.valence.len()
            )));
        }
        let most = self.valence.iter().copied().max().unwrap_or(0);
        if most > u32::BITS {
            return Err(SimulateError::Packing(format!(
                "an element has {most} bonds; at most {} are supported",
                u32::BITS
            )));
        }
        match self.twice {
            Some((id, ends)) => Err(joined_twice(id, ends)),
            None => Ok(self.valence),
        }
    }
}

/// Error for a bond between two elements that another one joins.
pub fn joined_twice(id: u32, [i, j]: [u32; 2]) -> SimulateError {
    SimulateError::Packing(format!("bond {id} joins {i} and {j} a second time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict on bonds between 40 elements.
    fn verdict(bonds: &[[u32; 2]]) -> Result<Vec<u32>, String> {
        let mut ends = BondEnds::new(40);
        for (id, &bond) in (0..).zip(bonds) {
            ends.add(id, bond);
        }
        ends.finish().map_err(|error| error.to_string())
    }

    #[test]
    fn bonds_that_no_run_supports_are_refused() {
        let refused = |bonds: &[[u32; 2]], what: &str| {
            let error = verdict(bonds).expect_err(what);
            assert!(error.contains(what), "{error}");
        };
        verdict(&[[0, 1], [0, 39], [1, 2]]).expect("valid");
        refused(
            &[[0, 1], [2, 2]],
            "bond 1 joins 2 and 2; expected i < j < 40",
        );
        refused(&[[0, 40]], "bond 0 joins 0 and 40");
        refused(&[[0, 1], [0, 1]], "bond 1 joins 0 and 1 a second time");
        let star: Vec<_> = (1..34).map(|j| [0, j]).collect();
        verdict(&star[1..]).expect("32 bonds");
        refused(&star, "33 bonds");
    }
}
