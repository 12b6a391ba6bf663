//! How detailed exported surfaces are: options of `cullet export`, else `export.detail` of the pipeline.

use serde_json::{Value, json};

use super::arguments::DetailArguments;
use super::error::WrongUse;
use crate::export::{DetailLimits, DetailSummary};
use crate::spec::{Camera, Detail, Export, Pipeline};

/// The settings of an export: options replace keys. An option that limits replaces all limits of the pipeline.
pub fn detail(arguments: &DetailArguments, settings: &Export) -> Option<Detail> {
    let mut detail = settings.detail.unwrap_or_default();
    let given = Detail {
        triangles: arguments.triangles,
        error: arguments.error,
        pixels: arguments.pixels,
        ..detail
    };
    if given.is_limited() {
        detail = given;
        // A camera of the pipeline says nothing about a length.
        detail.camera = detail.camera.filter(|_| detail.error.is_none());
    }
    if let (Some(eye), Some(fov)) = (arguments.eye, arguments.fov) {
        detail.camera = Some(Camera {
            eye,
            target: [0.0; 3],
            fov,
        });
    }
    // Nor does the height of its picture where nothing is in pixels.
    if given.is_limited() && detail.pixels.is_none() && detail.camera.is_none() {
        detail.height = Detail::default().height;
    }
    detail.height = arguments.picture_height.unwrap_or(detail.height);
    detail.is_limited().then_some(detail)
}

/// The limits of an export.
pub fn limits(
    arguments: &DetailArguments,
    pipeline: Option<&Pipeline>,
) -> anyhow::Result<Option<DetailLimits>> {
    let settings = pipeline.map_or_else(Export::default, |pipeline| pipeline.export.clone());
    let preview = pipeline.and_then(|pipeline| pipeline.preview.camera);
    let Some(detail) = detail(arguments, &settings) else {
        if arguments.eye.is_some() || arguments.picture_height.is_some() {
            let what = "--eye and --picture-height have no effect without --pixels or --triangles";
            return Err(WrongUse(what.to_owned()).into());
        }
        return Ok(None);
    };
    if let Some((key, why)) = detail.contradiction(preview) {
        return Err(WrongUse(format!(
            "export.detail.{key}: {why} (or options: --eye, --fov)"
        ))
        .into());
    }
    Ok(DetailLimits::of(&detail, preview))
}

/// What an export's detail follows from, as inputs of its stage; `None` if surfaces have all their triangles.
pub fn inputs(
    arguments: &DetailArguments,
    settings: &Export,
    preview: Option<Camera>,
) -> Option<Value> {
    let limits = DetailLimits::of(&detail(arguments, settings)?, preview)?;
    let view = limits
        .view
        .map(|view| json!({"eye": view.eye, "pixel": view.pixel}));
    Some(json!({"triangles": limits.triangles, "error": limits.error, "view": view}))
}

/// What is left of the triangles, for the last line of an export; `scale` is that of the file.
pub fn note(summary: Option<DetailSummary>, scale: f64) -> String {
    let Some(summary) = summary else {
        return String::new();
    };
    let (error, unit) = match summary.in_pixels {
        true => (format!("{:.2}", summary.error), "pixels"),
        false if scale == 1.0 => (format!("{:.2e}", summary.error), "m"),
        false => (format!("{:.2e}", summary.error), "units"),
    };
    let kept = match summary.unreduced {
        0 => String::new(),
        kept => format!("; {kept} of {} meshes keep all triangles", summary.meshes),
    };
    format!(
        "; at most {} of {} triangles in a frame, within {error} {unit}{kept}",
        summary.exported, summary.full
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipeline_with_pixels() -> Export {
        let camera = Camera {
            eye: [0.0, 0.0, 1.0],
            target: [0.0; 3],
            fov: 0.6,
        };
        let detail = Detail {
            pixels: Some(0.5),
            height: 2160,
            camera: Some(camera),
            ..Detail::default()
        };
        Export {
            detail: Some(detail),
            ..Export::default()
        }
    }

    #[test]
    fn an_option_that_limits_replaces_all_limits() {
        let settings = pipeline_with_pixels();
        let with = |arguments: &DetailArguments| detail(arguments, &settings).expect("limits");
        assert_eq!(Some(with(&DetailArguments::default())), settings.detail);
        let by_error = with(&DetailArguments {
            error: Some(1e-3),
            ..DetailArguments::default()
        });
        let expected = Detail {
            error: Some(1e-3),
            ..Detail::default()
        };
        assert_eq!(by_error, expected);
        assert_eq!(by_error.contradiction(None), None);
        let by_count = with(&DetailArguments {
            triangles: Some(500),
            ..DetailArguments::default()
        });
        assert_eq!((by_count.triangles, by_count.pixels), (Some(500), None));
        assert_eq!((by_count.height, by_count.camera.is_some()), (2160, true));
    }

    #[test]
    fn a_height_without_pixels_is_refused() {
        let arguments = DetailArguments {
            error: Some(1e-3),
            picture_height: Some(720),
            ..DetailArguments::default()
        };
        let refused = limits(&arguments, None).expect_err("no effect").to_string();
        assert!(refused.contains("height"), "{refused}");
    }

    #[test]
    fn inputs_are_what_matters() {
        let settings = pipeline_with_pixels();
        let of = |arguments: &DetailArguments| inputs(arguments, &settings, None);
        let mut arguments = DetailArguments::default();
        let before = of(&arguments);
        arguments.picture_height = Some(2160);
        assert_eq!(of(&arguments), before);
        arguments.picture_height = Some(1080);
        assert_ne!(of(&arguments), before);
        assert_eq!(inputs(&arguments, &Export::default(), None), None);
    }
}
