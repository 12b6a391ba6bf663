//! Tests of the world mode: surfaces from elements alone.

use super::*;
use crate::columns::{Sleep, SleepEvent, SleepReason};

fn world(voxel: f64) -> spec::Reconstruct {
    spec::Reconstruct {
        mode: ReconstructMode::World,
        voxel,
        ..spec::Reconstruct::default()
    }
}

/// Elements at these positions with these radii, as a body in world mode.
fn body_of(points: &[DVec3], radii: &[f64], voxel: f64) -> (Elements, Surfaces) {
    let mut elements = Elements::default();
    for (id, (p, &r)) in points.iter().zip(radii).enumerate() {
        elements.id.push(id as u32);
        elements.body.push(0);
        elements.x.push(p.x);
        elements.y.push(p.y);
        elements.z.push(p.z);
        elements.r.push(r);
    }
    let none =
        |_| -> Result<Option<TriMesh>, ReconstructError> { unreachable!("no skin is wanted") };
    let bodies = RestBody::all(&elements, &Bonds::default(), &world(voxel), none).unwrap();
    let surfaces = Surfaces::new(&elements, bodies);
    (elements, surfaces)
}

fn draw(points: &[DVec3], labels: &[u32], voxel: f64) -> SurfaceFrame {
    let (elements, mut surfaces) = body_of(points, &vec![R; points.len()], voxel);
    surfaces.at(0, &at_rest(&elements, labels), &[]).unwrap()
}

/// Deformed surface of a piece in the frame.
fn mesh_now(surface: &SurfaceFrame, piece: &FragmentRange) -> TriMesh {
    let vertices = surface.positions[surface.vertex_range(piece)].iter();
    TriMesh {
        positions: vertices.map(|p| DVec3::from(p.map(f64::from))).collect(),
        triangles: surface.local_triangles(piece).collect(),
        ..TriMesh::default()
    }
}

fn assert_sound(surface: &SurfaceFrame) {
    for piece in &surface.pieces {
        let mesh = mesh_now(surface, piece);
        assert_closed(&mesh, &format!("fragment {}", piece.fragment));
        assert!(mesh.volume() > 0.0);
        for t in 0..mesh.triangles.len() {
            let [a, b, c] = mesh.corners(t);
            assert!(
                (b - a).cross(c - a).length() > 0.0,
                "triangle {t} has no area"
            );
        }
    }
    assert!(surface.inside.iter().all(|&inside| inside == 0));
}

/// Elements on a lattice with `rows` elements along each axis, at distance `apart` from each other.
fn lattice(rows: [usize; 3], apart: f64) -> Vec<DVec3> {
    let [nx, ny, nz] = rows;
    let all = (0..nx * ny * nz).map(|n| [n % nx, n / nx % ny, n / nx / ny]);
    all.map(|n| DVec3::from(n.map(|n| n as f64)) * apart)
        .collect()
}

#[test]
fn random_blobs_are_closed_and_wound_outward() {
    let mut state = 3;
    for round in 0..40 {
        let n = 2 + 5 * round;
        // From dense clusters to isolated elements, all in one fragment.
        let size = 2.0 + 1.5 * f64::from(round % 7);
        let mut points = Vec::new();
        let mut radii = Vec::new();
        for _ in 0..n {
            let u = DVec3::new(random(&mut state), random(&mut state), random(&mut state));
            points.push(u * size * R + 1000.0 * u.floor());
            radii.push(R * (0.6 + 0.8 * random(&mut state)));
        }
        let labels: Vec<u32> = (0..n as u32).map(|e| e % (1 + round as u32 % 3)).collect();
        let voxel = [0.8, 0.5, 1.1, 3.0][round as usize % 4];
        let (elements, mut surfaces) = body_of(&points, &radii, voxel);
        let surface = surfaces.at(0, &at_rest(&elements, &labels), &[]).unwrap();
        assert_sound(&surface);
    }
}

