//! Settings of how detailed the surfaces of exports are.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::preview::Camera;
use super::quantity::{PositiveLength, PositiveNumber};

/// How detailed exported surfaces are. Absent keys limit nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Detail {
    /// Most triangles of all fragments in any frame. The largest error is the same for all fragments: in metres, or in
    /// pixels with a `camera`. With `error` or `pixels` as well, an export that needs more triangles is refused.
    #[schemars(range(min = 4))]
    pub triangles: Option<u32>,
    /// Largest distance between the exported and the full surface of a fragment, m.
    #[schemars(with = "PositiveLength")]
    pub error: Option<f64>,
    /// The same distance in pixels of a picture, where the fragment is nearest to the camera.
    #[schemars(with = "PositiveNumber")]
    pub pixels: Option<f64>,
    /// Height of that picture, pixels; needs `pixels`, or `triangles` with a `camera`.
    #[schemars(range(min = 16, max = 65536))]
    pub height: u32,
    /// Camera of that picture; absent: `preview.camera` where `pixels` needs one.
    #[schemars(with = "Camera")]
    pub camera: Option<Camera>,
}

impl Default for Detail {
    fn default() -> Self {
        Detail {
            triangles: None,
            error: None,
            pixels: None,
            height: 1080,
            camera: None,
        }
    }
}

impl Detail {
    /// Whether it limits anything.
    pub fn is_limited(&self) -> bool {
        self.triangles.is_some() || self.error.is_some() || self.pixels.is_some()
    }

    /// The camera that errors in pixels refer to; `preview` is the camera of pictures.
    pub fn view(&self, preview: Option<Camera>) -> Option<Camera> {
        match (self.camera, self.pixels) {
            (None, Some(_)) => preview,
            (camera, _) => camera,
        }
    }

    /// The key that contradicts others, and why; `preview` is the camera of pictures.
    pub fn contradiction(&self, preview: Option<Camera>) -> Option<(&'static str, &'static str)> {
        let is_in_pixels = self.view(preview).is_some();
        if self.error.is_some() && self.pixels.is_some() {
            return Some((
                "pixels",
                "`error` and `pixels` exclude each other; give one of them",
            ));
        }
        if self.error.is_some() && self.camera.is_some() {
            return Some((
                "camera",
                "`error` is the same at any distance; give `pixels` with a camera, or remove the camera",
            ));
        }
        if self.pixels.is_some() && !is_in_pixels {
            return Some((
                "pixels",
                "needs a camera; add `export.detail.camera` or `preview.camera`, as { eye, target, fov }",
            ));
        }
        if self.height != Detail::default().height && !is_in_pixels {
            return Some((
                "height",
                "has no effect without `pixels`, or `triangles` with a camera; add one of them",
            ));
        }
        if self.camera.is_some() && !self.is_limited() {
            return Some((
                "camera",
                "has no effect without `pixels` or `triangles`; add one of them",
            ));
        }
        None
    }
}
