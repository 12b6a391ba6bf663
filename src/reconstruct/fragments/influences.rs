//! Which elements the vertices of a fragment follow.

use crate::parallel::prelude::*;
use glam::DVec3;

use crate::reconstruct::cracks::field::Cracks;
use crate::reconstruct::surface::binding::Binding;
use crate::reconstruct::surface::rest_surface::RestSurface;
use crate::reconstruct::surface::rigged::{
    Influence, MAX_INFLUENCES, RiggedSurface, influences_of,
};

/// The surface of a fragment with the elements that each vertex follows, chosen according to its binding.
/// `index` is the index of the fragment, `fragment` its label.
pub fn rigged(
    cracks: &Cracks,
    index: u32,
    fragment: u32,
    rest_surface: RestSurface,
    bindings: &[Binding],
) -> RiggedSurface {
    let vertices = rest_surface.mesh.positions.par_iter().with_min_len(256);
    let influences = vertices
        .zip(bindings)
        .map(|(&x, &binding)| influences(cracks, x, binding, index))
        .collect();
    RiggedSurface {
        fragment,
        rest_surface,
        influences,
    }
}

/// The elements that a vertex at `x` follows: the nearest ones on its own side, in the fragment with this
/// index.
fn influences(
    cracks: &Cracks,
    x: DVec3,
    binding: Binding,
    index: u32,
) -> [Influence; MAX_INFLUENCES] {
    let body = cracks.body;
    let vertex = match binding {
        Binding::SkinVertex(vertex) => Some(vertex),
        Binding::Elements(_) | Binding::Nearest => None,
    };
    let x = body.root_of(x, vertex);
    let own = |element: u32| cracks.fragment_of[element as usize] == index;
    let mut nearest = NearestElements::default();
    let mut add = |element: u32| {
        if own(element) {
            nearest.add(
                x.distance_squared(body.positions[element as usize]),
                element,
            );
        }
    };
    match binding {
        Binding::Elements(owners) => {
            for (m, &owner) in owners.iter().enumerate() {
                if m == 0 || owners[m - 1] != owner {
                    add(owner);
                    cracks.graph.neighbours(owner).iter().for_each(|&e| add(e));
                }
            }
        }
        Binding::SkinVertex(vertex) => body.nearest_elements[vertex as usize]
            .iter()
            .for_each(|&e| add(e)),
        Binding::Nearest => (),
    }
    if nearest.count == 0 {
        for (squared, element) in body.nearest_on_own_side(x, own, MAX_INFLUENCES) {
            nearest.add(squared, element);
        }
    }
    let found = &nearest.found[..nearest.count];
    // A vertex bound to elements is on their side already; other vertices keep to the side of the nearest
    // element.
    let free = !matches!(binding, Binding::Elements(_))
        && found.iter().any(|&(_, e)| cracks.has_open_bonds(e));
    let first = found[0];
    let found = found.iter().copied();
    let found = found.filter(|&(_, e)| !free || !cracks.separates(first.1, e));
    influences_of(found, &body.rows, body.radius)
}

/// The nearest elements seen so far with their squared distances, nearest first; ties are sorted by element.
#[derive(Default)]
struct NearestElements {
    found: [(f64, u32); MAX_INFLUENCES],
    count: usize,
}

impl NearestElements {
    fn add(&mut self, squared: f64, element: u32) {
        let known = &self.found[..self.count];
        let rank = known.partition_point(|&entry| entry < (squared, element));
        if rank == MAX_INFLUENCES || known.get(rank) == Some(&(squared, element)) {
            return;
        }
        self.count = (self.count + 1).min(MAX_INFLUENCES);
        self.found[rank..self.count].rotate_right(1);
        self.found[rank] = (squared, element);
    }
}
