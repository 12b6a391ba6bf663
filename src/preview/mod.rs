//! Shaded pictures of a shot without a GPU: one PNG per frame and one contact sheet with some of them.
//!
//! Draws the surfaces of a frame if there are any. Elements are drawn as balls if there are none, if bodies are cut
//! open, or if elements are coloured by a quantity. Colliders are drawn too. Everything is read from the store. The
//! picture of a frame depends on the store alone, not on the number of threads.

mod buffer;
mod camera;
mod colliders;
mod colour;
mod error;
mod font;
mod legend;
mod light;
mod occlusion;
mod projection;
mod raster;
mod scene;
mod shade;
mod sheet;
mod source;
mod spheres;
mod stress;

use std::ops::Range;
use std::path::PathBuf;

use crate::parallel::prelude::*;

use crate::picture;
use crate::spec;
use crate::store::{Manifest, Store};
use source::FrameSource;

pub use error::PreviewError;
pub use stress::picture_paths as stress_picture_paths;

impl PreviewError {
    /// Whether the settings or the store caused the error.
    pub fn caused_by_user(&self) -> bool {
        match self {
            PreviewError::Store(error) => error.caused_by_user(),
            PreviewError::NoFrames { .. }
            | PreviewError::Size { .. }
            | PreviewError::Camera { .. } => true,
        }
    }
}

/// Files that a preview has written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviewSummary {
    /// Pictures of stress, then those of frames, in order, then the contact sheet.
    pub files: Vec<PathBuf>,
}

/// Longest side of a picture, pixels; with four samples per pixel it takes about 1 GB.
const LONGEST_SIDE: u32 = 4096;