#[test]
fn touching_fragments_stay_two_surfaces() {
    let points = lattice([6, 4, 4], 2.0 * R);
    let labels: Vec<u32> = points.iter().map(|p| u32::from(p.x > 5.0)).collect();
    let surface = draw(&points, &labels, 0.8);
    assert_sound(&surface);
    assert_eq!(surface.pieces.len(), 2);
    let face = |piece: usize, sign: f64| {
        let mesh = mesh_now(&surface, &surface.pieces[piece]);
        mesh.positions
            .iter()
            .map(|p| sign * p.x)
            .fold(f64::MIN, f64::max)
            * sign
    };
    // Their faces meet halfway between the centres.
    for (piece, sign) in [(0, 1.0), (1, -1.0)] {
        let x = face(piece, sign);
        assert!((x - 5.0).abs() < 0.1 * R, "{x}");
    }
}

#[test]
fn a_lattice_block_keeps_its_volume_and_has_flat_faces() {
    let cubic = lattice([12; 3], 2.0 * R);
    let (hexagonal, _) = packed(DVec3::ZERO, DVec3::splat(22.0), R, |_| true);
    let hexagonal: Vec<DVec3> = (0..hexagonal.x.len())
        .map(|e| DVec3::new(hexagonal.x[e], hexagonal.y[e], hexagonal.z[e]))
        .collect();
    let share = 4.0 * 2.0_f64.sqrt() * R.powi(3);
    for (name, points, share) in [("cubic", cubic, 8.0), ("hexagonal", hexagonal, share)] {
        let labels = vec![0; points.len()];
        let surface = draw(&points, &labels, 0.8);
        assert_sound(&surface);
        let mesh = mesh_now(&surface, &surface.pieces[0]);
        let part = mesh.volume() / (share * points.len() as f64);
        // Vertices of the top face away from its edges.
        let top = points.iter().map(|p| p.z).fold(f64::MIN, f64::max);
        let heights: Vec<f64> = mesh
            .positions
            .iter()
            .filter(|p| p.z > top && (p.x - 11.0).abs() < 6.0 && (p.y - 11.0).abs() < 6.0)
            .map(|p| p.z - top)
            .collect();
        let lowest = heights.iter().copied().fold(f64::MAX, f64::min);
        let highest = heights.iter().copied().fold(f64::MIN, f64::max);
        assert!((part - 1.0).abs() < 0.04, "{name}: volume {part}");
        assert!(highest - lowest < 0.03 * R, "{name}: {lowest} to {highest}");
    }
}

#[test]
fn a_thread_is_a_round_rod_and_a_sheet_a_slab() {
    let thread = draw(&lattice([30, 1, 1], 2.0 * R), &[0; 30], 0.5);
    assert_sound(&thread);
    let off = thread
        .positions
        .iter()
        .map(|p| p.map(f64::from))
        .filter(|p| p[0] > 6.0 && p[0] < 52.0)
        .map(|p| (p[1].hypot(p[2]) - R).abs())
        .fold(0.0, f64::max);
    assert!(off < 0.07 * R, "{off}");
    for (p, n) in thread.positions.iter().zip(&thread.normals) {
        if p[0] > 6.0 && p[0] < 52.0 {
            let radial = (p[1] * n[1] + p[2] * n[2]) / p[1].hypot(p[2]);
            assert!(radial > 0.99, "{p:?}: {radial}");
        }
    }
    let points = lattice([14, 14, 1], 2.0 * R);
    let sheet = draw(&points, &[0; 196], 0.5);
    assert_sound(&sheet);
    let off = sheet
        .positions
        .iter()
        .map(|p| p.map(f64::from))
        .filter(|p| p[..2].iter().all(|x| (6.0..20.0).contains(x)))
        .map(|p| (p[2].abs() - R).abs())
        .fold(0.0, f64::max);
    assert!(off < 0.05 * R, "{off}");
}

