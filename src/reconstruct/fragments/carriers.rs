//! Which elements the vertices of a fragment follow.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::surface::carried::{CARRIERS, Carried, Carrier};
use crate::reconstruct::surface::hold::Hold;
use crate::reconstruct::surface::shell::Shell;

/// Width of the Gaussian weight, radii.
const WIDTH: f64 = 1.0;

/// The surface of a fragment with the elements that each vertex follows, chosen according to its binding.
/// `index` is the index of the fragment, `fragment` its label.
pub fn carried(
    cracks: &Cracks,
    piece: u32,
    fragment: u32,
    shell: Shell,
    holds: &[Hold],
) -> Carried {
    let vertices = shell.mesh.positions.par_iter().with_min_len(256);
    let carriers = vertices
        .zip(holds)
        .map(|(&x, &hold)| carriers(cracks, x, hold, piece))
        .collect();
    Carried {
        fragment,
        shell,
        carriers,
    }
}

/// The elements that a vertex at `x` follows: the nearest ones on its own side, in the fragment with this
/// index.
fn carriers(cracks: &Cracks, x: DVec3, hold: Hold, piece: u32) -> [Carrier; CARRIERS] {
    let body = cracks.body;
    let own = |element: u32| cracks.piece_of[element as usize] == piece;
    let mut nearest = Nearest::default();
    let mut add = |element: u32| {
        if own(element) {
            nearest.add(
                x.distance_squared(body.positions[element as usize]),
                element,
            );
        }
    };
    match hold {
        Hold::Side(owners) => {
            for (m, &owner) in owners.iter().enumerate() {
                if m == 0 || owners[m - 1] != owner {
                    add(owner);
                    cracks.graph.row(owner).iter().for_each(|&e| add(e));
                }
            }
        }
        Hold::Skin(vertex) => body.anchors[vertex as usize].iter().for_each(|&e| add(e)),
        Hold::Near => (),
    }
    if nearest.count == 0 {
        for (squared, element) in body.nearest(x, own, CARRIERS) {
            nearest.add(squared, element);
        }
    }
    let found = &nearest.found[..nearest.count];
    // A vertex bound to elements is on their side already; other vertices keep to the side of the nearest
    // element.
    let free = !matches!(hold, Hold::Side(_)) && found.iter().any(|&(_, e)| cracks.is_open(e));
    let first = found[0];
    let found = found
        .iter()
        .filter(|&&(_, e)| !free || !cracks.parts(first.1, e));
    let falloff = 0.5 / (WIDTH * body.radius).powi(2);
    let mut carriers = [Carrier::default(); CARRIERS];
    for (carrier, &(squared, element)) in carriers.iter_mut().zip(found) {
        carrier.row = body.rows[element as usize];
        carrier.weight = (-(squared - first.0) * falloff).exp() as f32;
    }
    carriers
}

/// The nearest elements seen so far with their squared distances, nearest first; ties are sorted by element.
#[derive(Default)]
struct Nearest {
    found: [(f64, u32); CARRIERS],
    count: usize,
}

impl Nearest {
    fn add(&mut self, squared: f64, element: u32) {
        let known = &self.found[..self.count];
        let place = known.partition_point(|&entry| entry < (squared, element));
        if place == CARRIERS || known.get(place) == Some(&(squared, element)) {
            return;
        }
        self.count = (self.count + 1).min(CARRIERS);
        self.found[place..self.count].rotate_right(1);
        self.found[place] = (squared, element);
    }
}