/// Writes `preview/NNNNNN.png` for each frame in `frames`, and `preview/contact_sheet.png`. For each table of
/// stress it writes `preview/stress_NNNNNN.png`, coloured by the largest principal stress, and
/// `preview/energy_NNNNNN.png`; if bodies are cut open, also `stress_inside_` and `energy_inside_`.
///
/// Calls `on_frame(done, total)` after each frame.
pub fn run(
    store: &Store,
    preview: &spec::Preview,
    frames: Range<u32>,
    on_frame: &mut dyn FnMut(usize, usize),
) -> Result<PreviewSummary, PreviewError> {
    let (width, height) = (preview.width, preview.height);
    let sides = 16..=LONGEST_SIDE;
    if !sides.contains(&width) || !sides.contains(&height) {
        return Err(PreviewError::Size {
            width,
            height,
            limit: LONGEST_SIDE,
        });
    }
    let manifest = Manifest::read(store)?;
    let mut source = FrameSource::new(store, manifest.pipeline.as_ref(), preview)?;
    let numbers = source.frames(&frames)?;
    let mut summary = PreviewSummary {
        files: stress::draw(store, preview, &frames)?,
    };
    if numbers.is_empty() && !summary.files.is_empty() {
        return Ok(summary);
    }
    if numbers.is_empty() {
        let path = store.root().to_owned();
        return Err(PreviewError::NoFrames { path, frames });
    }
    if let Some(by) = preview.colour {
        source.colour(by, &numbers)?;
    }
    let setup = camera::set_up(&source, preview, &numbers)?;
    let mut sheet = sheet::ContactSheet::new(&numbers, width, height);
    let mut done = 0;
    for batch in numbers.chunks(rayon::current_num_threads()) {
        let drawn = batch
            .par_iter()
            .map(|&frame| {
                let scene = source.read(frame)?;
                let mut picture = shade::draw(&scene, &setup);
                if let Some(scale) = source.scale() {
                    scale.draw(&mut picture);
                }
                let path = store.numbered("preview", frame, "png");
                picture::write(&path, &picture)?;
                Ok((path, scene.time, picture))
            })
            .collect::<Result<Vec<_>, PreviewError>>()?;
        for (&frame, (path, time, picture)) in batch.iter().zip(drawn) {
            sheet.add(frame, time, &picture);
            summary.files.push(path);
            done += 1;
            on_frame(done, numbers.len());
        }
    }
    let path = store.path("preview/contact_sheet.png");
    picture::write(&path, &sheet.finish())?;
    summary.files.push(path);
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{Elements, Frames, Shape};
    use crate::store::Packing;

    /// Three balls in a row that move apart.
    fn balls(folder: &std::path::Path) -> Store {
        let store = Store::at(folder);
        let manifest = Manifest {
            schema_version: crate::store::SCHEMA_VERSION,
            schema_minor: crate::store::SCHEMA_MINOR,
            units: "SI".to_owned(),
            coordinates: "right-handed, y up, metres".to_owned(),
            parent: None,
            pipeline: None,
            stages: Default::default(),
            files: Default::default(),
            other: Default::default(),
        };
        manifest.write(&store).expect("manifest");
        let rows = 0..3u32;
        let all = |value: f64| vec![value; 3];
        let elements = Elements {
            id: rows.clone().collect(),
            body: vec![0; 3],
            material: vec![0; 3],
            kind: vec![Shape::Sphere; 3],
            x: all(0.0),
            y: all(0.0),
            z: all(0.0),
            r: all(0.01),
            mass: all(1.0),
            inertia: all(1.0),
            volume: all(1.0),
            vx: all(0.0),
            vy: all(0.0),
            vz: all(0.0),
            wx: all(0.0),
            wy: all(0.0),
            wz: all(0.0),
        };
        let packing = Packing {
            elements,
            ..Packing::default()
        };
        store.write_packing(&packing).expect("packing");
        for frame in 0..5u32 {
            let all = |value: f32| vec![value; 3];
            let table = Frames {
                frame: vec![frame; 3],
                time: vec![f64::from(frame); 3],
                id: rows.clone().collect(),
                x: rows
                    .clone()
                    .map(|id| id as f32 * 0.02 * (1.0 + frame as f32))
                    .collect(),
                y: all(0.0),
                z: all(0.0),
                qx: all(0.0),
                qy: all(0.0),
                qz: all(0.0),
                qw: all(1.0),
                vx: all(0.0),
                vy: all(0.0),
                vz: all(0.0),
                wx: all(0.0),
                wy: all(0.0),
                wz: all(0.0),
                fragment: vec![0; 3],
                sigma: all(0.0),
                tau: all(0.0),
                broken: vec![0, 1, 0],
            };
            store
                .write_numbered("frames", frame, &table)
                .expect("frame");
        }
        store
    }

    #[test]
    fn pictures_do_not_depend_on_the_number_of_threads() {
        let preview = spec::Preview {
            width: 48,
            height: 32,
            camera: None,
            section: None,
            colour: None,
        };
        let drawn = |threads: usize| {
            let folder = tempfile::tempdir().expect("folder");
            let store = balls(folder.path());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            let summary = pool
                .expect("threads")
                .install(|| run(&store, &preview, 0..10, &mut |_, _| {}))
                .expect("preview");
            let read = |path: &PathBuf| std::fs::read(path).expect("picture");
            summary.files.iter().map(read).collect::<Vec<_>>()
        };
        let one = drawn(1);
        assert_eq!(one.len(), 6, "five frames and the sheet");
        assert!(one[0] != one[4], "the balls moved");
        assert!(one == drawn(3));
    }

    #[test]
    fn a_section_takes_away_what_lies_beyond_it() {
        let folder = tempfile::tempdir().expect("folder");
        let store = balls(folder.path());
        let count = |section: Option<spec::Section>| {
            let preview = spec::Preview {
                section,
                ..spec::Preview::default()
            };
            let source = FrameSource::new(&store, None, &preview).expect("source");
            source.read(0).expect("frame").balls.len()
        };
        let cut = |x: f64, side: f64| {
            Some(spec::Section {
                point: [x, 0.0, 0.0],
                normal: [side, 0.0, 0.0],
            })
        };
        // The balls are at 0, 0.02 and 0.04.
        assert_eq!(count(None), 3);
        assert_eq!(count(cut(0.01, 2.0)), 1);
        assert_eq!(count(cut(0.01, -2.0)), 2);
    }

    #[test]
    fn impossible_previews_are_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let store = balls(folder.path());
        let attempt = |width: u32, fov: f64, frames: Range<u32>| {
            let camera = spec::Camera {
                eye: [0.0, 0.0, 1.0],
                target: [0.0; 3],
                fov,
            };
            let preview = spec::Preview {
                width,
                height: 32,
                camera: Some(camera),
                section: None,
                colour: None,
            };
            run(&store, &preview, frames, &mut |_, _| {})
        };
        assert!(matches!(
            attempt(0, 0.5, 0..1),
            Err(PreviewError::Size { .. })
        ));
        assert!(matches!(
            attempt(32, 0.0, 0..1),
            Err(PreviewError::Camera { .. })
        ));
        assert!(matches!(
            attempt(32, 0.5, 8..9),
            Err(PreviewError::NoFrames { .. })
        ));
        assert!(attempt(32, 0.5, 0..1).is_ok());
    }
}