#[test]
fn a_gap_within_a_fragment_stays_open() {
    let mut points = lattice([8, 8, 1], 2.0 * R);
    for gap in [3.6, 4.5, 6.0] {
        points.truncate(64);
        points.extend_from_within(..);
        points[64..].iter_mut().for_each(|p| p.z += gap);
        let surface = draw(&points, &[0; 128], 0.5);
        assert_sound(&surface);
        let filled = surface.positions.iter().any(|p| {
            let middle = (f64::from(p[2]) - gap / 2.0).abs() < 0.2;
            middle && (2.0..12.0).contains(&p[0]) && (2.0..12.0).contains(&p[1])
        });
        assert!(!filled, "gap {gap}");
    }
}

#[test]
fn rest_positions_and_velocities_follow_rigid_motion() {
    let points = lattice([5, 4, 3], 2.0 * R);
    let (elements, mut surfaces) = body_of(&points, &[R; 60], 0.8);
    let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 0.7);
    let shift = DVec3::new(30.0, -2.0, 1.0);
    let (spin, velocity) = (DVec3::new(0.0, 3.0, 1.0), DVec3::new(-2.0, 0.0, 4.0));
    let mut frame = at_rest(&elements, &[0; 60]);
    for (e, p) in points.iter().enumerate() {
        let x = turn * *p + shift;
        let v = velocity + spin.cross(x);
        (frame.x[e], frame.y[e], frame.z[e]) = (x.x as f32, x.y as f32, x.z as f32);
        (frame.vx[e], frame.vy[e], frame.vz[e]) = (v.x as f32, v.y as f32, v.z as f32);
        (frame.wx[e], frame.wy[e], frame.wz[e]) = (spin.x as f32, spin.y as f32, spin.z as f32);
        let q = turn.as_quat();
        (frame.qx[e], frame.qy[e], frame.qz[e], frame.qw[e]) = (q.x, q.y, q.z, q.w);
        frame.sigma[e] = 5.0;
    }
    let surface = surfaces.at(0, &frame, &[]).unwrap();
    let vector = |p: [f32; 3]| DVec3::from(p.map(f64::from));
    for (v, &p) in surface.positions.iter().enumerate() {
        let x = vector(p);
        let rest = turn.inverse() * (x - shift);
        assert!(rest.distance(vector(surface.rest_positions[v])) < 1e-4);
        let expected = velocity + spin.cross(x);
        assert!(expected.distance(vector(surface.velocities[v])) < 1e-3);
        assert!((surface.stress[v] - 5.0).abs() < 1e-5);
        assert!((vector(surface.normals[v]).length() - 1.0).abs() < 1e-5);
    }
}

#[test]
fn lone_elements_are_balls_of_their_own_radius_that_turn() {
    let points = [DVec3::ZERO, DVec3::X * 5.0];
    let (elements, mut surfaces) = body_of(&points, &[R, 2.0 * R], 0.8);
    let mut frame = at_rest(&elements, &[7, 3]);
    (frame.qz[0], frame.qw[0]) = (1.0, 0.0);
    let surface = surfaces.at(0, &frame, &[]).unwrap();
    assert_sound(&surface);
    assert_eq!(surface.pieces[0].fragment, 3);
    let radius = DVec3::from(surface.positions[0].map(f64::from)).distance(points[1]);
    assert!((radius - 2.0 * R).abs() < 1e-5);
    let last = surface.positions.len() - 1;
    let [now, rest] = [surface.positions[last], surface.rest_positions[last]];
    assert!((now[0] + rest[0]).abs() < 1e-5 && (now[1] + rest[1]).abs() < 1e-5);
}

