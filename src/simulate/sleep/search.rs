//! Which elements a search for contacts has to visit: sleeping fragments are mostly far from others.

use glam::DVec3;

use crate::math::Scalar;
use crate::simulate::bonded::system::System;
use crate::simulate::contact::rebuild::Candidates;
use crate::simulate::sleep::piece::Piece;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::surroundings::Surroundings;

/// Something that the search compares with the rest: a piece, or awake elements in one sphere.
struct Body<'a> {
    centre: DVec3,
    reach: f64,
    still: bool,
    /// `None` for awake elements.
    piece: Option<&'a Piece>,
    /// Spheres around its clusters, once they are needed.
    spheres: Vec<(DVec3, f64)>,
}

impl Body<'_> {
    /// Spheres around its parts: middle and radius, m.
    fn place(&mut self) {
        if self.spheres.is_empty() {
            self.spheres = match self.piece {
                Some(piece) => piece.placed().spheres(),
                None => vec![(self.centre, self.reach)],
            };
        }
    }

    /// Marks the elements in its sphere `at` that are within `distance` (m) of a place.
    fn mark(&self, at: usize, (place, distance): (DVec3, f64), marks: &mut [bool]) {
        if let Some(piece) = self.piece {
            for &k in &piece.clusters[at].elements {
                if piece.place(k as usize).distance_squared(place) <= distance * distance {
                    marks[piece.elements[k as usize] as usize] = true;
                }
            }
        }
    }
}

impl<S: Scalar> Sleep<S> {
    /// Which elements may be within the skin of an element of another piece, of one that is awake, or of a collider;
    /// `None` if so many are awake that all may as well be visited. Those of removed pieces are never visited.
    pub fn candidates(&self, around: Surroundings<S>) -> Option<Candidates> {
        if self.awake() > around.system.count / 4 {
            return self.all_but_removed(around.system.motion.len());
        }
        let contacts = around.contacts;
        let touches = around.system.bonds.touch.values().copied();
        let longest = touches
            .map(S::to_f64)
            .fold(2.0 * contacts.largest(), f64::max);
        let mut marks = vec![false; around.system.motion.len()];
        for (i, mark) in marks.iter_mut().enumerate().take(around.system.count) {
            *mark = !self.is_asleep(i);
        }
        let mut colliders = marks.clone();
        // A little more, so that whatever else compares the same distance finds the places up to date.
        let reach = 1.01 * (contacts.largest() + contacts.skin());
        for piece in self.pieces.iter().filter(|piece| !piece.still) {
            let touches = |(centre, own): (DVec3, f64)| {
                let mut all = around.colliders.iter();
                all.any(|one| one.pose.reaches(&one.solid, centre, own + reach))
            };
            if !touches((piece.centre(), piece.reach)) {
                continue;
            }
            let spheres = piece.placed().spheres().into_iter();
            for (cluster, sphere) in piece.clusters.iter().zip(spheres) {
                if touches(sphere) {
                    for &k in &cluster.elements {
                        colliders[piece.elements[k as usize] as usize] = true;
                    }
                }
            }
        }
        self.mark_close(around.system, longest + contacts.skin(), &mut marks);
        Some(Candidates {
            pairs: marks,
            colliders,
            exposure: None,
        })
    }

    /// Marks elements of pieces that may be within `margin` (m) of another piece or of an element that is awake.
    fn mark_close<'a>(&'a self, system: &System<S>, margin: f64, marks: &mut [bool]) {
        let of_piece = |piece: &'a Piece| Body {
            centre: piece.centre(),
            reach: piece.reach,
            still: piece.still,
            piece: Some(piece),
            spheres: Vec::new(),
        };
        let of_sphere = |(centre, reach)| Body {
            centre,
            reach,
            still: false,
            piece: None,
            spheres: Vec::new(),
        };
        let awake = self.awake_spheres(system).into_iter().map(of_sphere);
        let pieces = self.pieces.iter().filter(|piece| !piece.removed);
        let mut bodies: Vec<Body> = pieces.map(of_piece).chain(awake).collect();
        // Bodies by where they begin along x: those that begin beyond the end of another one are apart from it.
        let begins = bodies.iter().map(|one| one.centre.x - one.reach);
        let begins: Vec<f64> = begins.collect();
        let mut order: Vec<usize> = (0..bodies.len()).collect();
        order.sort_by(|&a, &b| begins[a].total_cmp(&begins[b]));
        for (k, &at) in order.iter().enumerate() {
            let end = bodies[at].centre.x + bodies[at].reach + margin;
            let later = order[k + 1..].iter();
            for &other in later.take_while(|&&other| begins[other] <= end) {
                let (a, b) = (&bodies[at], &bodies[other]);
                let apart = a.centre.distance(b.centre) - a.reach - b.reach;
                if a.still && b.still || a.piece.is_none() && b.piece.is_none() || apart > margin {
                    continue;
                }
                bodies[at].place();
                bodies[other].place();
                let (a, b) = (&bodies[at], &bodies[other]);
                for (of_a, (p, r)) in a.spheres.iter().enumerate() {
                    for (of_b, (q, s)) in b.spheres.iter().enumerate() {
                        if p.distance(*q) - r - s <= margin {
                            a.mark(of_a, (*q, s + margin), marks);
                            b.mark(of_b, (*p, r + margin), marks);
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Surroundings;
    use crate::simulate::contact::lists::Contacts;
    use crate::simulate::sleep::test_scene::asleep;

    #[test]
    fn lists_among_candidates_are_those_among_all() {
        let text = "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 2600\nyoung = 1e7\n\
                    tensile_strength = 1e5\nshear_strength = 1e5\n";
        let block = |name: &str, position: &str, rows: &str| {
            format!(
                "[[body]]\nname = \"{name}\"\nmaterial = \"m\"\nposition = {position}\n\
                 shape = {{ type = \"block\", rows = {rows} }}\npacking = {{ type = \"hexagonal\", radius = 1e-3 }}\n"
            )
        };
        // The second lies on an end of the first, the third is far away, the fourth, which is awake, on the other end.
        let bodies = [
            ("a", "[0, 0, 0]", "[16, 5, 4]"),
            ("b", "[0.02, 9e-3, 0]", "[16, 5, 4]"),
            ("c", "[0, 0.1, 0]", "[16, 5, 4]"),
            ("d", "[-0.013, 9e-3, 0]", "[3, 3, 3]"),
        ];
        let bodies = bodies.map(|(name, position, rows)| block(name, position, rows));
        let (built, sleep) = asleep(&(text.to_owned() + &bodies.concat()), 0..3);
        let system = &built.system;
        let mut contacts = Contacts::new(system, &built.surfaces, &[]);
        let lists = |contacts: &Contacts<f64>| -> Vec<Vec<u32>> {
            (0..system.count as u32)
                .map(|i| contacts.partners(i))
                .collect()
        };
        let all = lists(&contacts);
        let listed = all.iter().filter(|partners| !partners.is_empty()).count();
        let close = sleep.candidates(Surroundings {
            system,
            contacts: &contacts,
            colliders: &[],
        });
        let close = close.unwrap();
        let count = close.pairs.iter().filter(|is_close| **is_close).count();
        assert!(
            listed > 20 && count > listed && count < system.count / 2,
            "{listed} {count}"
        );
        contacts.rebuild_among(system, &[], Some(&close));
        assert!(lists(&contacts) == all);
    }
}
