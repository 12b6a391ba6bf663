//! Reads files back and compares them with the surfaces they were made from.

mod reader;

use glam::{DQuat, DVec3};
use tempfile::TempDir;

use super::*;
use crate::export::{ExportOptions, fixture, run};
use crate::spec::{Playback, UsdFile};
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, Store, SurfaceFrame};
use reader::{File, at};

/// Frames per second of the tests' shots.
const FPS: f64 = 24.0;

fn write(store: &Store, scale: f64) -> (ExportSummary, File) {
    write_as(store, scale, true)
}

fn write_as(store: &Store, scale: f64, compress: bool) -> (ExportSummary, File) {
    let options = ExportOptions {
        frames: 0..100,
        fps: FPS,
        playback: Playback::Rate(FPS),
        shutter: None,
        usd: UsdFile::default(),
        compress,
        up: None,
        scale,
        debris: None,
        detail: None,
        to: None,
    };
    let summary = run(store, ExportFormat::GlbAnimated, &options, &mut |_, _| {}).expect("export");
    let file = File::read(&summary.files[0]);
    (summary, file)
}

/// Triangles of a piece in the form of [`File::triangles`].
fn source(surface: &SurfaceFrame, piece: &FragmentRange) -> [Vec<[DVec3; 6]>; 2] {
    let mut sides = [Vec::new(), Vec::new()];
    let fans = Fans::of(surface, piece);
    let normals = fans.normals(&surface.positions[surface.vertex_range(piece)]);
    for (triangle, fans) in surface.triangle_range(piece).zip(fans.corners) {
        let corners = surface.triangles[triangle].map(|vertex| vertex as usize);
        let vector = |p: [f32; 3]| DVec3::from(p.map(f64::from));
        let side = usize::from(surface.inside[triangle] != 0);
        sides[side].push(std::array::from_fn(|k| match k {
            0..3 => vector(surface.positions[corners[k]]),
            k => vector(normals[fans[k - 3] as usize]),
        }));
    }
    sides
}

/// Asserts that both have the same triangles in some order, each beginning with any of its corners; positions
/// may differ by `far`.
fn assert_alike(found: &[[DVec3; 6]], wanted: &[[DVec3; 6]], far: f64) {
    assert_eq!(found.len(), wanted.len());
    let mut left = found.to_vec();
    for a in wanted {
        let alike = |b: &[DVec3; 6]| {
            (0..3).any(|turn| {
                (0..3).all(|k| {
                    let other = (k + turn) % 3;
                    let angle = a[k + 3].angle_between(b[other + 3]);
                    a[k].distance(b[other]) < far && angle < 1.5f64.to_radians()
                })
            })
        };
        let at = left.iter().position(alike);
        left.swap_remove(at.unwrap_or_else(|| panic!("{a:?} is not in {left:?}")));
    }
}

/// A fixture store whose surfaces are modified by `change`.
fn changed(frames: u32, names: &[&str], change: impl Fn(&mut SurfaceFrame)) -> (TempDir, Store) {
    let (folder, store) = fixture::store(frames, names);
    for frame in 0..frames {
        let mut surface = fixture::surface(frame, names.len() as u32);
        change(&mut surface);
        surface.write(&store).expect("surface");
    }
    (folder, store)
}

#[test]
fn nodes_are_named_as_in_usd_and_shown_while_they_exist() {
    let (_folder, store) = fixture::store(5, &["left", "right"]);
    let (summary, file) = write(&store, 1.0);
    assert_eq!(summary.stiffened, None);
    let name = summary.files[0].file_name().and_then(|name| name.to_str());
    assert_eq!(name, Some("shot.animated.glb"));
    let children = |name: &str| -> Vec<&str> {
        let children = file.root["nodes"][file.node(name)]["children"].as_array();
        let children = children.expect("children").iter().map(at);
        children
            .filter_map(|child| file.root["nodes"][child]["name"].as_str())
            .collect()
    };
    assert_eq!(children("shot"), ["left", "right"]);
    assert_eq!(children("left"), ["fragment_0"]);
    assert_eq!(
        children("right"),
        ["fragment_1", "fragment_1_1", "fragment_7"]
    );
    let shown = |name: &str| -> Vec<bool> {
        let times = (0..5).map(|frame| f64::from(frame) / FPS);
        times
            .map(|time| file.pose(file.node(name), time).0 > 0.0)
            .collect()
    };
    assert_eq!(shown("fragment_0"), [true; 5]);
    assert_eq!(shown("fragment_1"), [true, true, true, false, false]);
    assert_eq!(shown("fragment_1_1"), [false, false, false, true, true]);
    assert_eq!(shown("fragment_7"), [false, false, false, true, true]);
    // Without animation, the file shows its first frame.
    for (name, size) in [("fragment_1", 0.5), ("fragment_1_1", 0.0)] {
        assert_eq!(
            file.root["nodes"][file.node(name)]["scale"],
            json!([size, size, size])
        );
    }
    let half_way = (2.5 / FPS as f32).into();
    let sizes = file.track::<3>(file.node("fragment_1"), "scale");
    assert_eq!(sizes, Some(vec![(0.0, [0.5; 3]), (half_way, [0.0; 3])]));
    // Uniform motion takes two keyframes, a constant rotation none.
    let way = file.track::<3>(file.node("fragment_0"), "translation");
    let last = (4.0 / FPS as f32).into();
    assert_eq!(way, Some(vec![(0.0, [0.5; 3]), (last, [-0.5, 0.5, 0.5])]));
    assert_eq!(file.track::<4>(file.node("fragment_0"), "rotation"), None);
    for name in ["extensionsUsed", "extensionsRequired"] {
        assert_eq!(
            file.root[name],
            json!([COMPRESSION, "KHR_mesh_quantization"])
        );
    }
    assert_eq!(
        file.root["buffers"][1]["extensions"][COMPRESSION]["fallback"],
        true
    );
}

