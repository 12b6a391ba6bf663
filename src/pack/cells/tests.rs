use super::*;
use crate::geometry::shapes;

fn bunny() -> TriMesh {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/pipelines/meshes/bunny.obj");
    crate::geometry::read::read(path.as_ref()).expect("a mesh")
}

/// About `count` cells of a mesh after `rounds` rounds of relaxation.
fn cells_of_mesh(mesh: &TriMesh, count: usize, rounds: u32) -> Vec<Convex> {
    let spacing = (mesh.volume() / count as f64).cbrt();
    let solid = FillRegion::closed(mesh);
    let generators = draw::draw_points(&solid, mesh.bounds().unwrap(), (count, spacing), 5);
    let border = CellBorder::Skin(Mirror::new(mesh));
    relax::relaxed_cells(&border, generators, spacing, rounds).unwrap()
}

/// The cells of these solids, after a check that their faces close: for each cell the area vectors add up to
/// zero and the pyramids over the faces to its volume. Normals of shared faces point out of the first cell.
fn checked_cells(solids: &[Convex]) -> Cells {
    let mut cells = Cells::of(solids).unwrap();
    cells.remove_slivers(1e-6);
    let none = (DVec3::ZERO, 0.0, 0.0);
    let mut sums = vec![none; solids.len()];
    let mut add = |cell: u32, sign: f64, section: &crate::geometry::section::Section| {
        let (areas, surface, six) = &mut sums[cell as usize];
        let area = section.normal * (sign * section.area);
        *areas += area;
        *surface += section.area;
        *six += area.dot(section.centre - cells.masses[cell as usize].centre);
    };
    for one in &cells.between {
        add(one.cells[0], 1.0, &one.section);
        add(one.cells[1], -1.0, &one.section);
    }
    for one in &cells.free {
        add(one.cell, 1.0, &one.section);
    }
    for ((areas, surface, six), mass) in sums.iter().zip(&cells.masses) {
        assert!(areas.length() < 1e-5 * surface, "{areas} {surface}");
        assert!((six / 3.0 / mass.volume - 1.0).abs() < 1e-5);
    }
    cells
}

fn volume(cells: &Cells) -> f64 {
    cells.masses.iter().map(|mass| mass.volume).sum()
}

#[test]
fn cells_hold_what_a_round_mesh_holds() {
    let (ball, tin) = (shapes::sphere(1.0), shapes::cylinder(1.0, 2.0));
    for (mesh, count, most) in [
        (&ball, 1000, 5e-4),
        (&tin, 1000, 5e-4),
        (&bunny(), 1000, 5e-3),
        (&bunny(), 5000, 1e-3),
    ] {
        let cells = checked_cells(&cells_of_mesh(mesh, count, 10));
        let off = volume(&cells) / mesh.volume() - 1.0;
        println!("{count} cells: volume off by {off:.1e}");
        assert!(off.abs() < most, "{count}: {off}");
        assert_eq!(cells.masses.len(), count);
        let mean = mesh.volume() / count as f64;
        let least = cells.masses.iter().map(|mass| mass.volume / mean);
        assert!(least.fold(f64::INFINITY, f64::min) > 0.3);
    }
}

#[test]
fn cells_of_a_mesh_with_plane_sides_fill_it_and_keep_its_edges() {
    let size = DVec3::new(1.0, 2.0, 0.5);
    let mesh = shapes::cuboid(size);
    for (count, rounds) in [(300, 0), (300, 5)] {
        let cells = checked_cells(&cells_of_mesh(&mesh, count, rounds));
        assert!((volume(&cells) - 1.0).abs() < 1e-9);
        for one in &cells.free {
            let off = (one.section.centre.abs() - 0.5 * size).abs().min_element();
            assert!(off < 1e-9, "{one:?}");
        }
    }
}

