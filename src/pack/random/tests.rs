use super::*;

fn draw(seed: u64, spread: f64) -> SphereDraw {
    SphereDraw {
        seed,
        body: 0,
        spread,
    }
}

/// Mean number of neighbours of a sphere whose centres are nearer than `factor` times the sum of radii.
fn neighbours(tile: &Tile, factor: f64) -> f64 {
    tile.statistics(factor, 0.0).coordination
}

/// Deepest overlap over the smaller radius; negative if all spheres are separated by gaps.
fn deepest(tile: &Tile) -> f64 {
    let list = NeighbourList::new(tile.cell, &tile.positions, &tile.radii, 1.1, 0.0);
    let mut deepest = f64::NEG_INFINITY;
    for (i, r) in tile.radii.iter().enumerate() {
        for &j in list.of(i) {
            let other = tile.radii[j as usize];
            let d = tile
                .cell
                .between(tile.positions[i], tile.positions[j as usize]);
            deepest = deepest.max((r + other - d.length()) / r.min(other));
        }
    }
    deepest
}

#[test]
fn spheres_are_close_packed_without_overlap() {
    for (seed, spread, least, contacts) in [
        (1, 0.0, 0.635, 5.4),
        (7, 0.0, 0.635, 5.4),
        (1, 0.3, 0.64, 4.5),
        (2, 0.64, 0.65, 3.0),
    ] {
        let tile = Tile::new(DVec3::splat(28.0), draw(seed, spread));
        let (phi, overlap) = (filling_fraction(&tile.cell, &tile.radii), deepest(&tile));
        let (touching, near) = (neighbours(&tile, 1.0005), neighbours(&tile, 1.1));
        println!(
            "{} spheres, spread {spread}: phi {phi:.4}, overlap {overlap:.2e} r, {touching:.2} contacts, {near:.2} within 1.1",
            tile.radii.len()
        );
        assert!(phi > least && phi < 0.69, "{phi}");
        assert!(overlap > 0.0 && overlap < 1e-3, "{overlap}");
        // The mean includes rattlers, which touch no other sphere.
        assert!(touching > contacts && touching < 6.3, "{touching}");
        assert!(near > 7.8 && near < 9.6, "{near}");
        let (low, high) = tile
            .radii
            .iter()
            .fold((9.0_f64, 0.0_f64), |(low, high), r| {
                (low.min(*r), high.max(*r))
            });
        assert!(low >= (1.0 - spread) * 0.98 && high <= (1.0 + spread) * 1.02);
        assert!((tile.radii.iter().sum::<f64>() / tile.radii.len() as f64 - 1.0).abs() < 1e-12);
        if spread > 0.0 {
            assert!(high - low > 1.95 * spread, "{low} {high}");
        }
    }
}

#[test]
fn a_loosened_cell_is_as_full_as_asked_for_with_gaps_between_all() {
    let close = Tile::new(DVec3::splat(20.0), draw(4, 0.3));
    for fraction in [0.5, 0.58] {
        let loose = close.clone().loosened(fraction);
        assert!((filling_fraction(&loose.cell, &loose.radii) / fraction - 1.0).abs() < 1e-12);
        assert_eq!(loose.radii, close.radii);
        let gap = -deepest(&loose);
        println!("{fraction}: least gap {gap:.4} r");
        assert!(gap > 0.01, "{gap}");
    }
    let full = close.clone().loosened(0.9);
    assert_eq!(full.positions, close.positions, "none is pushed together");
}

#[test]
fn a_cell_is_no_crystal_and_differs_with_seed_and_body() {
    let tile = Tile::new(DVec3::splat(28.0), draw(1, 0.0));
    // Second neighbours in close-packed crystals are √2 diameters apart; at that distance a random packing
    // has a gap between two shells of neighbours.
    let shell = |from: f64, to: f64| neighbours(&tile, to) - neighbours(&tile, from);
    let (gap, split) = (shell(1.39, 1.44) / 0.05, shell(1.70, 1.75) / 0.05);
    assert!(gap < 0.7 * split, "{gap} {split}");
    let others = [
        draw(2, 0.0),
        SphereDraw {
            body: 1,
            ..draw(1, 0.0)
        },
    ];
    for other in others.map(|other| Tile::new(DVec3::splat(16.0), other)) {
        assert!(tile.positions[..10] != other.positions[..10]);
    }
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| Tile::new(DVec3::new(20.0, 16.0, 30.0), draw(3, 0.2)))
    };
    let (one, three) = (run(1), run(3));
    assert_eq!(one.positions, three.positions);
    assert_eq!(one.radii, three.radii);
}

#[test]
fn a_solid_larger_than_the_cell_is_filled_with_copies_that_fit() {
    let tile = Tile::new(DVec3::splat(16.0), draw(1, 0.0));
    let half = tile.cell.edges * 1.3;
    let region = FillRegion::Cuboid { half };
    let points = tile.fill(&region, (-half, half), 1.0, 0.0);
    let expected = 8.0 * 1.3_f64.powi(3) * tile.radii.len() as f64;
    assert!((points.centres.len() as f64 / expected - 1.0).abs() < 0.02);
    let grid = crate::geometry::cell_grid::CellGrid::new(&points.centres, 2.0);
    for (i, p) in (0..).zip(&points.centres) {
        grid.around(*p, |j| {
            let distance = points.centres[j as usize].distance(*p);
            assert!(
                i == j || distance > points.radii[i as usize] + points.radii[j as usize] - 1e-3
            );
        });
    }
}
