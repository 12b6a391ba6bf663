//! Vertices of a sheet with unknown jumps, and the jumps of all vertices as combinations of these.

use glam::DVec3;

use super::sheet::Sheet;

/// The jump of each vertex as a combination of unknown jumps.
pub struct JumpUnknowns {
    /// For each vertex, indices of unknown jumps and their weights; empty if its jump is zero.
    pub weights: Vec<Vec<(u32, f64)>>,
    /// Number of unknown jumps.
    pub count: usize,
}

impl JumpUnknowns {
    /// Vertices inside the body and off the rim have unknown jumps; those on the rim inside have none; the
    /// jump of a vertex outside is the mean of its neighbours'.
    pub fn new(sheet: &Sheet, is_inside: &[bool]) -> Self {
        let vertices = sheet.mesh.positions.len();
        let mut is_rim = vec![false; vertices];
        sheet.rim.iter().for_each(|v| is_rim[*v as usize] = true);
        let mut known = vec![false; vertices];
        let mut weights = vec![Vec::new(); vertices];
        let mut count = 0;
        for v in (0..vertices).filter(|v| is_inside[*v]) {
            known[v] = true;
            if !is_rim[v] {
                weights[v] = vec![(count as u32, 1.0)];
                count += 1;
            }
        }
        let neighbours = sheet.neighbours();
        loop {
            let mut next = Vec::new();
            for v in (0..vertices).filter(|v| !known[*v]) {
                let near: Vec<u32> = neighbours[v]
                    .iter()
                    .copied()
                    .filter(|w| known[*w as usize])
                    .collect();
                if !near.is_empty() {
                    next.push((v, mean(&weights, &near)));
                }
            }
            if next.is_empty() {
                break;
            }
            for (v, follow) in next {
                known[v] = true;
                weights[v] = follow;
            }
        }
        JumpUnknowns { weights, count }
    }

    /// Jumps of all vertices, m, from the unknown ones.
    pub fn jumps(&self, free: &[[f64; 3]]) -> Vec<[f64; 3]> {
        let sum = |follow: &Vec<(u32, f64)>| {
            let pairs = follow.iter();
            pairs
                .fold(DVec3::ZERO, |sum, (k, weight)| {
                    sum + DVec3::from(free[*k as usize]) * *weight
                })
                .to_array()
        };
        self.weights.iter().map(sum).collect()
    }
}

/// Mean of the combinations of these vertices.
fn mean(weights: &[Vec<(u32, f64)>], near: &[u32]) -> Vec<(u32, f64)> {
    let share = 1.0 / near.len() as f64;
    let mut all: Vec<(u32, f64)> = near
        .iter()
        .flat_map(|w| &weights[*w as usize])
        .map(|(k, weight)| (*k, weight * share))
        .collect();
    all.sort_unstable_by_key(|(k, _)| *k);
    let groups = all.chunk_by(|a, b| a.0 == b.0);
    groups
        .map(|group| (group[0].0, group.iter().map(|(_, w)| w).sum()))
        .collect()
}
