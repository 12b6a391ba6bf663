use super::*;
use glam::DQuat;

fn cube(half: DVec3) -> Polyhedron {
    Polyhedron::of(&Convex::cuboid(-half, half, [0; 6])).expect("a solid")
}

fn placed(rotation: DQuat, shift: DVec3) -> RelativePose {
    RelativePose {
        rotation: DMat3::from_quat(rotation),
        shift,
    }
}

fn numbers() -> impl FnMut() -> f64 {
    let mut state = 11u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

fn direction(number: &mut impl FnMut() -> f64) -> DVec3 {
    DVec3::new(number(), number(), number()).normalize()
}

/// Convex solid of twelve planes, roughly a ball of radius 1.
fn pebble(number: &mut impl FnMut() -> f64) -> (Polyhedron, Vec<(DVec3, f64)>) {
    let planes: Vec<_> = (0..12)
        .map(|_| (direction(number), 0.8 + 0.2 * number()))
        .collect();
    let solid = Polyhedron::behind(&planes, 1.5).expect("a solid");
    (solid, planes)
}

fn scratch() -> OverlapScratch {
    OverlapScratch::default()
}

#[test]
fn bricks_that_lie_on_each_other_share_a_slab() {
    let (low, high) = (
        cube(DVec3::new(1.0, 0.5, 0.7)),
        cube(DVec3::new(1.0, 0.4, 0.7)),
    );
    for depth in [1e-8, 1e-4, 0.1] {
        // All side faces coincide.
        let at = placed(DQuat::IDENTITY, DVec3::Y * (0.9 - depth));
        let found = low.overlap(&high, &at, &mut scratch()).expect("an overlap");
        let volume = 2.0 * 1.4 * depth;
        assert!(
            (found.volume - volume).abs() < 1e-3 * volume.min(1e-8),
            "{found:?}"
        );
        assert!(found.area.distance(DVec3::Y * 2.8) < 1e-9, "{found:?}");
        assert!(found.moment.length() < 1e-9);
        assert!(found.centre.distance(DVec3::Y * (0.5 - 0.5 * depth)) < 1e-9);
    }
    // Coincident faces, or a depth within rounding: no overlap.
    for depth in [0.0, 1e-16, 3e-13] {
        let at = placed(DQuat::IDENTITY, DVec3::Y * (0.9 - depth));
        let axis = low.overlap(&high, &at, &mut scratch()).expect_err("apart");
        assert_eq!(low.separating_axis(&high, &at, axis), Some(axis));
    }
}

#[test]
fn one_within_the_other_is_shared_whole() {
    let (large, small) = (cube(DVec3::ONE), cube(DVec3::splat(0.3)));
    let at = placed(DQuat::from_rotation_x(0.3), DVec3::new(0.1, 0.2, -0.1));
    let found = large
        .overlap(&small, &at, &mut scratch())
        .expect("an overlap");
    assert!((found.volume - 0.216).abs() < 1e-14);
    assert_eq!(found.area, DVec3::ZERO);
    let found = small.overlap(
        &large,
        &placed(DQuat::IDENTITY, DVec3::ZERO),
        &mut scratch(),
    );
    let found = found.expect("an overlap");
    assert!((found.volume - 0.216).abs() < 1e-14 && found.area.length() < 1e-14);
}

/// The volume is that of the first solid cut by all planes of the second; area and moment are its
/// derivatives.
#[test]
fn overlaps_of_pebbles_are_those_of_cut_solids() {
    let mut number = numbers();
    let (mut touching, mut apart, mut separated, mut step) = (0, 0, 0, scratch());
    for _ in 0..300 {
        let (first, planes) = pebble(&mut number);
        let (second, others) = pebble(&mut number);
        let turn = DQuat::from_scaled_axis(3.0 * DVec3::new(number(), number(), number()));
        let shift = direction(&mut number) * (1.6 + 0.8 * number());
        let at = placed(turn, shift);
        let moved = |(normal, offset): &(DVec3, f64), turn: DQuat, shift: DVec3| {
            let normal = turn * *normal;
            (normal, offset + normal.dot(shift))
        };
        let bounds = [DVec3::X, DVec3::Y, DVec3::Z];
        let bounds: Vec<_> = bounds
            .iter()
            .flat_map(|n| [(*n, 1.5), (-*n, 1.5)])
            .collect();
        let all: Vec<_> = planes.iter().chain(&bounds).copied().collect();
        let theirs = others.iter().chain(&bounds).map(|p| moved(p, turn, shift));
        let mut solid = Convex::cuboid(DVec3::splat(-9.0), DVec3::splat(9.0), [0; 6]);
        for (normal, offset) in all.into_iter().chain(theirs) {
            solid.cut(normal, offset, 1);
        }
        let expected = solid.mass().map_or(0.0, |mass| mass.volume);
        let volume = |at: &RelativePose, step: &mut OverlapScratch| {
            first.overlap(&second, at, step).map_or(0.0, |o| o.volume)
        };
        let found = volume(&at, &mut step);
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        let axis = first.separating_axis(&second, &at, DVec3::X);
        separated += usize::from(axis.is_some());
        apart += usize::from(expected == 0.0);
        assert!(axis.is_none() || expected < 1e-11);
        if found < 1e-4 {
            continue;
        }
        touching += 1;
        let overlap = first.overlap(&second, &at, &mut step).expect("an overlap");
        let h = 1e-5;
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            // Moving the first solid equals moving the second the opposite way.
            let mut off = |d: f64| volume(&placed(turn, shift - axis * d), &mut step);
            let slope = (off(h) - off(-h)) / (2.0 * h);
            assert!(
                (slope - overlap.area.dot(axis)).abs() < 1e-5,
                "{slope} {overlap:?}"
            );
            let mut turned = |d: f64| {
                let back = DQuat::from_axis_angle(axis, -d);
                volume(&placed(back * turn, back * shift), &mut step)
            };
            let slope = (turned(h) - turned(-h)) / (2.0 * h);
            assert!((slope - overlap.moment.dot(axis)).abs() < 1e-5);
        }
        let inside = |solid: &Polyhedron, p: DVec3| solid.distance(p).0 < 1e-9;
        assert!(inside(&first, overlap.centre));
        let back = turn.inverse() * (overlap.centre - shift);
        assert!(inside(&second, back));
    }
    assert!(touching > 50 && apart > 50, "{touching} {apart}");
    // The search misses few separating axes.
    assert!(separated * 4 > apart * 3, "{separated} {apart}");
}

