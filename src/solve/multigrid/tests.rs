use glam::DVec3;

use super::*;
use crate::laws::relative::relative;
use crate::laws::tangent::gauss_newton;
use crate::laws::{bond, cosserat};
use crate::math::{Mat3, Quat, Vec3};
use crate::solve::block::{self, Block};
use crate::solve::{Diagonal, conjugate_gradients};

const R: f64 = 1e-3;

/// Hexagonal close packing with these numbers of spheres along each axis.
pub fn packing(nx: usize, ny: usize, nz: usize) -> Vec<DVec3> {
    let mut places = Vec::new();
    for k in 0..nz {
        for j in 0..ny {
            for i in 0..nx {
                let x = 2.0 * i as f64 + ((j + k) % 2) as f64;
                let y = 3f64.sqrt() * (j as f64 + (k % 2) as f64 / 3.0);
                let z = 2.0 * 6f64.sqrt() / 3.0 * k as f64;
                places.push(DVec3::new(x, y, z) * R);
            }
        }
    }
    places
}

/// Matrix of an implicit step of `periods` periods: bonds of 1 GPa, elements of 2,600 kg/m³.
pub fn system(places: &[DVec3], periods: f64) -> BlockMatrix {
    let (young, shear, density) = (1e9, 4e8, 2600.0);
    let (area, l0) = (std::f64::consts::PI * R * R, 2.0 * R);
    let second = area * R * R / 4.0;
    let k = bond::stiffness(
        young * area,
        shear * area,
        2.0 * shear * second,
        young * second,
        l0,
    );
    let mass = 4.0 / 3.0 * std::f64::consts::PI * R * R * R * density;
    let period = 2.0 / (16.0 * std::f64::consts::FRAC_PI_2 * young * R / mass).sqrt();
    let step = periods * period;
    let mut rows: Vec<Vec<(u32, Block)>> = vec![Vec::new(); places.len()];
    // A grid of cells of one diameter finds neighbours.
    let cell = |p: DVec3| (p / (2.0 * R)).floor().as_ivec3();
    let mut cells = std::collections::HashMap::<_, Vec<usize>>::new();
    for (i, p) in places.iter().enumerate() {
        cells.entry(cell(*p)).or_default().push(i);
    }
    for (i, p) in places.iter().enumerate() {
        let mut own = block::diagonal(mass / (step * step));
        for (column, row) in own.iter_mut().enumerate().skip(3) {
            row[column] *= 0.4;
        }
        let mut near: Vec<usize> = Vec::new();
        for x in -1..=1 {
            for y in -1..=1 {
                for z in -1..=1 {
                    let at = cell(*p) + glam::IVec3::new(x, y, z);
                    near.extend(cells.get(&at).into_iter().flatten());
                }
            }
        }
        near.retain(|&j| j != i && (p.distance(places[j]) - l0).abs() < 1e-6 * l0);
        for j in near {
            let x = *p - places[j];
            let still = Quat::new(0.0, 0.0, 0.0, 1.0);
            let d0 = Vec3::from_f64((-x / x.length()).to_array());
            let at = relative(Vec3::from_f64(x.to_array()), still, still, Vec3::zero(), d0);
            let t = gauss_newton(at, cosserat::gauss_newton(at, l0, k));
            let minus = |m: Mat3<f64>| m * -1.0;
            block::add(
                &mut own,
                &scaled([t.ww, minus(t.wi), minus(t.wi.transposed()), t.ii]),
            );
            let other = scaled([minus(t.ww), minus(t.wj), t.wi.transposed(), t.ij]);
            rows[i].push((j as u32, other));
        }
        rows[i].push((i as u32, own));
        rows[i].sort_unstable_by_key(|(column, _)| *column);
    }
    BlockMatrix::from_rows(rows)
}

/// A block from its four 3×3 quarters, with rotations as lengths.
fn scaled([pp, pr, rp, rr]: [Mat3<f64>; 4]) -> Block {
    std::array::from_fn(|c| {
        std::array::from_fn(|r| {
            let quarter = match (r < 3, c < 3) {
                (true, true) => pp,
                (true, false) => pr * (1.0 / R),
                (false, true) => rp * (1.0 / R),
                (false, false) => rr * (1.0 / (R * R)),
            };
            quarter.rows[r % 3].to_f64()[c % 3]
        })
    })
}