#[test]
fn generators_come_near_the_centres_of_their_cells() {
    let half = DVec3::new(0.5, 0.5, 0.5);
    let solid = FillRegion::Cuboid { half };
    let spacing = 0.1;
    let generators = draw::draw_points(&solid, (-half, half), (1000, spacing), 1);
    assert_eq!(generators.len(), 1000);
    let spread = |rounds: u32| {
        let border = CellBorder::Box { half };
        let solids = relax::relaxed_cells(&border, generators.clone(), spacing, rounds).unwrap();
        let cells = checked_cells(&solids);
        assert!((volume(&cells) - 1.0).abs() < 1e-9);
        let off = cells.masses.iter().map(|mass| (mass.volume - 1e-3).powi(2));
        (off.sum::<f64>() / 1000.0).sqrt() / 1e-3
    };
    let (drawn, relaxed) = (spread(0), spread(10));
    assert!(relaxed < 0.12 && drawn > 1.5 * relaxed, "{drawn} {relaxed}");
}

#[test]
fn cells_on_both_sides_of_a_thin_gap_are_not_joined() {
    let mut mesh = shapes::cuboid(DVec3::ONE);
    let mut other = shapes::cuboid(DVec3::ONE);
    for p in &mut other.positions {
        p.x += 1.002;
    }
    mesh.append(other);
    let cells = Cells::of(&cells_of_mesh(&mesh, 400, 5)).unwrap();
    let side = |cell: u32| cells.masses[cell as usize].centre.x > 0.501;
    for one in &cells.between {
        let [a, b] = one.cells.map(side);
        assert_eq!(a, b, "{one:?}");
    }
    assert!((volume(&cells) / 2.0 - 1.0).abs() < 2e-3);
}

#[test]
fn the_same_bits_on_any_number_of_threads() {
    let mesh = shapes::sphere(1.0);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| cells_of_mesh(&mesh, 500, 3))
    };
    assert_eq!(run(1), run(3));
}

/// Cells of one Voronoi diagram are disjoint: no face centre of one lies in another.
#[test]
fn cells_at_the_skin_do_not_overlap() {
    let solids = cells_of_mesh(&bunny(), 500, 5);
    let cells = Cells::of(&solids).unwrap();
    let planes = |solid: &Convex| -> Vec<(DVec3, DVec3)> {
        let sections = solid.faces.iter();
        let sections = sections.filter_map(|f| crate::geometry::section::Section::of(&f.corners));
        sections.map(|s| (s.centre, s.normal)).collect()
    };
    let planes: Vec<_> = solids.iter().map(planes).collect();
    let size = (bunny().volume() / 500.0).cbrt();
    for one in &cells.free {
        for (other, planes) in planes.iter().enumerate() {
            if other as u32 != one.cell {
                let p = one.section.centre;
                let depth = planes.iter().map(|(q, n)| n.dot(*q - p));
                assert!(depth.fold(f64::INFINITY, f64::min) < 1e-9 * size);
            }
        }
    }
}

#[test]
fn bricks_fill_a_box_and_come_to_a_point_at_a_pole() {
    let grid = BrickGrid::new(DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0), [2, 3, 4]);
    let solids = grid.solids(&[true; 24]);
    let cells = checked_cells(&solids);
    assert_eq!((cells.between.len(), cells.free.len()), (46, 52));
    assert!((volume(&cells) - 6.0).abs() < 1e-12);
    let skin = bricks::skin(&solids);
    assert!((skin.volume() - 6.0).abs() < 1e-12);
    // A cap of three bricks around the pole of a ball, whose faces there degenerate to lines.
    let corner = |[i, j, k]: [usize; 3]| {
        let (sine, cosine) = [(0.5, 0.75f64.sqrt()), (0.0, 1.0)][j];
        let (x, z) = (std::f64::consts::TAU * (i % 3) as f64 / 3.0).sin_cos();
        DVec3::new(x * sine, cosine, z * sine) * (1.0 + k as f64)
    };
    let cap = bricks::solids([3, 1, 1], true, &[true; 3], corner);
    assert!(cap.iter().all(|solid| solid.faces.len() == 5));
    let cells = checked_cells(&cap);
    assert_eq!((cells.between.len(), cells.free.len()), (3, 9));
    assert!((bricks::skin(&cap).volume() - volume(&cells)).abs() < 1e-12);
}
