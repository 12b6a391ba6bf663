//! `cullet check --mesh`: what is wrong with a mesh, where, and what repair does to it.

use std::path::Path;

use serde_json::json;

use super::error::WrongUse;
use crate::geometry::carry::carry_paint;
use crate::geometry::closing::{Region, close};
use crate::geometry::{check, ply, read};
use crate::store::atomic;

/// Cells of a wrap along the longest side of a mesh, unless their edge is given.
const DEFAULT_CELLS: f64 = 100.0;

/// Prints the faults of a mesh and what is done to close it, and writes the closed skin to `out`, a PLY file. `cell` is
/// the edge (file units) of the cells by which surfaces are wrapped that stay open, `region` what a mesh encloses.
pub fn check_mesh(
    path: &Path,
    out: Option<&Path>,
    (cell, region): (Option<f64>, Region),
    as_json: bool,
) -> anyhow::Result<()> {
    if let Some(out) = out.filter(|out| out.extension().is_none_or(|name| name != "ply")) {
        let what = format!(
            "{}: the skin is written as PLY: name it .ply",
            out.display()
        );
        return Err(WrongUse(what).into());
    }
    let mesh = read::read(path).map_err(|error| WrongUse(error.to_string()))?;
    let (low, high) = mesh.bounds().unwrap_or_default();
    let size = high - low;
    let faults: Vec<String> = check::defects(&mesh)
        .iter()
        .map(ToString::to_string)
        .collect();
    let cell = cell.unwrap_or(size.max_element() / DEFAULT_CELLS);
    let mut closing = close(&mesh, cell, region)
        .map_err(|error| WrongUse(format!("{}: {error}", path.display())));
    if let Ok(closing) = &mut closing {
        carry_paint(&mesh, &mut closing.skin);
    }
    if let (Ok(closing), Some(out)) = (&closing, out) {
        atomic::write(out, |file| ply::write_ply(&closing.skin, file))?;
    }
    if as_json {
        let skin = closing.as_ref().ok().map(|closing| {
            json!({
                "triangles": closing.skin.triangles.len(),
                "volume": closing.skin.volume(),
                "repair": closing.report.to_string(),
            })
        });
        let found = json!({
            "triangles": mesh.triangles.len(),
            "vertices": mesh.positions.len(),
            "size": size.to_array(),
            "faults": faults,
            "skin": skin,
        });
        super::print::print(&found.to_string())?;
    } else {
        let mut lines = vec![format!(
            "mesh      {} triangles, {} vertices, {:.4} x {:.4} x {:.4} file units",
            mesh.triangles.len(),
            mesh.positions.len(),
            size.x,
            size.y,
            size.z
        )];
        lines.extend(faults.iter().map(|fault| format!("fault     {fault}")));
        if let Ok(closing) = &closing {
            lines.push(format!("repair    {}", closing.report));
            lines.push(format!(
                "skin      {} triangles, volume {:.6e} cubic file units",
                closing.skin.triangles.len(),
                closing.skin.volume()
            ));
            lines.extend(out.map(|out| format!("written   {}", out.display())));
        }
        super::print::print(&lines.join("\n"))?;
    }
    closing.map(drop).map_err(Into::into)
}