pub fn load(places: &[DVec3]) -> Vec<Six> {
    let mut seed = 1u64;
    let mut draw = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1);
        (seed >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    };
    let mut b = vec![[0.0; 6]; places.len()];
    for row in &mut b {
        row.iter_mut().for_each(|value| *value = 0.3 * draw());
        row[2] -= 1.0;
    }
    b
}

/// Numbers of iterations to 1e-4 with multigrid and with the diagonal alone, and the complexity.
fn iterations(size: (usize, usize, usize), periods: f64) -> (u32, u32, f64) {
    let places = packing(size.0, size.1, size.2);
    let matrix = system(&places, periods);
    let rows: Vec<ElementPosition> = places
        .iter()
        .map(|&position| ElementPosition {
            position,
            length: R,
        })
        .collect();
    let b = load(&places);
    let mut x = vec![[0.0; 6]; b.len()];
    let clock = std::time::Instant::now();
    let mut grids = Multigrid::new(&matrix, &rows).unwrap();
    let built = clock.elapsed();
    let clock = std::time::Instant::now();
    let with = conjugate_gradients(&matrix, &b, &mut x, &mut grids, (1e-4, 200));
    let solved = clock.elapsed();
    assert!(with.residual <= 1e-4 && !with.indefinite, "{with:?}");
    let mut r = b.clone();
    matrix.residual(&b, &x, &mut r);
    assert!(crate::solve::vector::norm(&r) <= 1.01e-4 * crate::solve::vector::norm(&b));
    let mut jacobi: Diagonal = matrix.inverse_diagonal().unwrap();
    let without = conjugate_gradients(&matrix, &b, &mut x, &mut jacobi, (1e-4, 5000));
    println!(
        "{} elements, {periods} T: {} iterations, {} without; built in {built:.1?}, solved in {solved:.1?}",
        places.len(),
        with.iterations,
        without.iterations
    );
    (
        with.iterations,
        without.iterations,
        grids.complexity(&matrix),
    )
}

#[test]
fn iterations_grow_neither_with_size_nor_with_the_step() {
    for size in [(40, 7, 7), (80, 14, 14)] {
        for periods in [20.0, 100.0, 1e4] {
            let (with, without, complexity) = iterations(size, periods);
            assert!(with <= 8, "{with}");
            assert!(without > 10 * with, "{without}");
            assert!(complexity < 1.4, "{complexity}");
        }
    }
}

#[test]
#[ignore = "takes a minute; run with -- --ignored"]
fn iterations_of_a_beam_of_sixty_four_thousand_elements() {
    for periods in [20.0, 100.0, 1e4] {
        assert!(iterations((128, 22, 23), periods).0 <= 8);
    }
}

#[test]
fn a_slender_beam_takes_few_iterations_too() {
    // Only coarse levels represent its bending: a cycle that visits them once takes six.
    let (with, without, _) = iterations((400, 5, 5), 2000.0);
    assert!(with <= 5, "{with}");
    assert!(without > 100 * with, "{without}");
}

#[test]
fn threads_change_no_bit() {
    let places = packing(20, 9, 9);
    let matrix = system(&places, 100.0);
    let rows: Vec<ElementPosition> = places
        .iter()
        .map(|&position| ElementPosition {
            position,
            length: R,
        })
        .collect();
    let solve = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let b = load(&places);
            let mut x = vec![[0.0; 6]; b.len()];
            let mut grids = Multigrid::new(&matrix, &rows).unwrap();
            conjugate_gradients(&matrix, &b, &mut x, &mut grids, (1e-6, 200));
            x
        })
    };
    assert_eq!(solve(1), solve(3));
}

#[test]
fn elements_alone_and_pairs_are_solved() {
    // Two pairs far apart, and one element alone.
    let places: Vec<DVec3> = [0.0, 2.0, 50.0, 52.0, 90.0]
        .map(|x| DVec3::X * x * R)
        .to_vec();
    let matrix = system(&places, 1e4);
    let rows: Vec<ElementPosition> = places
        .iter()
        .map(|&position| ElementPosition {
            position,
            length: R,
        })
        .collect();
    let b = load(&places);
    let mut x = vec![[0.0; 6]; b.len()];
    let mut grids = Multigrid::new(&matrix, &rows).unwrap();
    let found = conjugate_gradients(&matrix, &b, &mut x, &mut grids, (1e-8, 50));
    assert!(found.residual <= 1e-8 && found.iterations < 5, "{found:?}");
}
