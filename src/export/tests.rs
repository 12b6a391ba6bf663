use super::*;
use crate::store::SurfaceFrame;

mod reduced;

fn options(frames: Range<u32>, fps: f64) -> ExportOptions<'static> {
    ExportOptions {
        frames,
        fps,
        playback: Playback::Rate(fps),
        shutter: None,
        usd: UsdFile::Usda,
        compress: true,
        up: None,
        scale: 1.0,
        debris: None,
        detail: None,
        to: None,
    }
}

fn export(store: &Store, format: ExportFormat, frames: Range<u32>) -> ExportSummary {
    run(store, format, &options(frames, 24.0), &mut |_, _| {}).expect("export")
}

#[test]
fn every_format_has_an_entry_of_its_own() {
    for (&format, entry) in ExportFormat::value_variants().iter().zip(formats()) {
        assert_eq!(entry.format, format);
        // The name on the command line is that of the stage.
        let value = format.to_possible_value().unwrap();
        assert_eq!(value.get_name(), entry.name);
        let in_file = serde_json::to_value(format).unwrap();
        assert!(value.matches(in_file.as_str().unwrap(), false), "{in_file}");
    }
}

#[test]
fn usd_of_a_small_shot_is_the_golden_text() {
    let (_folder, store) = fixture::store(2, &["left box"]);
    let summary = export(&store, ExportFormat::Usd, 0..10);
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    assert_eq!(text, include_str!("golden.usda"));
    assert_eq!(summary.bytes, text.len() as u64);
    let exports = std::fs::read_dir(store.path("exports")).expect("folder");
    assert_eq!(exports.count(), 1, "nothing temporary is left");
}

