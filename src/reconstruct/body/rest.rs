//! What stays the same over all frames of a body: elements and bonds at rest, the grid, the skin on it.

use std::collections::BTreeMap;

use crate::parallel::prelude::*;
use glam::DVec3;

use super::bins::ElementBins;
use super::solid::Solid;
use crate::columns::{Bonds, Elements, Faces};
use crate::geometry::TriMesh;
use crate::reconstruct::cells::complex::Complex;
use crate::reconstruct::error::ReconstructError;
use crate::reconstruct::surface::carried::CARRIERS;
use crate::reconstruct::world::World;
use crate::spec::{self, ReconstructMode};

/// Edge of the bins that elements are sorted into, radii.
const BIN: f64 = 2.0;
/// Edges of the skin are no longer than this, radii: the distance of elements that touch.
const SKIN_EDGE: f64 = 2.0;

/// A body at rest.
#[derive(Debug)]
pub struct Body {
    /// Index of the `[[body]]`.
    pub index: u32,
    /// Row of each of its elements in the packing, ascending.
    pub rows: Vec<u32>,
    /// Rest position of each of its elements, m.
    pub positions: Vec<DVec3>,
    /// Mean radius of its elements, m.
    pub radius: f64,
    /// Its bonds.
    pub bonds: Vec<RestBond>,
    /// Elements sorted into bins.
    pub bins: ElementBins,
    /// The elements nearest to each vertex of the skin, nearest first.
    pub anchors: Vec<[u32; CARRIERS]>,
    /// The volume between its skin; `None` for loose elements, which are balls, and in the world mode.
    pub solid: Option<Solid>,
    /// Set in the world mode.
    pub world: Option<World>,
    /// Set in the mode that draws cells.
    pub cells: Option<Complex>,
}

/// A bond at rest. Ends count within the body.
#[derive(Clone, Copy, Debug)]
pub struct RestBond {
    /// One end.
    pub i: u32,
    /// The other end.
    pub j: u32,
    /// Half the rest vector from `i` to `j`, m.
    pub half: DVec3,
    /// Its row in the packing.
    pub row: u32,
}

impl Body {
    /// Gathers the elements of every body, none drawn as cells.
    ///
    /// # Errors
    /// As [`with_cells`](Self::with_cells).
    pub fn all(
        elements: &Elements,
        bonds: &Bonds,
        params: &spec::Reconstruct,
        skin: impl FnMut(u32) -> Result<Option<TriMesh>, ReconstructError>,
    ) -> Result<Vec<Self>, ReconstructError> {
        Self::with_cells((elements, bonds, None), params, skin)
    }

    /// Gathers the elements of every body; `faces` are those of cells, where these are to be drawn. `skin`
    /// gives the skin of a body that has bonds; without one it is drawn in the world mode.
    ///
    /// # Errors
    /// A skin that cannot be used, faces that do not close a cell, cells of the grid that are too small.
    pub fn with_cells(
        (elements, bonds, faces): (&Elements, &Bonds, Option<&Faces>),
        params: &spec::Reconstruct,
        mut skin: impl FnMut(u32) -> Result<Option<TriMesh>, ReconstructError>,
    ) -> Result<Vec<Self>, ReconstructError> {
        // Bodies are numbered by whoever packed them: a number may be any.
        let mut rows: BTreeMap<u32, (Vec<u32>, Vec<RestBond>)> = BTreeMap::new();
        let mut local = vec![0_u32; elements.body.len()];
        for (row, &body) in elements.body.iter().enumerate() {
            let (rows, _) = rows.entry(body).or_default();
            local[row] = rows.len() as u32;
            rows.push(row as u32);
        }
        for (b, (&i, &j)) in bonds.i.iter().zip(&bonds.j).enumerate() {
            let (i, j) = (i as usize, j as usize);
            let direction = DVec3::new(bonds.dx[b], bonds.dy[b], bonds.dz[b]);
            // A bond between bodies holds two skins together; it has no face of its own.
            if elements.body[i] == elements.body[j]
                && let Some((_, own)) = rows.get_mut(&elements.body[i])
            {
                own.push(RestBond {
                    i: local[i],
                    j: local[j],
                    half: direction * (0.5 * bonds.l0[b]),
                    row: b as u32,
                });
            }
        }
        let mut bodies = Vec::new();
        for (number, (rows, bonds)) in rows {
            let positions: Vec<DVec3> = rows
                .iter()
                .map(|&row| row as usize)
                .map(|row| DVec3::new(elements.x[row], elements.y[row], elements.z[row]))
                .collect();
            let sum: f64 = rows.iter().map(|&row| elements.r[row as usize]).sum();
            let radius = sum / rows.len() as f64;
            let everywhere = params.mode == ReconstructMode::World;
            let cells = match faces {
                Some(faces) => {
                    let radii: Vec<f64> =
                        rows.iter().map(|&row| elements.r[row as usize]).collect();
                    let complex = Complex::new(number, faces, &rows, &positions, &radii)?;
                    if complex.is_none() && !bonds.is_empty() {
                        return Err(ReconstructError::NoCells { body: number });
                    }
                    complex
                }
                None => None,
            };
            let skin = if everywhere || faces.is_some() || bonds.is_empty() {
                None
            } else {
                skin(number)?
            };
            let world = if everywhere || (skin.is_none() && cells.is_none() && !bonds.is_empty()) {
                let radii = rows.iter().map(|&row| elements.r[row as usize]);
                Some(World::new(number, radii.collect(), params.voxel)?)
            } else {
                None
            };
            let solid = match skin {
                None => None,
                Some(skin) => {
                    let (spacing, longest) = (params.voxel * radius, SKIN_EDGE * radius);
                    let mut solid = Solid::new(number, skin, spacing, longest)?;
                    solid.grain = params.roughness * radius;
                    solid.simplify = params.simplify * radius;
                    Some(solid)
                }
            };
            let mut body = Body {
                index: number,
                bins: ElementBins::new(&positions, BIN * radius),
                rows,
                positions,
                radius,
                bonds,
                anchors: Vec::new(),
                solid,
                world,
                cells,
            };
            body.anchors = body.find_anchors();
            bodies.push(body);
        }
        Ok(bodies)
    }

    fn find_anchors(&self) -> Vec<[u32; CARRIERS]> {
        let positions = self
            .solid
            .as_ref()
            .map_or(&[][..], |solid| &solid.skin.mesh.positions);
        let vertices = positions.par_iter().with_min_len(256);
        let anchors = vertices.map(|&x| {
            let nearest = self.nearest(x, |_| true, CARRIERS);
            std::array::from_fn(|m| nearest[m.min(nearest.len() - 1)].1)
        });
        anchors.collect()
    }

    /// Up to `count` elements nearest to `x` among those that `wanted` admits, as (squared distance,
    /// element), nearest first. At least one must be admitted.
    pub fn nearest(&self, x: DVec3, wanted: impl Fn(u32) -> bool, count: usize) -> Vec<(f64, u32)> {
        let mut found: Vec<(f64, u32)> = Vec::new();
        let mut reach = 2.5 * self.radius;
        let everything = self.bins.diameter() + x.distance(self.positions[0]);
        loop {
            found.clear();
            self.bins.each_bin(x, reach, |bin| {
                for &element in self.bins.points(bin) {
                    let squared = x.distance_squared(self.positions[element as usize]);
                    if squared <= reach * reach && wanted(element) {
                        found.push((squared, element));
                    }
                }
            });
            if !found.is_empty() || reach > everything {
                break;
            }
            reach *= 2.0;
        }
        found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.truncate(count);
        found
    }
}