/// Asserts that the surfaces of six frames of two bodies are in a file, to an error of `far`.
fn assert_surfaces(store: &Store, file: &File, far: f64) {
    for frame in 0..6 {
        let surface = SurfaceFrame::read(store, frame).expect("surface");
        for piece in &surface.pieces {
            let name = match (piece.fragment, frame) {
                (1, 3..) => "fragment_1_1".to_owned(),
                (fragment, _) => format!("fragment_{fragment}"),
            };
            let found = file.triangles(file.node(&name), f64::from(frame) / FPS);
            assert!(found.iter().any(|triangles| !triangles.is_empty()));
            for (found, wanted) in found.iter().zip(source(&surface, piece)) {
                assert_alike(found, &wanted, far);
            }
        }
    }
}

#[test]
fn surfaces_are_where_they_were_in_every_frame() {
    // They turn by more than half a turn in all.
    let turned = |surface: &mut SurfaceFrame| {
        let turn = DQuat::from_rotation_z(1.1 * f64::from(surface.frame)).as_quat();
        for vectors in [&mut surface.positions, &mut surface.normals] {
            for vector in vectors {
                *vector = (turn * glam::Vec3::from(*vector)).to_array();
            }
        }
    };
    let (_folder, store) = changed(6, &["left", "right"], turned);
    let (plain, file) = write_as(&store, 1.0, false);
    assert_eq!(plain.stiffened, None);
    assert!(file.root.get("extensionsUsed").is_none());
    assert_surfaces(&store, &file, 1e-6);
    let (summary, file) = write(&store, 1.0);
    assert_eq!(summary.stiffened, None);
    assert!(plain.bytes > summary.bytes);
    assert_surfaces(&store, &file, 5e-5 * 3f64.sqrt());
    let turns = file
        .track::<4>(file.node("fragment_0"), "rotation")
        .expect("a track");
    for pair in turns.windows(2) {
        let [a, b] = [pair[0].1, pair[1].1].map(DQuat::from_array);
        assert!(a.dot(b) > 0.0, "{pair:?}");
    }
}

#[test]
fn bending_is_reported_in_the_unit_of_the_file() {
    let bent = |surface: &mut SurfaceFrame| surface.positions[6][1] += 0.01 * surface.frame as f32;
    let (_folder, store) = changed(3, &["left", "right"], bent);
    let (summary, file) = write(&store, 100.0);
    let reported = summary.stiffened.expect("one bends");
    assert_eq!(
        file.root["extras"]["stiffened"]["off"],
        reported.largest_error
    );
    assert_eq!((reported.surfaces, reported.total), (1, 2));
    assert!((0.5..1.0).contains(&reported.largest_error), "{reported:?}");
    // Its mean shape is that of the frame in the middle.
    let mut surface = SurfaceFrame::read(&store, 1).expect("surface");
    let lengths = surface.positions.as_flattened_mut();
    lengths.iter_mut().for_each(|length| *length *= 100.0);
    for piece in &surface.pieces {
        let node = file.node(&format!("fragment_{}", piece.fragment));
        let found = file.triangles(node, 1.0 / FPS);
        for (found, wanted) in found.iter().zip(source(&surface, piece)) {
            assert_alike(found, &wanted, 0.02);
        }
    }
}

#[test]
fn what_never_moves_has_no_track() {
    let still = |surface: &mut SurfaceFrame| surface.positions = surface.rest_positions.clone();
    let (_folder, store) = changed(3, &["left"], still);
    let (_, file) = write(&store, 1.0);
    assert!(file.list("animations").is_empty());
    let surface = SurfaceFrame::read(&store, 2).expect("surface");
    let found = file.triangles(file.node("fragment_0"), 0.0);
    assert_alike(&found[0], &source(&surface, &surface.pieces[0])[0], 5e-5);
}

#[test]
fn texture_coordinates_come_along() {
    let with_texture = |surface: &mut SurfaceFrame| {
        let uv = |v: u32| {
            let [x, y, z] = surface.rest_positions[v as usize];
            [3.0 * x + z / 7.0, y - z / 3.0]
        };
        surface.uv = surface.triangles.iter().map(|t| t.map(uv)).collect();
    };
    let (_folder, store) = changed(1, &["left"], with_texture);
    let (_, file) = write(&store, 1.0);
    let mesh = &file.root["meshes"][0]["primitives"][0]["attributes"];
    let uv = file.rows::<2>(&mesh["TEXCOORD_0"]);
    for ([u, v], [x, y, z]) in uv.into_iter().zip(file.rows::<3>(&mesh["POSITION"])) {
        let [x, y, z] = [x, y, z].map(|whole| 0.5 + 0.5 * whole);
        let off = [u - (3.0 * x + z / 7.0), v - (1.0 - y + z / 3.0)];
        assert!(off.iter().all(|off| off.abs() < 1e-4), "{u} {v}: {off:?}");
    }
}

#[test]
fn a_shot_without_surfaces_is_a_file_without_lists() {
    let nothing = |surface: &mut SurfaceFrame| {
        let (frame, time) = (surface.frame, surface.time);
        *surface = SurfaceFrame {
            frame,
            time,
            ..SurfaceFrame::default()
        };
    };
    let (_folder, store) = changed(2, &["left"], nothing);
    let (_, file) = write(&store, 1.0);
    for name in [
        "meshes",
        "buffers",
        "bufferViews",
        "accessors",
        "animations",
        "extensionsUsed",
    ] {
        assert!(file.root.get(name).is_none(), "{name}");
    }
}
