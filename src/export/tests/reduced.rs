//! Exports of surfaces with fewer triangles.

use super::*;

#[test]
fn surfaces_that_need_all_their_triangles_are_exported_as_ever() {
    let (folder, store) = fixture::store(5, &["left", "right"]);
    for format in [
        ExportFormat::Usd,
        ExportFormat::Alembic,
        ExportFormat::Glb,
        ExportFormat::GlbAnimated,
        ExportFormat::Obj,
        ExportFormat::Ply,
    ] {
        let bytes = |detail: Option<DetailLimits>, to: &str| {
            let to = folder.path().join(to);
            let asked = ExportOptions {
                detail,
                to: Some(&to),
                ..options(0..10, 24.0)
            };
            let summary = run(&store, format, &asked, &mut |_, _| {}).expect("export");
            assert_eq!(summary.detail.is_some(), detail.is_some());
            let files = summary.files.iter();
            let files = files.map(|file| std::fs::read(file).expect("a file"));
            files.collect::<Vec<_>>()
        };
        let budget = DetailLimits {
            triangles: Some(36),
            ..DetailLimits::default()
        };
        assert_eq!(
            bytes(Some(budget), "some"),
            bytes(None, "all"),
            "{format:?}"
        );
    }
}

/// A store of two frames, with elements in frame 0, in which a ball can be reduced.
fn store_with_ball() -> (tempfile::TempDir, Store, u64) {
    let (folder, store) = fixture::store(2, &["left"]);
    fixture::write_elements(&store);
    let mut triangles = 0;
    for frame in 0..2 {
        let mut surface = fixture::surface(frame, 1);
        fixture::add_ball(&mut surface);
        triangles = surface.triangles.len() as u64;
        surface.write(&store).expect("surface");
    }
    (folder, store, triangles)
}

fn limited(triangles: Option<u32>, error: Option<f64>) -> DetailLimits {
    DetailLimits {
        triangles,
        error,
        view: None,
    }
}

#[test]
fn every_format_of_surfaces_writes_the_reduced_ones() {
    let (folder, store, full) = store_with_ball();
    for format in [
        ExportFormat::Usd,
        ExportFormat::Alembic,
        ExportFormat::Glb,
        ExportFormat::GlbAnimated,
        ExportFormat::Obj,
        ExportFormat::Ply,
        ExportFormat::Vtk,
    ] {
        let export = |detail: Option<DetailLimits>, to: &str| {
            let to = folder.path().join(to);
            let asked = ExportOptions {
                detail,
                to: Some(&to),
                compress: false,
                ..options(0..1, 24.0)
            };
            let summary = run(&store, format, &asked, &mut |_, _| {}).expect("export");
            let files = summary.files.iter();
            let files = files.map(|file| std::fs::read(file).expect("a file"));
            (summary.detail, files.collect::<Vec<_>>().concat())
        };
        let (none, whole) = export(None, "all");
        assert_eq!(none, None);
        let (summary, reduced) = export(Some(limited(None, Some(0.1))), "some");
        let summary = summary.expect("a summary");
        assert_eq!(summary.full, full);
        assert!(summary.exported * 3 < full, "{format:?}: {summary:?}");
        assert_eq!((summary.meshes, summary.unreduced), (2, 1), "{format:?}");
        // What does not depend on triangles is at most half of these files.
        assert!(
            reduced.len() * 3 < whole.len() * 2,
            "{format:?}: {} of {} bytes",
            reduced.len(),
            whole.len()
        );
        let text = String::from_utf8_lossy(&reduced);
        match format {
            ExportFormat::Obj => {
                let faces = text.lines().filter(|line| line.starts_with("f ")).count();
                assert_eq!(faces as u64, summary.exported);
            }
            ExportFormat::Ply => {
                assert!(text.contains(&format!("element face {}\n", summary.exported)));
            }
            _ => {}
        }
    }
}

#[test]
fn an_export_that_needs_more_triangles_is_refused_before_anything_is_written() {
    let (_folder, store, _) = store_with_ball();
    for (limits, within) in [
        (limited(Some(4), None), "an eighth of the size"),
        (limited(Some(20), Some(0.01)), "0.01 m"),
    ] {
        let asked = ExportOptions {
            detail: Some(limits),
            ..options(0..10, 24.0)
        };
        let refused = prepare(&store, ExportFormat::Obj, &asked).err();
        let refused = refused.expect("too few triangles");
        assert!(refused.caused_by_user());
        assert!(refused.to_string().contains(within), "{refused}");
        assert!(run(&store, ExportFormat::Obj, &asked, &mut |_, _| {}).is_err());
        assert!(!store.path("exports").exists());
    }
}

#[test]
fn debris_is_chosen_by_the_size_of_full_meshes() {
    let (_folder, store, _) = store_with_ball();
    let surface = SurfaceFrame::read(&store, 0).expect("surface");
    let ball = surface.vertex_range(&surface.pieces[1]);
    let size = |positions: &[[f32; 3]]| {
        let (low, high) = space::bounds(positions);
        glam::Vec3::from(low).distance(glam::Vec3::from(high))
    };
    let full = f64::from(size(&surface.rest_positions[ball]));
    let limits = limited(None, Some(0.4));
    let read = |_| Ok(surface.clone());
    let space = FileCoordinates::of_shot(None);
    let reduction = detail::plan(&[0], &limits, space, &read).expect("a plan");
    let reduced = reduction.apply(&surface);
    let own = reduced.vertex_range(&reduced.pieces[1]);
    let small = f64::from(size(&reduced.rest_positions[own]));
    assert!(small < 0.99 * full, "the reduced box is smaller: {small}");
    let asked = ExportOptions {
        detail: Some(limits),
        debris: Some(0.5 * (small + full)),
        ..options(0..10, 24.0)
    };
    let summary = run(&store, ExportFormat::Usd, &asked, &mut |_, _| {}).expect("export");
    let text = std::fs::read_to_string(&summary.files[0]).expect("text");
    assert!(text.contains("def Mesh \"fragment_9\""), "it is no debris");
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    let (_folder, store) = fixture::store(2, &["left"]);
    for (triangles, error) in [
        (Some(0), None),
        (None, Some(0.0)),
        (None, Some(-1.0)),
        (None, Some(f64::NAN)),
        (None, Some(f64::INFINITY)),
    ] {
        let asked = ExportOptions {
            detail: Some(DetailLimits {
                triangles,
                error,
                view: None,
            }),
            ..options(0..10, 24.0)
        };
        let refused = run(&store, ExportFormat::Obj, &asked, &mut |_, _| {});
        assert!(
            matches!(refused, Err(ExportError::Detail { .. })),
            "{refused:?}"
        );
        assert!(!store.path("exports").exists());
    }
}
