//! How surfaces pass through one cell of the grid, by rule.
//!
//! Corner `c` of a cell lies at bits (x, y, z) = (c & 1, c >> 1 & 1, c >> 2 & 1). Edge `4 a + u + 2 v` runs along axis
//! `a` at offsets `u`, `v` on the two axes that follow it cyclically. An edge is crossed if the skin passes through it, one end
//! being outside, or if a crack cuts it. Each inside end of a crossed edge is a *half*: one side of the surface there.
//!
//! On every face the crossed edges part the corners around it into arcs; an arc joins the halves at its two ends. A face with a
//! single cut edge has one arc that comes back to the same edge: there the crack ends, and both its sides are joined. The rule
//! looks at the face alone, so both cells of a face agree, and the joined halves close to loops. Without cuts these are the
//! polygons of marching cubes. What is cut decides, not who owns a corner: both ends of a cut edge may belong to one loop.

/// The loop of a half that is not there.
pub const NONE: u8 = u8::MAX;

/// Both corners of an edge, the first with the lower coordinate.
pub const fn edge_corners(edge: usize) -> [usize; 2] {
    let axis = edge / 4;
    let (u, v) = (edge & 1, edge >> 1 & 1);
    let start = u << ((axis + 1) % 3) | v << ((axis + 2) % 3);
    [start, start | 1 << axis]
}

/// The edge between two corners that differ in one coordinate.
const fn edge_between(a: usize, b: usize) -> usize {
    let axis = (a ^ b).trailing_zeros() as usize;
    let (u, v) = (a >> ((axis + 1) % 3) & 1, a >> ((axis + 2) % 3) & 1);
    4 * axis + u + 2 * v
}

/// Corners of the face at `side` (0 or 1) of `axis`, in order around it.
const fn face_corners(axis: usize, side: usize) -> [usize; 4] {
    let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
    let base = side << axis;
    [base, base | u, base | u | v, base | v]
}

/// One inside end of a crossed edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    /// The edge.
    pub edge: u8,
    /// 0 for its lower end, 1 for its upper.
    pub end: u8,
}

impl Half {
    fn of(edge: usize, corner: usize) -> Self {
        let end = usize::from(edge_corners(edge)[1] == corner);
        Half {
            edge: edge as u8,
            end: end as u8,
        }
    }

    /// The same half as the cell below the lower face along `axis` numbers it.
    pub fn from_below(self, axis: usize) -> Self {
        let along = self.edge as usize / 4;
        let offset = if (along + 1) % 3 == axis { 1 } else { 2 };
        Half {
            edge: self.edge + offset,
            end: self.end,
        }
    }

    /// The corner at the end.
    pub fn corner(self) -> usize {
        edge_corners(self.edge as usize)[self.end as usize]
    }
}

/// Inside corners of a face that hold together on it, between two crossed edges.
#[derive(Clone, Copy, Debug)]
pub struct Arc {
    /// Set of its corners.
    pub corners: u8,
    /// The halves that it joins.
    pub ends: [Half; 2],
}

/// What passes through a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Passing {
    /// Nothing.
    Nothing,
    /// The skin, or one crack.
    Sheet,
    /// A line: the rim of a crack on the skin, its tip, or where several meet.
    Line,
}

/// Which edges of a cell are crossed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Crossed {
    /// Set of the corners outside the skin.
    pub outside: u8,
    /// Set of the edges that cracks cut; both ends are inside.
    pub cut: u16,
}

impl Crossed {
    /// Whether an edge is crossed.
    pub fn is_crossed(self, edge: usize) -> bool {
        let [a, b] = edge_corners(edge);
        self.cut >> edge & 1 == 1 || self.is_outside(a) != self.is_outside(b)
    }

    /// Whether a corner lies outside.
    pub fn is_outside(self, corner: usize) -> bool {
        self.outside >> corner & 1 == 1
    }

    /// Whether no edge is crossed.
    pub fn is_empty(self) -> bool {
        self.cut == 0 && (self.outside == 0 || self.outside == 0xff)
    }

    /// The arcs of the face at `side` of `axis`, at most four.
    pub fn arcs(self, axis: usize, side: usize) -> impl Iterator<Item = Arc> {
        let corners = face_corners(axis, side);
        let edges: [usize; 4] =
            std::array::from_fn(|m| edge_between(corners[m], corners[(m + 1) % 4]));
        (0..4).filter_map(move |m| {
            let start = (m + 1) % 4;
            if !self.is_crossed(edges[m]) || self.is_outside(corners[start]) {
                return None;
            }
            let (mut last, mut set) = (start, 1 << corners[start]);
            while !self.is_crossed(edges[last]) {
                last = (last + 1) % 4;
                set |= 1 << corners[last];
            }
            Some(Arc {
                corners: set,
                ends: [
                    Half::of(edges[m], corners[start]),
                    Half::of(edges[last], corners[last]),
                ],
            })
        })
    }