#[test]
fn a_plane_cuts_a_cap_off() {
    let mut number = numbers();
    let mut step = scratch();
    for _ in 0..100 {
        let (solid, planes) = pebble(&mut number);
        let (normal, offset) = (direction(&mut number), 0.5 * number());
        let found = solid.behind_plane(normal, offset, &mut step);
        let mut cut = Convex::cuboid(DVec3::splat(-1.5), DVec3::splat(1.5), [0; 6]);
        for (normal, offset) in planes.into_iter().chain([(normal, offset)]) {
            cut.cut(normal, offset, 1);
        }
        let expected = cut.mass().map_or(0.0, |mass| mass.volume);
        assert!((found.volume - expected).abs() < 1e-9);
        // The cap is closed by a part of the plane, so the open area vector is along the normal.
        assert!(found.area.cross(normal).length() < 1e-12);
        let turned = |d: f64| {
            let axis = DVec3::X;
            let normal = DQuat::from_axis_angle(axis, -d) * normal;
            solid.behind_plane(normal, offset, &mut scratch()).volume
        };
        let slope = (turned(1e-5) - turned(-1e-5)) / 2e-5;
        assert!((slope - found.moment.x).abs() < 1e-5);
    }
    let brick = cube(DVec3::new(1.0, 2.0, 3.0));
    let found = brick.behind_plane(DVec3::Y, -1.9, &mut step);
    assert!((found.volume - 1.2).abs() < 1e-12);
    assert!(found.area.distance(DVec3::Y * -12.0) < 1e-12, "{found:?}");
    assert!(found.centre.distance(DVec3::Y * -1.95) < 0.05, "{found:?}");
    assert_eq!(
        brick.behind_plane(DVec3::Y, -2.0, &mut step),
        Overlap::default()
    );
}

#[test]
fn distances_to_faces_edges_and_corners() {
    let brick = cube(DVec3::new(1.0, 2.0, 3.0));
    let near = |p: [f64; 3], distance: f64, normal: DVec3| {
        let found = brick.distance(DVec3::from(p));
        assert!((found.0 - distance).abs() < 1e-14, "{found:?}");
        assert!(found.1.distance(normal) < 1e-14, "{found:?}");
    };
    near([1.5, 0.3, -2.0], 0.5, DVec3::X);
    near([0.8, 0.3, -2.0], -0.2, DVec3::X);
    near([1.0, 0.0, 0.0], 0.0, DVec3::X);
    near([4.0, 6.0, 1.0], 5.0, DVec3::new(0.6, 0.8, 0.0));
    near([2.0, 3.0, 4.0], 3f64.sqrt(), DVec3::ONE.normalize());
    assert_eq!(brick.largest_projection(), 24.0);
    assert!((brick.reach() - 14f64.sqrt()).abs() < 1e-15);
    assert_eq!(Polyhedron::behind(&[(DVec3::X, -2.0)], 1.0), None);
}
