//! What limits the triangles of an export, and what came of it.

use crate::spec::Camera;
use crate::spec::Detail;

/// What limits the triangles of surfaces.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DetailLimits {
    /// Most triangles in any frame; `None`: any number.
    pub triangles: Option<u32>,
    /// Largest error of a surface: m, or pixels with a view; `None`: about the smallest error with which `triangles`
    /// are enough. With both, all fragments have this error; where it needs more triangles, the export is refused.
    pub error: Option<f64>,
    /// The view whose pixels errors are measured in; `None`: errors are lengths.
    pub view: Option<DetailView>,
}

/// View of a camera, as far as it matters for errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetailView {
    /// Position of the camera: m, in the coordinates of the simulation.
    pub eye: [f64; 3],
    /// Size of what one pixel shows, over its distance from the camera.
    pub pixel: f64,
}

/// Triangles that are left of an export's surfaces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetailSummary {
    /// Triangles of full surfaces in the frame with the most of them.
    pub full: u64,
    /// Triangles of exported surfaces in the frame with the most of them.
    pub exported: u64,
    /// Largest error allowed: units of the file, or pixels. Fragments whose size allows less have less.
    pub error: f64,
    /// Whether the error is in pixels.
    pub in_pixels: bool,
    /// Meshes of fragments, over all frames.
    pub meshes: usize,
    /// Those that keep all their triangles: any fewer would not be as good as promised.
    pub unreduced: usize,
}

impl DetailLimits {
    /// The limits of these settings; `None` if there are none. `preview` is the camera of pictures.
    pub fn of(detail: &Detail, preview: Option<Camera>) -> Option<Self> {
        let view = detail.view(preview).map(|camera| DetailView {
            eye: camera.eye,
            pixel: 2.0 * (0.5 * camera.fov).tan() / f64::from(detail.height),
        });
        detail.is_limited().then_some(DetailLimits {
            triangles: detail.triangles,
            error: detail.error.or(detail.pixels),
            view,
        })
    }

    /// The number that is out of its range, if one is.
    pub(in crate::export) fn fault(&self) -> Option<f64> {
        let triangles = self.triangles.filter(|triangles| *triangles < 4);
        let pixel = self.view.map(|view| view.pixel);
        let lengths = [self.error, pixel].into_iter().flatten();
        let mut faults = lengths.filter(|length| !(length.is_finite() && *length > 0.0));
        triangles.map(f64::from).or_else(|| faults.next())
    }
}