    /// What passes through the face at `side` of `axis`.
    pub fn passing(self, axis: usize, side: usize) -> Passing {
        let corners = face_corners(axis, side);
        let (mut cuts, mut skins) = (0, 0);
        for m in 0..4 {
            let edge = edge_between(corners[m], corners[(m + 1) % 4]);
            cuts += usize::from(self.cut >> edge & 1 == 1);
            skins += usize::from(self.is_crossed(edge));
        }
        skins -= cuts;
        match (cuts, skins) {
            (0, 0) => Passing::Nothing,
            (0, _) | (2, 0) => Passing::Sheet,
            _ => Passing::Line,
        }
    }

    /// The loops of the halves.
    pub fn loops(self) -> Loops {
        // Each half takes the smallest number that it is joined to.
        let mut joined: [u8; 24] = std::array::from_fn(|half| half as u8);
        fn root(joined: &mut [u8; 24], mut half: u8) -> u8 {
            while joined[half as usize] != half {
                joined[half as usize] = joined[joined[half as usize] as usize];
                half = joined[half as usize];
            }
            half
        }
        for face in 0..6 {
            for arc in self.arcs(face / 2, face % 2) {
                let [a, b] = arc
                    .ends
                    .map(|half| root(&mut joined, 2 * half.edge + half.end));
                joined[a.max(b) as usize] = a.min(b);
            }
        }
        let mut loops = Loops {
            count: 0,
            of: [[NONE; 2]; 12],
        };
        for edge in (0..12).filter(|&edge| self.is_crossed(edge)) {
            for end in 0..2 {
                if self.is_outside(edge_corners(edge)[end]) {
                    continue;
                }
                let half = (2 * edge + end) as u8;
                let first = root(&mut joined, half);
                loops.of[edge][end] = if first == half {
                    loops.count += 1;
                    loops.count - 1
                } else {
                    loops.of[first as usize / 2][first as usize % 2]
                };
            }
        }
        loops
    }

    /// For each corner, the smallest corner that edges not crossed join it to.
    pub fn groups(self) -> [u8; 8] {
        let mut group: [u8; 8] = std::array::from_fn(|corner| corner as u8);
        loop {
            let before = group;
            for edge in (0..12).filter(|&edge| !self.is_crossed(edge)) {
                let [a, b] = edge_corners(edge);
                let least = group[a].min(group[b]);
                (group[a], group[b]) = (least, least);
            }
            if group == before {
                return group;
            }
        }
    }
}

/// The loops of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loops {
    /// How many.
    pub count: u8,
    /// The loop of each half, or [`NONE`].
    pub of: [[u8; 2]; 12],
}

impl Loops {
    /// The loop of a half.
    pub fn get(&self, half: Half) -> u8 {
        self.of[half.edge as usize][half.end as usize]
    }

    /// Halves of one loop.
    pub fn halves(&self, number: u8) -> impl Iterator<Item = Half> {
        (0..24_u8)
            .map(|half| Half {
                edge: half / 2,
                end: half % 2,
            })
            .filter(move |&half| self.get(half) == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_cuts_the_loops_are_those_of_marching_cubes() {
        for outside in 0..=255_u8 {
            let crossed = Crossed { outside, cut: 0 };
            let loops = crossed.loops();
            for number in 0..loops.count {
                let halves = loops.halves(number).count();
                assert!((3..=12).contains(&halves), "case {outside}");
            }
            for edge in 0..12 {
                let [a, b] = edge_corners(edge);
                assert_eq!(edge_between(a, b), edge);
                let drawn = loops.of[edge].iter().filter(|&&l| l != NONE).count();
                assert_eq!(drawn, usize::from(crossed.is_crossed(edge)));
            }
        }
        let loops = |outside| Crossed { outside, cut: 0 }.loops().count;
        assert_eq!((loops(0), loops(0xff), loops(0xfe)), (0, 0, 1));
        assert_eq!((loops(0b0110_1001), loops(0b1001_0110)), (4, 4));
    }

    #[test]
    fn a_crack_that_ends_in_a_cell_has_one_loop_and_one_that_passes_two() {
        // The four edges along x cut: left and right part. One alone: both sides meet around it.
        let through = Crossed {
            outside: 0,
            cut: 0b1111,
        };
        assert_eq!(through.loops().count, 2);
        assert_eq!(through.groups()[0], through.groups()[6]);
        assert_ne!(through.groups()[0], through.groups()[1]);
        for cut in [0b1, 0b11, 0b101] {
            let tip = Crossed { outside: 0, cut };
            assert_eq!(tip.loops().count, 1, "{cut:b}");
            assert!(tip.groups().iter().all(|&group| group == 0));
        }
        let passing = Crossed {
            outside: 0,
            cut: 0b11,
        };
        assert_eq!(passing.passing(2, 0), Passing::Sheet);
        assert_eq!(passing.passing(1, 0), Passing::Line);
        assert_eq!(passing.passing(2, 1), Passing::Nothing);
    }
}
