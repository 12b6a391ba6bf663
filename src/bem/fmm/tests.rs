//! The fast multipole sums compared with direct sums.

use glam::DVec3;

use super::{Charge, ChargeAndDoubleLayer, DoubleLayerPoint, Fmm, SIDE_FOR_ACCURACY, direct};
use crate::math::{Mat3, Vec3};

/// Pseudorandom numbers from −1 to 1.
struct Random(u64);

impl Random {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self) -> DVec3 {
        DVec3::new(self.number(), self.number(), self.number())
    }

    fn vectors(&mut self, count: usize) -> Vec<DVec3> {
        (0..count).map(|_| self.vector()).collect()
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let v = self.vector();
            if v.length() > 0.1 && v.length() < 1.0 {
                return v.normalize();
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Cloud {
    Cube,
    Sphere,
    FiveDecades,
}

impl Cloud {
    fn points(self, count: usize, random: &mut Random) -> Vec<DVec3> {
        let mut point = || match self {
            Cloud::Cube => random.vector(),
            Cloud::Sphere => random.direction(),
            Cloud::FiveDecades => random.direction() * 10_f64.powf(-2.5 * (random.number() + 1.0)),
        };
        (0..count).map(|_| point()).collect()
    }
}

fn error(found: &[DVec3], exact: &[DVec3]) -> f64 {
    assert_eq!(found.len(), exact.len());
    let wrong: f64 = found
        .iter()
        .zip(exact)
        .map(|(a, b)| a.distance_squared(*b))
        .sum();
    let size: f64 = exact.iter().map(|v| v.length_squared()).sum();
    (wrong / size).sqrt()
}

fn side(accuracy: f64) -> usize {
    let found = SIDE_FOR_ACCURACY
        .iter()
        .find(|(error, _)| *error <= accuracy);
    found.unwrap().1
}

/// Every `step`th item.
fn every_nth<T: Copy>(all: &[T], step: usize) -> Vec<T> {
    all.iter().copied().step_by(step).collect()
}

/// Errors of traction and displacement of a sum over a cloud of points at the points themselves, with leaves
/// small enough that most pairs are far apart.
fn errors(cloud: Cloud, smooth: bool, poisson: f64, accuracy: f64) -> (f64, f64) {
    const COUNT: usize = 1000;
    const STEP: usize = 7;
    let mut random = Random(3);
    let points = cloud.points(COUNT, &mut random);
    let force = |p: &DVec3| DVec3::new(1.0 + p.x, 0.3 + p.y * p.z, 0.5 - p.z);
    let forces = if smooth {
        points.iter().map(force).collect()
    } else {
        random.vectors(COUNT)
    };
    let normals: Vec<DVec3> = (0..COUNT).map(|_| random.direction()).collect();
    let fmm = Fmm::with_sizes(&points, &points, poisson, (side(accuracy), 40));
    let traction = every_nth(&fmm.traction(&forces, &normals), STEP);
    let displacement = every_nth(&fmm.displacement(&forces, 3.0), STEP);
    let (targets, normals) = (every_nth(&points, STEP), every_nth(&normals, STEP));
    (
        error(
            &traction,
            &direct::traction(&points, &forces, &targets, &normals, poisson),
        ),
        error(
            &displacement,
            &direct::displacement(&points, &forces, &targets, 3.0, poisson),
        ),
    )
}

#[test]
fn errors_are_within_the_accuracy() {
    for accuracy in [1e-3, 1e-4, 1e-6, 1e-8] {
        for cloud in [Cloud::Cube, Cloud::Sphere, Cloud::FiveDecades] {
            for (poisson, smooth) in [(0.0, false), (0.3, true), (0.49, false)] {
                let (traction, displacement) = errors(cloud, smooth, poisson, accuracy);
                let case = format!("{cloud:?} {smooth} {poisson} {accuracy}");
                println!("{case}: {traction:.1e} {displacement:.1e}");
                assert!(traction < accuracy && displacement < accuracy, "{case}");
            }
        }
    }
}

#[test]
fn targets_may_be_others_than_sources() {
    let mut random = Random(9);
    let sources = Cloud::Sphere.points(2000, &mut random);
    let forces = random.vectors(2000);
    // Inside, far outside, and one cluster close to the surface.
    let mut targets: Vec<DVec3> = random.vectors(200).iter().map(|p| *p * 0.5).collect();
    targets.extend(
        random
            .vectors(100)
            .iter()
            .map(|p| *p * 1e-3 + DVec3::X * 0.99),
    );
    targets.extend(random.vectors(20).iter().map(|p| *p + 7.0));
    let fmm = Fmm::with_sizes(&sources, &targets, 0.2, (7, 30));
    let exact = direct::displacement(&sources, &forces, &targets, 1.0, 0.2);
    assert!(error(&fmm.displacement(&forces, 1.0), &exact) < 1e-5);
    let halves = |s: &[[f64; 6]]| -> Vec<DVec3> {
        let half = |s: &[f64; 6]| [DVec3::from_slice(s), DVec3::from_slice(&s[3..])];
        s.iter().flat_map(half).collect()
    };
    let exact = direct::stress(&sources, &forces, &targets, 0.2);
    assert!(error(&halves(&fmm.stress(&forces)), &halves(&exact)) < 1e-4);
}

/// Sums of double layers, alone and together with forces.
#[test]
fn double_layers_are_summed() {
    let mut random = Random(7);
    let sources = Cloud::FiveDecades.points(2000, &mut random);
    let targets = random.vectors(300);
    let plain = |v: DVec3| Vec3::from_f64(v.to_array());
    let jumps: Vec<DoubleLayerPoint> = random
        .vectors(2000)
        .into_iter()
        .map(|v| DoubleLayerPoint {
            jump: plain(v + DVec3::X),
            area: plain(random.direction()),
        })
        .collect();
    for poisson in [0.0, 0.3, 0.49] {
        let fmm = Fmm::with_sizes(&sources, &targets, poisson, (9, 30));
        let exact = direct::double_layer(&sources, &jumps, &targets, poisson);
        let found = error(&fmm.double_layer(&jumps), &exact);
        let forces = random.vectors(2000).into_iter().map(Charge::force);
        let both: Vec<ChargeAndDoubleLayer> = forces
            .zip(&jumps)
            .map(|(f, j)| ChargeAndDoubleLayer(f, *j))
            .collect();
        let columns = |all: Vec<(Vec3<f64>, Mat3<f64>)>| -> [Vec<DVec3>; 2] {
            let vector = |v: &Vec3<f64>| DVec3::from(v.to_f64());
            let displacements = all.iter().map(|(u, _)| vector(u)).collect();
            let gradients = all.iter().flat_map(|(_, m)| m.rows.each_ref().map(vector));
            [displacements, gradients.collect()]
        };
        let exact = columns(direct::displacement_and_gradient(
            &sources, &both, &targets, 3.0, poisson,
        ));
        let motion = columns(fmm.displacement_and_gradient(&both, 3.0));
        let [displacement, gradient] = [0, 1].map(|k| error(&motion[k], &exact[k]));
        println!(
            "double layers, ν = {poisson}: {found:.1e}, with forces {displacement:.1e} {gradient:.1e}"
        );
        assert!(found < 1e-6 && displacement < 1e-6 && gradient < 1e-5);
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let mut random = Random(4);
    let points = Cloud::FiveDecades.points(3000, &mut random);
    let forces = random.vectors(3000);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let fmm = Fmm::with_sizes(&points, &points, 0.3, (5, 30));
            (fmm.stress(&forces), fmm.displacement(&forces, 1.0))
        })
    };
    assert!(run(1) == run(3));
}

