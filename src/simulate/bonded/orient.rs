//! Which end owns a bond: half of each element's bonds, rounded up or down.
//!
//! Bonds are walked along trails, each once, and every bond is owned by the end from which it is entered: a
//! trail that goes through an element leaves one bond with it and one with somebody else. Trails begin where
//! a number of bonds is odd, then anywhere (Hierholzer).

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

/// As [`balanced`], but every element owns about as many bonds as any other, however many it has: lanes are
/// full where numbers of bonds differ widely, as those of a cell's faces do.
///
/// From an element that owns too many a path is looked for, bond by bond from owner to other end, to one that
/// owns fewer, and each bond on it changes hands.
pub fn even(elements: usize, ends: &[[u32; 2]]) -> Vec<bool> {
    let mut from_second = balanced(elements, ends);
    let target = ends.len().div_ceil(elements.max(1));
    let mut owned: Vec<Vec<u32>> = vec![Vec::new(); elements];
    for (bond, (ends, second)) in (0u32..).zip(ends.iter().zip(&from_second)) {
        owned[ends[usize::from(*second)] as usize].push(bond);
    }
    // The search that reached an element last, and the bond that it came by.
    let mut seen = vec![(u32::MAX, 0u32); elements];
    let mut search = 0;
    for from in 0..elements {
        while owned[from].len() > target {
            let Some(end) = reach(from, (ends, &owned, target), (&mut seen, search)) else {
                break;
            };
            search += 1;
            let mut at = end;
            while at != from {
                let bond = seen[at].1;
                let [a, b] = ends[bond as usize].map(|end| end as usize);
                let owner = a + b - at;
                owned[owner].retain(|one| *one != bond);
                owned[at].push(bond);
                from_second[bond as usize] = !from_second[bond as usize];
                at = owner;
            }
        }
    }
    from_second
}

/// Elements that a search looks at most: those that own less are near, or nowhere.
const SEARCHED: usize = 4096;

/// The nearest element that owns fewer than `target` bonds, by bonds from owners to other ends; `seen` leads back.
fn reach(
    from: usize,
    (ends, owned, target): (&[[u32; 2]], &[Vec<u32>], usize),
    (seen, search): (&mut [(u32, u32)], u32),
) -> Option<usize> {
    let mut queue = vec![from];
    seen[from].0 = search;
    let mut next = 0;
    while next < queue.len() && queue.len() < SEARCHED {
        let at = queue[next];
        next += 1;
        for &bond in &owned[at] {
            let [a, b] = ends[bond as usize].map(|end| end as usize);
            let other = a + b - at;
            if seen[other].0 == search {
                continue;
            }
            seen[other] = (search, bond);
            if owned[other].len() < target {
                return Some(other);
            }
            queue.push(other);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_many_bonds_own_no_more_than_others() {
        // A grid with every third element joined to a dozen others.
        let mut pairs: Vec<[u32; 2]> = (0..400).map(|i| [i, (i + 1) % 400]).collect();
        for hub in (0..400).step_by(3) {
            pairs.extend((2..14).map(|k| [hub, (hub + 7 * k) % 400]));
        }
        let second = even(400, &pairs);
        let mut owned = [0usize; 400];
        for (ends, second) in pairs.iter().zip(&second) {
            owned[ends[usize::from(*second)] as usize] += 1;
        }
        let most = owned.iter().max().unwrap();
        assert_eq!(
            (*most, owned.iter().sum::<usize>()),
            (pairs.len().div_ceil(400), pairs.len())
        );
    }

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
