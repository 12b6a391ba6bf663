//! Sums over the elements of each fragment.

use glam::DVec3;

use crate::columns::Fragments;

/// Sums over elements of one fragment.
#[derive(Clone, Copy, Debug)]
pub struct FragmentSums {
    /// Label of the fragment.
    pub label: u32,
    /// Body of its first element.
    pub body: u32,
    /// Number of elements.
    pub elements: u32,
    /// Mass, kg.
    pub mass: f64,
    /// Volume, m³.
    pub volume: f64,
    /// Sum of the cross-sections of broken bonds, m².
    pub area: f64,
    /// Sum of mass times position, kg m.
    pub centre: DVec3,
    /// Sum of mass times velocity, kg m/s.
    pub velocity: DVec3,
    /// Lower corner of the bounding box, radii included, m.
    pub low: DVec3,
    /// Upper corner of the bounding box, radii included, m.
    pub high: DVec3,
}

impl FragmentSums {
    fn merge(&mut self, other: &FragmentSums) {
        self.elements += other.elements;
        self.mass += other.mass;
        self.volume += other.volume;
        self.area += other.area;
        self.centre += other.centre;
        self.velocity += other.velocity;
        self.low = self.low.min(other.low);
        self.high = self.high.max(other.high);
    }
}

/// Sums of fragments over consecutive elements.
#[derive(Debug, Default)]
pub struct FragmentSumList(Vec<FragmentSums>);

impl FragmentSumList {
    /// Adds an element. Neighbours in memory mostly belong to one fragment: a new entry begins only where they do not.
    pub fn add(&mut self, element: &FragmentSums) {
        match self.0.last_mut() {
            Some(last) if last.label == element.label => last.merge(element),
            _ => self.0.push(*element),
        }
    }

    /// One entry per label, sorted by label.
    pub fn sorted(self) -> Vec<FragmentSums> {
        merged([self.0])
    }
}

/// Merges the lists into one entry per label, sorted by label. Entries of a label are added in the order of the lists.
pub fn merged(lists: impl IntoIterator<Item = Vec<FragmentSums>>) -> Vec<FragmentSums> {
    let mut all: Vec<FragmentSums> = lists.into_iter().flatten().collect();
    all.sort_by_key(|sums| sums.label);
    all.dedup_by(|next, kept| {
        let same = next.label == kept.label;
        if same {
            kept.merge(next);
        }
        same
    });
    all
}

/// The table of fragments, from one entry per fragment.
pub fn table(fragments: &[FragmentSums], frame: u32, time: f64) -> Fragments {
    let count = fragments.len();
    let column =
        |value: fn(&FragmentSums) -> f64| fragments.iter().map(value).collect::<Vec<f64>>();
    let numbers =
        |value: fn(&FragmentSums) -> u32| fragments.iter().map(value).collect::<Vec<u32>>();
    Fragments {
        frame: vec![frame; count],
        time: vec![time; count],
        fragment: numbers(|p| p.label),
        body: numbers(|p| p.body),
        elements: numbers(|p| p.elements),
        mass: column(|p| p.mass),
        volume: column(|p| p.volume),
        area: column(|p| p.area),
        x: column(|p| p.centre.x / p.mass),
        y: column(|p| p.centre.y / p.mass),
        z: column(|p| p.centre.z / p.mass),
        vx: column(|p| p.velocity.x / p.mass),
        vy: column(|p| p.velocity.y / p.mass),
        vz: column(|p| p.velocity.z / p.mass),
        min_x: column(|p| p.low.x),
        min_y: column(|p| p.low.y),
        min_z: column(|p| p.low.z),
        max_x: column(|p| p.high.x),
        max_y: column(|p| p.high.y),
        max_z: column(|p| p.high.z),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(label: u32, k: u32) -> FragmentSums {
        let p = DVec3::new(f64::from(k), 0.0, -f64::from(k));
        FragmentSums {
            label,
            body: label / 2,
            elements: 1,
            mass: f64::from(k + 1),
            volume: 2.0,
            area: f64::from(k),
            centre: f64::from(k + 1) * p,
            velocity: DVec3::ZERO,
            low: p - 0.5,
            high: p + 0.5,
        }
    }

    #[test]
    fn fragments_are_summed_however_the_elements_are_cut() {
        let labels = [4, 4, 0, 4, 2, 2, 0, 0, 4];
        let cut = |size: usize| {
            let elements: Vec<FragmentSums> = (0..)
                .zip(labels)
                .map(|(k, label)| element(label, k))
                .collect();
            let lists = elements.chunks(size).map(|chunk| {
                let mut parts = FragmentSumList::default();
                chunk.iter().for_each(|element| parts.add(element));
                parts.sorted()
            });
            table(&merged(lists.collect::<Vec<_>>()), 7, 0.5)
        };
        let whole = cut(labels.len());
        assert_eq!(whole.fragment, [0, 2, 4]);
        assert_eq!(whole.body, [0, 1, 2]);
        assert_eq!(whole.elements, [3, 2, 4]);
        assert_eq!(whole.mass, [18.0, 11.0, 16.0]);
        assert_eq!(whole.area, [15.0, 9.0, 12.0]);
        assert_eq!(whole.x[1], (5.0 * 4.0 + 6.0 * 5.0) / 11.0);
        assert_eq!((whole.min_z[0], whole.max_x[0]), (-7.5, 7.5));
        assert_eq!((whole.frame[2], whole.time[0]), (7, 0.5));
        for size in 1..labels.len() {
            assert_eq!(cut(size), whole);
        }
    }
}