#[test]
fn too_fine_a_voxel_is_refused_by_name() {
    let mut elements = Elements::default();
    for id in 0..2 {
        elements.id.push(id);
        elements.body.push(0);
        elements.x.push(f64::from(id));
        elements.y.push(0.0);
        elements.z.push(0.0);
        elements.r.push(R);
    }
    let bodies = RestBody::all(&elements, &Bonds::default(), &world(1e-4), |_| Ok(None));
    let message = bodies.unwrap_err().to_string();
    assert!(message.contains("`reconstruct.voxel`"), "{message}");
}

/// A store of bonded elements that fall apart, without a shape.
fn store_without_shape(folder: &std::path::Path) -> Store {
    let (elements, bonds) = packed(DVec3::ZERO, DVec3::new(14.0, 12.0, 10.0), R, |_| true);
    let store = Store::at(folder);
    let mut packing = crate::store::Packing {
        elements: elements.clone(),
        bonds,
        ..Default::default()
    };
    complete(&mut packing);
    store.write_packing(&packing).unwrap();
    for number in 0..3 {
        let parts = 1 + 2 * number as usize;
        let labels = voronoi(&elements, parts, DVec3::ZERO, DVec3::splat(12.0));
        let mut frame = at_rest(&elements, &labels);
        frame.frame.fill(number);
        frame.y.iter_mut().for_each(|y| *y -= 0.37 * number as f32);
        store.write_numbered("frames", number, &frame).unwrap();
    }
    store
}

fn reconstruct(
    store: &Store,
    mode: ReconstructMode,
    frames: Range<u32>,
    threads: usize,
) -> Result<ReconstructSummary, ReconstructError> {
    let params = spec::Reconstruct {
        mode,
        ..spec::Reconstruct::default()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.unwrap()
        .install(|| run(store, &params, frames, &mut |_, _| ()))
}

#[test]
fn removed_fragments_have_no_surface_from_their_frame_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_without_shape(folder.path());
    let gone = 0;
    let event = |what| Sleep {
        frame: vec![1],
        time: vec![0.1],
        step: vec![1],
        fragment: vec![gone],
        elements: vec![1],
        what: vec![what],
        reason: vec![SleepReason::Outside],
        use_of_strength: vec![0.0],
        energy: vec![0.0],
    };
    let with = |what| {
        store.write_numbered("sleep", 1, &event(what)).unwrap();
        reconstruct(&store, ReconstructMode::Auto, 0..3, 2).unwrap();
        [0, 1, 2].map(|frame| {
            let surface = SurfaceFrame::read(&store, frame).unwrap();
            assert_sound(&surface);
            let mut labels = surface.pieces.iter().map(|piece| piece.fragment);
            (surface.pieces.len(), labels.any(|label| label == gone))
        })
    };
    let whole = with(SleepEvent::Judged);
    assert!(whole.iter().all(|(_, is_there)| *is_there), "{whole:?}");
    let left = with(SleepEvent::Removed);
    assert_eq!(left[0], whole[0]);
    for frame in [1, 2] {
        assert_eq!(left[frame], (whole[frame].0 - 1, false), "frame {frame}");
    }
}

#[test]
fn a_store_without_shapes_gives_the_same_bytes_for_any_range_and_thread_count() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_without_shape(folder.path());
    let summary = reconstruct(&store, ReconstructMode::Auto, 0..3, 4).unwrap();
    assert_eq!((summary.frames, summary.fragments), (3, 5));
    let path = store.numbered("meshes", 2, "rkyv");
    let whole = std::fs::read(&path).unwrap();
    assert_sound(&SurfaceFrame::read(&store, 2).unwrap());
    for (mode, threads) in [(ReconstructMode::Auto, 1), (ReconstructMode::World, 3)] {
        std::fs::remove_file(&path).unwrap();
        reconstruct(&store, mode, 2..3, threads).unwrap();
        assert!(
            std::fs::read(&path).unwrap() == whole,
            "{mode:?}, {threads} threads"
        );
    }
    let error = reconstruct(&store, ReconstructMode::Material, 0..3, 1).unwrap_err();
    assert!(error.to_string().contains("0.ply: missing"), "{error}");
}
