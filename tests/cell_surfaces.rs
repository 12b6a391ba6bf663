//! Surfaces of fragments of cells: closed, without gaps or overlaps.

use std::collections::HashMap;

use cullet::columns::NONE;
use cullet::geometry::TriMesh;
use cullet::reconstruct::cells::complex::CellComplex;
use cullet::reconstruct::cells::draw::surfaces;
use cullet::spec;
use cullet::{pack, store::Packing};
use glam::DVec3;

const BUNNY: &str = "[time]\nend = 1\nframes_per_second = 24\n\
    [[material]]\nname = \"m\"\ndensity = 1000\nyoung = 1e6\npoisson = 0.2\n\
    [[body]]\nname = \"a\"\nmaterial = \"m\"\nshape = { type = \"mesh\", file = \"meshes/bunny.obj\", height = 0.1 }\n\
    packing = { type = \"voronoi\", cells = 400, relax = 3 }\n";

fn bunny() -> Packing {
    let base = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines");
    let text = BUNNY.replace("meshes/", &format!("{base}/meshes/"));
    let pipeline = spec::parse(&text, "bunny.toml", &[]).unwrap();
    pack::pack(&pipeline, base.as_ref()).unwrap().packing
}

fn complex(packing: &Packing) -> CellComplex {
    let e = &packing.elements;
    let centres: Vec<DVec3> = (0..e.id.len())
        .map(|k| DVec3::new(e.x[k], e.y[k], e.z[k]))
        .collect();
    let faces = &packing.cells.faces;
    let made = CellComplex::new(0, faces, &e.id, &centres, &e.r).unwrap();
    made.expect("cells")
}

/// Each edge is used equally often in both directions.
fn require_closed(mesh: &TriMesh) {
    let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
    for t in &mesh.triangles {
        for [a, b] in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]] {
            let way = if a < b { 1 } else { -1 };
            *edges.entry([a.min(b), a.max(b)]).or_default() += way;
        }
    }
    assert!(edges.values().all(|&sum| sum == 0));
}

#[test]
fn fragments_of_cells_are_closed_and_fill_the_body() {
    let packing = bunny();
    let complex = complex(&packing);
    let e = &packing.elements;
    let all: f64 = e.volume.iter().sum();
    // The body whole; in three parts by height; each cell a fragment of its own.
    let heights = |parts: f64| -> Vec<u32> {
        e.y.iter()
            .map(|y| (y / 0.1 * parts).floor() as u32)
            .collect()
    };
    for labels in [heights(1e-9), heights(3.0), e.id.clone()] {
        let bonds = &packing.bonds;
        let is_whole = |bond: u32| {
            let [i, j] = [bonds.i[bond as usize], bonds.j[bond as usize]];
            labels[i as usize] == labels[j as usize]
        };
        let found = surfaces(&complex, &e.id, &labels, is_whole);
        let mut sum = 0.0;
        for surface in &found {
            require_closed(&surface.rest_surface.mesh);
            sum += surface.rest_surface.mesh.volume();
        }
        println!(
            "{} fragments, volume off by {:.1e}",
            found.len(),
            sum / all - 1.0
        );
        assert!((sum / all - 1.0).abs() < 1e-6, "{sum} {all}");
    }
    // A fragment of one cell has the volume of that cell.
    let found = surfaces(&complex, &e.id, &e.id, |_| false);
    for (surface, volume) in found.iter().zip(&e.volume) {
        assert!((surface.rest_surface.mesh.volume() / volume - 1.0).abs() < 1e-3);
    }
}

#[test]
fn a_crack_that_ends_within_a_fragment_has_two_sides_and_one_rim() {
    let packing = bunny();
    let complex = complex(&packing);
    let labels = vec![0; packing.elements.id.len()];
    let broken = complex
        .polygons
        .iter()
        .find(|one| one.other != NONE)
        .unwrap()
        .bond;
    let whole = surfaces(&complex, &packing.elements.id, &labels, |_| true);
    let found = surfaces(&complex, &packing.elements.id, &labels, |bond| {
        bond != broken
    });
    require_closed(&found[0].rest_surface.mesh);
    let inside = |one: &[u8]| one.iter().filter(|&&inside| inside == 1).count();
    assert_eq!(inside(&whole[0].rest_surface.inside), 0);
    let count = inside(&found[0].rest_surface.inside);
    assert!(count >= 2 && count % 2 == 0, "{count}");
    let [a, b] = [&whole[0], &found[0]].map(|one| one.rest_surface.mesh.volume());
    assert!((a / b - 1.0).abs() < 1e-12);
}
