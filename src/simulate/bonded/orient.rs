//! Which end owns a bond: half of each element's bonds, rounded up or down.
//!
//! Bonds are walked along trails, each once, and every bond is owned by the end from which it is entered: a trail that goes through an
//! element leaves one bond with it and one with somebody else. Trails begin where a number of bonds is odd, then anywhere (Hierholzer).

/// For each bond whether its second end owns it; `ends` are indices below `elements`.
pub fn balanced(elements: usize, ends: &[[u32; 2]]) -> Vec<bool> {
    let count = ends.len();
    let mut start = vec![0u32; elements + 1];
    for &e in ends.as_flattened() {
        start[e as usize + 1] += 1;
    }
    for i in 0..elements {
        start[i + 1] += start[i];
    }
    // Bonds by element; `next` goes through them as trails use them up.
    let mut bonds = vec![0u32; 2 * count];
    let mut next: Vec<u32> = start[..elements].to_vec();
    for (k, ends) in ends.iter().enumerate() {
        for &e in ends {
            bonds[next[e as usize] as usize] = k as u32;
            next[e as usize] += 1;
        }
    }
    next.copy_from_slice(&start[..elements]);
    let mut left: Vec<u32> = start.windows(2).map(|w| w[1] - w[0]).collect();
    let mut used = vec![false; count];
    let mut from_second = vec![false; count];

    let mut walk = |from: usize, left: &mut [u32]| {
        let mut here = from;
        while left[here] > 0 {
            let bond = loop {
                let bond = bonds[next[here] as usize] as usize;
                next[here] += 1;
                if !used[bond] {
                    break bond;
                }
            };
            used[bond] = true;
            let [first, second] = ends[bond].map(|e| e as usize);
            from_second[bond] = here == second;
            left[first] -= 1;
            left[second] -= 1;
            here = if here == first { second } else { first };
        }
    };
    for i in 0..elements {
        if left[i] % 2 == 1 {
            walk(i, &mut left);
        }
    }
    for i in 0..elements {
        walk(i, &mut left);
    }
    from_second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_owns_half_of_its_bonds() {
        // A ring with chords, a fan, a path and an element alone.
        let mut pairs: Vec<[u32; 2]> = (0..50).map(|i| [i, (i + 1) % 50]).collect();
        pairs.extend((0..50).step_by(3).map(|i| [i, (i * 7 + 11) % 50]));
        pairs.extend((61..80).map(|i| [60, i]));
        pairs.extend((61..79).map(|i| [i, i + 1]));
        pairs.retain(|[a, b]| a != b);
        let owned = balanced(82, &pairs);
        for element in 0..82 {
            let valence = pairs.iter().filter(|ends| ends.contains(&element)).count();
            let own = pairs
                .iter()
                .zip(&owned)
                .filter(|(ends, second)| ends[usize::from(**second)] == element)
                .count();
            assert!(
                own.abs_diff(valence - own) <= 1,
                "{element}: {own} of {valence}"
            );
        }
    }
}