#[test]
fn usd_has_a_prim_for_a_fragment_while_it_stays_the_same() {
    let (_folder, store) = fixture::store(5, &["left", "right"]);
    let summary = export(&store, ExportFormat::Usd, 0..10);
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    let meshes: Vec<(&str, &str)> = text
        .split("def Mesh \"")
        .skip(1)
        .map(|mesh| mesh.split_once('"').expect("a name"))
        .collect();
    let names: Vec<&str> = meshes.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        ["fragment_0", "fragment_1", "fragment_1_1", "fragment_7"]
    );
    let samples = |mesh: &str, name: &str| -> Vec<String> {
        let Some((_, rest)) = mesh.split_once(&format!("{name}.timeSamples = {{")) else {
            return Vec::new();
        };
        let (block, _) = rest.split_once('}').expect("end");
        let lines = block.lines().map(|line| line.trim().trim_end_matches(','));
        lines
            .filter(|line| !line.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let shown: Vec<Vec<String>> = meshes
        .iter()
        .map(|(_, mesh)| samples(mesh, "token visibility"))
        .collect();
    let (until, from) = (
        ["2.499: \"inherited\"", "2.5: \"invisible\""],
        ["2.499: \"invisible\"", "2.5: \"inherited\""],
    );
    assert!(shown[0].is_empty());
    assert_eq!(shown[1], until);
    assert_eq!(shown[2], from);
    assert_eq!(shown[3], from);
    // Importers that do not read visibility see them with scale 0.
    let sizes = samples(meshes[2].1, "float3 xformOp:scale");
    assert_eq!(sizes, ["2.499: (0, 0, 0)", "2.5: (1, 1, 1)"]);
    // They move rigidly: points at rest, an animated pose.
    for (name, mesh) in &meshes {
        assert!(samples(mesh, "point3f[] points").is_empty(), "{name}");
        assert!(mesh.contains("xformOpOrder"), "{name}");
    }
    // The centre of mass, from half a frame before its first frame, by its velocity there.
    let way = samples(meshes[3].1, "double3 xformOp:translate");
    let before = [
        "2.5: (4.244791",
        "3: (4.25, 0.5, 0.5)",
        "4: (4.75, 0.5, 0.5)",
    ];
    assert_eq!(way.len(), 3);
    assert!(
        way.iter()
            .zip(before)
            .all(|(way, begins)| way.starts_with(begins)),
        "{way:?}"
    );
    // A crack face shows in its own material.
    let (_, cracks) = meshes[2]
        .1
        .split_once("def GeomSubset \"inside\"")
        .expect("cracks");
    assert!(cracks.contains("int[] indices = [8, 9]"));
    assert!(!meshes[3].1.contains("GeomSubset \"inside\""));
}

#[test]
fn usd_of_what_is_not_rigid_has_points_in_time() {
    let (_folder, store) = fixture::store(3, &["left"]);
    let mut surface = fixture::surface(1, 1);
    surface.positions[6][1] += 0.01;
    surface.write(&store).expect("surface");
    let summary = export(&store, ExportFormat::Usd, 0..10);
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    assert!(text.contains("point3f[] points.timeSamples"));
    assert!(text.contains("double3 xformOp:translate.timeSamples"));
    assert!(text.contains("vector3f[] velocities.timeSamples"));
    assert_eq!(text.matches("def Mesh").count(), 1);
}

#[test]
fn what_bends_has_points_where_a_shutter_opens_and_closes() {
    let (_folder, store) = fixture::store(3, &["left"]);
    let mut surface = fixture::surface(1, 1);
    surface.positions[6][1] += 0.01;
    surface.velocities[6][1] += 2.4;
    surface.write(&store).expect("surface");
    let asked = ExportOptions {
        shutter: Some([-0.25, 0.5]),
        ..options(0..10, 24.0)
    };
    let summary = run(&store, ExportFormat::Usd, &asked, &mut |_, _| {}).expect("export");
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    let (_, points) = text
        .split_once("point3f[] points.timeSamples = {")
        .expect("points");
    let (points, _) = points.split_once('}').expect("end");
    let samples: Vec<(f64, f64)> = points
        .lines()
        .filter_map(|line| line.trim().split_once(": "))
        .map(|(time, values)| {
            let height = values.split(", ").nth(3 * 6 + 1).expect("a vertex");
            (time.parse().expect("time"), height.parse().expect("height"))
        })
        .collect();
    let times: Vec<f64> = samples.iter().map(|(time, _)| *time).collect();
    assert_eq!(times, [-0.25, 0.0, 0.5, 0.75, 1.0, 1.5, 1.75, 2.0, 2.5]);
    let rise = |from: usize, to: usize| samples[to].1 - samples[from].1;
    // A quarter and half of a frame with one velocity, of which the rigid body has a share.
    assert!(rise(3, 4) > 0.5 * 2.4 / 24.0 / 4.0);
    assert!((rise(4, 5) - 2.0 * rise(3, 4)).abs() < 1e-6);
    assert_eq!(rise(0, 2), 0.0);
    for ends in [[0.25, -0.25], [-0.6, 0.0], [f64::NAN, 0.1]] {
        let refused = ExportOptions {
            shutter: Some(ends),
            ..options(0..10, 24.0)
        };
        let refused = run(&store, ExportFormat::Usd, &refused, &mut |_, _| {});
        assert!(matches!(refused, Err(ExportError::Shutter { .. })));
    }
}

#[test]
fn velocities_are_per_played_second() {
    let (_folder, store) = fixture::store(2, &["left"]);
    fixture::write_elements(&store);
    let asked = ExportOptions {
        fps: 48.0,
        ..options(0..10, 24.0)
    };
    let [_, elements] = [ExportFormat::Usd, ExportFormat::UsdElements].map(|format| {
        let summary = run(&store, format, &asked, &mut |_, _| {}).expect("export");
        assert_eq!(summary.slow_motion, Some(2.0));
        let text = std::fs::read_to_string(&summary.files[0]).expect("text");
        for line in [
            "    timeCodesPerSecond = 24\n",
            "        double eventFramesPerSecond = 48\n",
            "        double slowMotion = 2\n",
        ] {
            assert!(text.contains(line), "{line}");
        }
        text
    });
    assert!(
        elements.contains("0: [(0, 0.5, 0), (0, 0.5, 0)],"),
        "velocities"
    );
    assert!(
        elements.contains("0: [(0, 0, 14.323945), (0, 0, 14.323945)],"),
        "spins"
    );
}

#[test]
fn small_fragments_are_instances_where_debris_has_a_size() {
    let (_folder, store) = fixture::store(5, &["left", "right"]);
    // A box has a diagonal of 1.73 m, half a box one of 1.5 m.
    let asked = ExportOptions {
        debris: Some(1.6),
        ..options(0..10, 24.0)
    };
    let summary = run(&store, ExportFormat::Usd, &asked, &mut |_, _| {}).expect("export");
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    for mesh in ["fragment_0", "fragment_1"] {
        assert_eq!(text.matches(&format!("def Mesh \"{mesh}\"")).count(), 1);
    }
    assert!(!text.contains("fragment_1_1") && !text.contains("fragment_7"));
    assert_eq!(text.matches("def PointInstancer \"debris\"").count(), 1);
    let has = |line: &str| assert!(text.contains(line), "{line}");
    has("int64[] ids = [1, 7]\n");
    has("0: [1, 7],\n                2.5: [],\n            }");
    has(
        "rel prototypes = [</World/right/debris/prototypes/shape_0>, </World/right/debris/prototypes/shape_1>]",
    );
    // Relative to their centres of mass, which move by a quarter and a half per frame.
    has("4: [(3.25, 0.5, 0.5), (4.75, 0.5, 0.5)],");
    has("4: [(0.25, 0, -1.5e-6), (0.25, 0, -1.5e-6)],");
    has("0: [(1, 1, 1), (1, 1, 1)],\n            }");
    // Where the label continues with the remaining part, half-way between frames, both positions are sampled.
    let whole = ExportOptions {
        debris: Some(2.0),
        to: Some(&store.path("whole.usda")),
        usd: UsdFile::Usdc,
        ..options(0..10, 24.0)
    };
    let summary = run(&store, ExportFormat::Usd, &whole, &mut |_, _| {}).expect("export");
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    let (_, right) = text.split_once("def Xform \"right\"").expect("a body");
    let (_, positions) = right
        .split_once("point3f[] positions.timeSamples = {")
        .expect("ways");
    let places: Vec<&str> = positions.lines().skip(1).take(7).map(str::trim).collect();
    for (place, begins) in places
        .iter()
        .zip(["0: ", "1: ", "2: ", "2.499: ", "2.5: ", "3: ", "4: "])
    {
        assert!(place.starts_with(begins), "{places:?}");
    }
    // The whole box moves on by its velocity; the remaining part comes from before by its own.
    assert!(places[3].starts_with("2.499: [(3.00519"), "{places:?}");
    assert!(places[4].starts_with("2.5: [(2.9947"), "{places:?}");
    let refused = ExportOptions {
        debris: Some(-1.0),
        ..options(0..10, 24.0)
    };
    let refused = run(&store, ExportFormat::Usd, &refused, &mut |_, _| {});
    assert!(matches!(refused, Err(ExportError::Debris { .. })));
}

#[test]
fn elements_are_spheres_of_their_size() {
    let (_folder, store) = fixture::store(1, &["left"]);
    fixture::write_elements(&store);
    let asked = ExportOptions {
        up: Some(Up::Z),
        scale: 100.0,
        ..options(0..10, 24.0)
    };
    let summary = run(&store, ExportFormat::UsdElements, &asked, &mut |_, _| {}).expect("export");
    let name = summary.files[0].file_name().and_then(|name| name.to_str());
    assert_eq!(name, Some("shot.elements.usda"));
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    assert_eq!(text, include_str!("golden.elements.usda"));
}

#[test]
fn glb_is_laid_out_as_its_header_says() {
    let (_folder, store) = fixture::store(5, &["left", "right"]);
    let summary = export(&store, ExportFormat::Glb, 0..10);
    let bytes = std::fs::read(&summary.files[0]).expect("file");
    let word =
        |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes")) as usize;
    assert_eq!(&bytes[..4], b"glTF");
    assert_eq!((word(4), word(8)), (2, bytes.len()));
    let (json, binary) = (word(12), word(20 + word(12)));
    assert!(json.is_multiple_of(4) && binary.is_multiple_of(4));
    assert_eq!(28 + json + binary, bytes.len());
    let root: serde_json::Value = serde_json::from_slice(&bytes[20..20 + json]).expect("JSON");
    assert_eq!(root["buffers"][0]["byteLength"], binary);
    assert_eq!(root["extras"]["frame"], 4);
    assert_eq!(root["meshes"].as_array().map(Vec::len), Some(3));
    assert_eq!(root["materials"].as_array().map(Vec::len), Some(2));
    let triangles: u64 = root["meshes"]
        .as_array()
        .expect("meshes")
        .iter()
        .flat_map(|mesh| mesh["primitives"].as_array().expect("primitives"))
        .map(|primitive| primitive["indices"].as_u64().expect("accessor"))
        .map(|at| {
            root["accessors"][at as usize]["count"]
                .as_u64()
                .expect("count")
                / 3
        })
        .sum();
    assert_eq!(triangles, 36);
}

#[test]
fn sequences_hold_every_vertex_and_face() {
    let (_folder, store) = fixture::store(4, &["left", "right"]);
    let obj = export(&store, ExportFormat::Obj, 2..4);
    assert_eq!(obj.files.len(), 2);
    let options = tobj::LoadOptions::default();
    let (models, _) = tobj::load_obj(&obj.files[1], &options).expect("OBJ");
    let counted: usize = models
        .iter()
        .map(|model| model.mesh.indices.len() / 3)
        .sum();
    assert_eq!(counted, 36);
    // A box has three normals at a corner.
    let text = std::fs::read_to_string(&obj.files[1]).expect("text");
    let lines = |keyword: &str| {
        text.lines()
            .filter(|line| line.starts_with(keyword))
            .count()
    };
    assert_eq!((lines("v "), lines("vn ")), (24, 72));

    let ply = export(&store, ExportFormat::Ply, 2..4);
    let bytes = std::fs::read(&ply.files[1]).expect("PLY");
    let marker = b"end_header\n";
    let header = bytes
        .windows(marker.len())
        .position(|window| window == marker)
        .expect("header")
        + marker.len();
    let text = String::from_utf8_lossy(&bytes[..header]);
    assert!(text.contains("element vertex 24\n") && text.contains("element face 36\n"));
    assert_eq!(bytes.len() - header, 24 * 56 + 36 * 18);
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let (_folder, store) = fixture::store(2, &["left"]);
    let attempt = |frames: Range<u32>, fps: f64| {
        run(
            &store,
            ExportFormat::Usd,
            &options(frames, fps),
            &mut |_, _| {},
        )
    };
    assert!(matches!(
        attempt(5..9, 24.0),
        Err(ExportError::NoSurfaces { .. })
    ));
    assert!(matches!(
        attempt(0..2, 0.0),
        Err(ExportError::FrameRate { .. })
    ));
    let mut surface = fixture::surface(1, 1);
    surface.positions[3][1] = f32::NAN;
    surface.write(&store).expect("surface");
    assert!(matches!(
        attempt(0..2, 24.0),
        Err(ExportError::NotFinite { frame: 1, .. })
    ));
}

#[test]
fn vtk_files_are_laid_out_as_their_head_says() {
    let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
    let triangle = std::iter::once([0u32, 1, 2]);
    let mut file = vtk::file::PolyData::new(0.25, &points, vtk::file::CellKind::Polys, triangle);
    file.add_point_array("id", 1, [7u32, 8, 9]);
    file.add_cell_scalars("inside", [1u8]);
    let bytes = file.finish().concat();
    let marker = b"<AppendedData encoding=\"raw\">\n_";
    let head = bytes
        .windows(marker.len())
        .position(|window| window == marker)
        .expect("data");
    let text = String::from_utf8_lossy(&bytes[..head]);
    assert!(text.contains("NumberOfPoints=\"3\"") && text.contains("NumberOfPolys=\"1\""));
    assert!(text.contains("format=\"ascii\">0.25</DataArray>"));
    let data = &bytes[head + marker.len()..];
    let block = |name: &str| {
        let (_, rest) = text.split_once(&format!("Name=\"{name}\"")).expect(name);
        let (_, rest) = rest.split_once("offset=\"").expect(name);
        let at: usize = rest[..rest.find('"').expect(name)].parse().expect(name);
        let size = u64::from_le_bytes(data[at..at + 8].try_into().expect("8 bytes")) as usize;
        data[at + 8..at + 8 + size].to_vec()
    };
    let numbers = |values: &[i64]| -> Vec<u8> {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    assert_eq!(block("Points").len(), 36);
    assert_eq!(block("connectivity"), numbers(&[0, 1, 2]));
    assert_eq!(block("offsets"), numbers(&[3]));
    assert_eq!(block("id")[4..8], 8u32.to_le_bytes());
    assert_eq!(block("inside"), [1]);
}

#[test]
fn vtk_without_frames_is_refused() {
    let (_folder, store) = fixture::store(2, &["left"]);
    let refused = run(
        &store,
        ExportFormat::Vtk,
        &options(0..9, 24.0),
        &mut |_, _| {},
    );
    assert!(matches!(refused, Err(ExportError::NoFrames { .. })));
}

#[test]
fn files_have_the_requested_axis_and_unit() {
    let (_folder, store) = fixture::store(1, &["left"]);
    let asked = ExportOptions {
        up: Some(Up::Z),
        scale: 100.0,
        ..options(0..1, 24.0)
    };
    let write = |format: ExportFormat| {
        let summary = run(&store, format, &asked, &mut |_, _| {}).expect("export");
        std::fs::read(&summary.files[0]).expect("file")
    };
    let usd = String::from_utf8(write(ExportFormat::Usd)).expect("text");
    assert!(usd.contains("metersPerUnit = 0.01\n") && usd.contains("upAxis = \"Z\""));
    // The box from (0, 0, 0) to (1, 1, 1): now z is up, and y points away from the viewer.
    assert!(usd.contains("float3[] extent = [(-50, -50, -50), (50, 50, 50)]"));
    assert!(usd.contains("0: (50, -50, 50),"));
    let obj = String::from_utf8(write(ExportFormat::Obj)).expect("text");
    assert!(obj.starts_with("# 100 units a metre, z up;"));
    // glTF has y up; positions of a fragment are relative to its centre.
    let glb = write(ExportFormat::Glb);
    let json = String::from_utf8_lossy(&glb[20..]);
    assert!(json.contains("\"max\":[50.0,50.0,50.0]"));
    assert!(json.contains("\"translation\":[50.0,50.0,50.0]"));
    let refused = ExportOptions {
        scale: 0.0,
        ..options(0..1, 24.0)
    };
    let refused = run(&store, ExportFormat::Usd, &refused, &mut |_, _| {});
    assert!(matches!(refused, Err(ExportError::Scale { .. })));
}

/// A store of one frame of two bodies, in three fragments, with texture coordinates.
fn textured() -> (tempfile::TempDir, Store, SurfaceFrame) {
    let (folder, store) = fixture::store(4, &["left", "right"]);
    let mut surface = fixture::surface(3, 2);
    fixture::texture(&mut surface);
    surface.write(&store).expect("surface");
    (folder, store, surface)
}

#[test]
fn obj_numbers_texture_coordinates_apart() {
    let (_folder, store, surface) = textured();
    let obj = export(&store, ExportFormat::Obj, 3..4);
    let (models, _) = tobj::load_obj(&obj.files[0], &tobj::LoadOptions::default()).expect("OBJ");
    // The crack faces of the second fragment come after its skin, as they have another material.
    let (cracks, skin): (Vec<usize>, _) = (12..24).partition(|t| surface.inside[*t] == 1);
    let order = (0..12).chain(skin).chain(cracks).chain(24..36);
    let expected: Vec<f64> = order
        .flat_map(|t| surface.uv[t].into_iter().flatten())
        .map(f64::from)
        .collect();
    let found: Vec<f64> = models
        .iter()
        .flat_map(|model| {
            let corners = model.mesh.texcoord_indices.iter();
            corners.flat_map(|&at| [0, 1].map(|m| model.mesh.texcoords[2 * at as usize + m]))
        })
        .collect();
    assert_eq!(found, expected);
    let text = std::fs::read_to_string(&obj.files[0]).expect("text");
    let lines = text.lines().filter(|line| line.starts_with("vt "));
    assert_eq!(lines.count(), 3 * 24);
}

#[test]
fn vertices_of_ply_and_gltf_are_split_at_seams() {
    let (_folder, store, surface) = textured();
    // Position and texture coordinates of every corner, in order.
    let sorted = |corners: &mut dyn Iterator<Item = ([f32; 3], [f32; 2])>| {
        let whole = |x: f32| (f64::from(x) * 1e4).round() as i64;
        let mut rows: Vec<_> = corners
            .map(|(position, uv)| (position.map(whole), uv.map(whole)))
            .collect();
        rows.sort_unstable();
        rows
    };
    for piece in &surface.pieces {
        let positions = &surface.positions[surface.vertex_range(piece)];
        let pivot = glam::DVec3::new(0.5, 0.25, -0.125);
        let mesh = gltf::mesh::FragmentMesh::new(&surface, piece, positions, pivot);
        assert_eq!(mesh.positions.len(), 24);
        let vertices = mesh.indices.iter().flat_map(|(_, list)| list);
        let found = sorted(&mut vertices.map(|&v| {
            let (place, [u, v]) = (mesh.positions[v as usize], mesh.uv[v as usize]);
            (
                (glam::Vec3::from(place) + mesh.pivot.as_vec3()).to_array(),
                [u, 1.0 - v],
            )
        }));
        let corners = surface.triangles[surface.triangle_range(piece)].as_flattened();
        let places = corners.iter().map(|&v| surface.positions[v as usize]);
        let uv = surface.uv_of(piece).as_flattened().iter().copied();
        assert_eq!(found, sorted(&mut places.zip(uv)));
    }
    let ply = export(&store, ExportFormat::Ply, 3..4);
    let bytes = std::fs::read(&ply.files[0]).expect("PLY");
    let text = String::from_utf8_lossy(&bytes);
    assert!(
        text.contains("element vertex 72\n")
            && text.contains("property float s\nproperty float t\n")
    );
    let marker = b"end_header\n";
    let header = bytes
        .windows(marker.len())
        .position(|window| window == marker);
    assert_eq!(
        bytes.len() - header.expect("header") - marker.len(),
        72 * 64 + 36 * 18
    );
}

#[test]
fn usd_has_texture_coordinates_of_corners() {
    let (_folder, store, surface) = textured();
    let summary = export(&store, ExportFormat::Usd, 3..4);
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    let values = |mesh: &str, name: &str| -> Vec<f32> {
        let (_, rest) = mesh.split_once(&format!("{name} = [")).expect("values");
        let (list, _) = rest.split_once(']').expect("end");
        let numbers = list
            .split([',', ' ', '(', ')'])
            .filter(|word| !word.is_empty());
        numbers
            .map(|word| word.parse().expect("a number"))
            .collect()
    };
    let meshes: Vec<&str> = text.split("def Mesh \"").skip(1).collect();
    assert_eq!(meshes.len(), surface.pieces.len());
    for (mesh, piece) in meshes.into_iter().zip(&surface.pieces) {
        let uv = values(mesh, "texCoord2f[] primvars:st");
        assert_eq!(uv.len(), 2 * 24);
        let corners = values(mesh, "int[] primvars:st:indices").into_iter();
        let found: Vec<[f32; 2]> = corners
            .map(|at| [0, 1].map(|m| uv[2 * at as usize + m]))
            .collect();
        assert_eq!(found, surface.uv_of(piece).as_flattened());
    }
}

#[test]
fn texture_coordinates_of_another_number_of_triangles_are_refused() {
    let (_folder, store, mut surface) = textured();
    surface.uv.pop();
    surface.write(&store).expect("surface");
    let refused = run(
        &store,
        ExportFormat::Obj,
        &options(3..4, 24.0),
        &mut |_, _| {},
    );
    let message = refused.expect_err("damaged").to_string();
    assert!(
        message.contains("uv has 35 entries, expected 36"),
        "{message}"
    );
}
