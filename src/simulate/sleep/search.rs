//! Which elements a search for contacts has to visit while nothing is awake.

use crate::math::Scalar;
use crate::simulate::sleep::pieces::Sleep;
use crate::simulate::sleep::surroundings::Surroundings;

impl<S: Scalar> Sleep<S> {
    /// Which elements may be within the skin of an element of another piece. Only for times when nothing is
    /// awake.
    pub fn close_elements(&self, around: Surroundings<S>) -> Vec<bool> {
        let contacts = around.contacts;
        let touches = around.system.bonds.touch.values().copied();
        let longest = touches
            .map(S::to_f64)
            .fold(2.0 * contacts.largest(), f64::max);
        let margin = longest + contacts.skin();
        let mut close = vec![false; around.system.motion.len()];
        let mut spheres = vec![Vec::new(); self.pieces.len()];
        // Pieces by where they begin along x: those that begin beyond the end of another one are apart from it.
        let begins = self.pieces.iter().map(|one| one.centre().x - one.reach);
        let begins: Vec<f64> = begins.collect();
        let mut order: Vec<usize> = (0..self.pieces.len()).collect();
        order.sort_by(|&a, &b| begins[a].total_cmp(&begins[b]));
        for (k, &at) in order.iter().enumerate() {
            let a = &self.pieces[at];
            let end = a.centre().x + a.reach + margin;
            let later = order[k + 1..].iter();
            for &other in later.take_while(|&&other| begins[other] <= end) {
                let b = &self.pieces[other];
                let apart = a.centre().distance(b.centre()) - a.reach - b.reach;
                if a.still && b.still || apart > margin {
                    continue;
                }
                for (k, piece) in [(at, a), (other, b)] {
                    if spheres[k].is_empty() {
                        spheres[k] = piece.placed().spheres();
                    }
                }
                for (one, (p, r)) in a.clusters.iter().zip(&spheres[at]) {
                    for (two, (q, s)) in b.clusters.iter().zip(&spheres[other]) {
                        if p.distance(*q) - r - s <= margin {
                            let own = one.elements.iter().map(|&k| a.elements[k as usize]);
                            let others = two.elements.iter().map(|&k| b.elements[k as usize]);
                            own.chain(others).for_each(|i| close[i as usize] = true);
                        }
                    }
                }
            }
        }
        close
    }
}

#[cfg(test)]
mod tests {
    use super::{Sleep, Surroundings};
    use crate::simulate::contact::lists::Contacts;
    use crate::simulate::sleep::piece::Piece;

    #[test]
    fn lists_among_close_elements_are_those_among_all() {
        let text = "[time]\nend = 1\nframes_per_second = 1\n[[material]]\nname = \"m\"\ndensity = 2600\nyoung = 1e7\n\
                    tensile_strength = 1e5\nshear_strength = 1e5\n";
        let block = |name: &str, position: &str| {
            format!(
                "[[body]]\nname = \"{name}\"\nmaterial = \"m\"\nposition = {position}\n\
                 shape = {{ type = \"block\", rows = [16, 5, 4] }}\npacking = {{ type = \"hexagonal\", radius = 1e-3 }}\n"
            )
        };
        // The second lies on an end of the first, the third is far away.
        let bodies = [
            ("a", "[0, 0, 0]"),
            ("b", "[0.02, 9e-3, 0]"),
            ("c", "[0, 0.1, 0]"),
        ];
        let bodies = bodies.map(|(name, position)| block(name, position));
        let pipeline =
            crate::spec::parse(&(text.to_owned() + &bodies.concat()), "test", &[]).unwrap();
        let packing = crate::pack::pack(&pipeline, std::path::Path::new("."))
            .unwrap()
            .packing;
        let mut built = crate::simulate::build::<f64>(&packing, &pipeline).unwrap();
        let (system, rest) = (&mut built.system, &built.rest);
        let held = vec![false; system.count];
        let limits = &pipeline.simulate.sleep_limits;
        let mut sleep = Sleep::new(limits, (&*system, rest), &held, 3, 0.0);
        for body in 0..3 {
            let own = (0..system.count as u32).filter(|&i| rest.body[i as usize] == body);
            let own: Vec<u32> = own.collect();
            let carried = vec![Default::default(); own.len()];
            sleep.add(Piece::new(4 + body, own, (&*system, rest), carried), true);
        }
        sleep.mask(system, &mut built.load, rest);
        let mut contacts = Contacts::new(system, &built.surfaces, &[]);
        let lists = |contacts: &Contacts<f64>| -> Vec<Vec<u32>> {
            (0..system.count as u32)
                .map(|i| contacts.partners(i))
                .collect()
        };
        let all = lists(&contacts);
        let listed = all.iter().filter(|partners| !partners.is_empty()).count();
        let close = sleep.close_elements(Surroundings {
            system,
            contacts: &contacts,
            colliders: &[],
        });
        let count = close.iter().filter(|is_close| **is_close).count();
        assert!(
            listed > 20 && count > listed && count < system.count / 2,
            "{listed} {count}"
        );
        contacts.rebuild_among(system, &[], |i| close[i]);
        assert!(lists(&contacts) == all);
    }
}
