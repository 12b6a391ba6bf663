//! Recursive coordinate bisection: which rank computes which chunk.

use glam::DVec3;

/// A chunk to be assigned to a rank.
#[derive(Clone, Copy, Debug)]
pub struct WeightedCentre {
    /// Centre of its elements, m.
    pub centre: DVec3,
    /// What a step of it costs, in any unit.
    pub weight: f64,
}

/// Rank of each chunk, by recursive coordinate bisection: cuts the longest side of the bounding box, then each half.
/// The weights of both halves are proportional to their numbers of ranks. Ties are broken by the number of the chunk.
pub fn owners(centres: &[WeightedCentre], ranks: usize) -> Vec<u32> {
    let mut owner = vec![0; centres.len()];
    let all = (0..centres.len()).collect();
    bisect(centres, all, 0..ranks, &mut owner);
    owner
}

fn bisect(
    centres: &[WeightedCentre],
    mut chunks: Vec<usize>,
    ranks: std::ops::Range<usize>,
    owner: &mut [u32],
) {
    if ranks.len() <= 1 || chunks.is_empty() {
        for chunk in chunks {
            owner[chunk] = ranks.start as u32;
        }
        return;
    }
    let empty = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    let (low, high) = chunks.iter().fold(empty, |(low, high), &chunk| {
        let centre = centres[chunk].centre;
        (low.min(centre), high.max(centre))
    });
    let axis = (high - low).max_position();
    chunks.sort_by(|&a, &b| {
        let at = |chunk: usize| centres[chunk].centre[axis];
        at(a).total_cmp(&at(b)).then(a.cmp(&b))
    });
    let half = ranks.len() / 2;
    let total: f64 = chunks.iter().map(|&chunk| centres[chunk].weight).sum();
    let wanted = total * half as f64 / ranks.len() as f64;
    let mut sum = 0.0;
    // A chunk belongs to the side where most of its weight lies.
    let cut = chunks.iter().position(|&chunk| {
        let weight = centres[chunk].weight;
        sum += weight;
        sum - 0.5 * weight > wanted
    });
    let behind = chunks.split_off(cut.unwrap_or(chunks.len()));
    let middle = ranks.start + half;
    bisect(centres, chunks, ranks.start..middle, owner);
    bisect(centres, behind, middle..ranks.end, owner);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(weights: &[f64]) -> Vec<WeightedCentre> {
        let of = |(k, &weight): (usize, &f64)| WeightedCentre {
            centre: DVec3::new(k as f64, 0.0, 0.1),
            weight,
        };
        weights.iter().enumerate().map(of).collect()
    }

    #[test]
    fn weights_decide_where_chunks_are_cut() {
        assert_eq!(owners(&line(&[1.0; 6]), 3), [0, 0, 1, 1, 2, 2]);
        assert_eq!(
            owners(&line(&[5.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 2),
            [0, 1, 1, 1, 1, 1]
        );
        assert_eq!(owners(&line(&[1.0; 4]), 1), [0; 4]);
    }

    #[test]
    fn more_ranks_than_chunks_leave_some_without_any() {
        let mut owner = owners(&line(&[1.0; 3]), 7);
        owner.sort_unstable();
        owner.dedup();
        assert_eq!(owner.len(), 3);
        assert!(owners(&[], 2).is_empty());
    }

    #[test]
    fn the_longest_side_is_cut() {
        let at = |x: f64, y: f64| WeightedCentre {
            centre: DVec3::new(x, y, 0.0),
            weight: 1.0,
        };
        let centres = [at(0.0, 0.0), at(1.0, 9.0), at(1.0, 0.0), at(0.0, 9.0)];
        assert_eq!(owners(&centres, 2), [0, 1, 0, 1]);
        assert_eq!(owners(&centres, 4), [0, 3, 1, 2]);
    }
}