/// Checks that sums agree with direct ones to this relative error, for any shape of the tree.
fn check(points: &[DVec3], within: f64) {
    let mut random = Random(8);
    let forces = random.vectors(points.len());
    let normals: Vec<DVec3> = points.iter().map(|_| random.direction()).collect();
    let found = Fmm::with_sizes(points, points, 0.3, (7, 10)).traction(&forces, &normals);
    let exact = direct::traction(points, &forces, points, &normals, 0.3);
    if exact.iter().all(|t| *t == DVec3::ZERO) {
        assert!(found.iter().all(|t| *t == DVec3::ZERO));
    } else {
        let error = error(&found, &exact);
        assert!(error < within, "{} points: {error}", points.len());
    }
}

#[test]
fn few_points_are_summed_exactly() {
    let mut random = Random(1);
    assert!(Fmm::new(&[], &[], 0.3, 1e-4).stress(&[]).is_empty());
    let alone = Fmm::new(&[], &[DVec3::X], 0.3, 1e-4).stress(&[]);
    assert_eq!(alone, [[0.0; 6]]);
    for count in 1..=10 {
        check(&random.vectors(count), 1e-13);
    }
}

#[test]
fn points_in_one_place_do_not_act_on_each_other() {
    let mut random = Random(2);
    check(&[DVec3::new(1.0, 2.0, 3.0); 300], 0.0);
    let places = random.vectors(40);
    check(&places.repeat(10), 1e-4);
    // Coincident points, which no depth splits, together with others.
    let mut points = vec![DVec3::splat(0.1); 100];
    points.extend(random.vectors(100));
    check(&points, 1e-4);
}

#[test]
fn points_on_a_line_are_summed() {
    let mut random = Random(5);
    let line = |_| DVec3::new(1.0, -2.0, 0.5) * random.number() + 3.0;
    check(&(0..500).map(line).collect::<Vec<_>>(), 1e-4);
    check(
        &(0..500)
            .map(|k| DVec3::X * f64::from(k))
            .collect::<Vec<_>>(),
        1e-4,
    );
}

#[test]
fn points_far_from_the_origin_are_summed() {
    let mut random = Random(6);
    let away = DVec3::new(1e6, -1e6, 1e6);
    let points: Vec<DVec3> = random.vectors(1000).iter().map(|p| *p + away).collect();
    check(&points, 1e-4);
}
