//! The data of a body that stay the same in all frames: elements and bonds at rest, the skin, and its grid.

use std::collections::BTreeMap;

use glam::DVec3;

use super::bins::ElementBins;
use super::reach::{ElementReach, ElementsAtRest, MAX_CANDIDATES};
use super::skin_grid::SkinGrid;
use crate::columns::{Bonds, Elements, Faces};
use crate::geometry::TriMesh;
use crate::reconstruct::cells::complex::CellComplex;
use crate::reconstruct::error::ReconstructError;
use crate::reconstruct::surface::rigged::MAX_INFLUENCES;
use crate::reconstruct::world::WorldReconstruction;
use crate::spec::{self, ReconstructMode};

/// Edge of the bins of elements, mean radii.
const BIN_EDGE: f64 = 2.0;
/// Maximum length of the skin's edges, mean radii: the distance between touching elements.
const MAX_SKIN_EDGE: f64 = 2.0;

/// A body at rest.
#[derive(Debug)]
pub struct RestBody {
    /// Index of the `[[body]]`.
    pub index: u32,
    /// Row of each element in the packing, ascending.
    pub rows: Vec<u32>,
    /// Rest position of each element, m.
    pub positions: Vec<DVec3>,
    /// Mean radius of the elements, m.
    pub radius: f64,
    /// Bonds within the body.
    pub bonds: Vec<RestBond>,
    /// Elements sorted into bins.
    pub bins: ElementBins,
    /// The elements nearest to each vertex of the skin through the solid, nearest first.
    pub nearest_elements: Vec<[u32; MAX_INFLUENCES]>,
    /// Which elements lie across a gap; `None` if all elements near a point are connected with it through
    /// the solid.
    pub reach: Option<ElementReach>,
    /// The skin and its grid; `None` for loose elements, which are drawn as balls, and in the world mode.
    pub skin_grid: Option<SkinGrid>,
    /// Set in world mode.
    pub world: Option<WorldReconstruction>,
    /// Set in cells mode.
    pub cells: Option<CellComplex>,
}

/// A bond at rest. Its ends are indices of elements within the body.
#[derive(Clone, Copy, Debug)]
pub struct RestBond {
    /// One end.
    pub i: u32,
    /// The other end.
    pub j: u32,
    /// Half of the rest vector from `i` to `j`, m.
    pub half: DVec3,
    /// Row of the bond in the packing.
    pub row: u32,
}

impl RestBody {
    /// Collects the elements of every body. No body is drawn as cells.
    ///
    /// # Errors
    /// Same as [`with_cells`](Self::with_cells).
    pub fn all(
        elements: &Elements,
        bonds: &Bonds,
        params: &spec::Reconstruct,
        skin: impl FnMut(u32) -> Result<Option<TriMesh>, ReconstructError>,
    ) -> Result<Vec<Self>, ReconstructError> {
        Self::with_cells((elements, bonds, None), params, skin)
    }

    /// Collects the elements of every body. `faces` are the faces of cells, if cells are to be drawn. `skin`
    /// returns the skin of a body that has bonds; a body without skin is drawn in world mode.
    ///
    /// # Errors
    /// Fails if a skin cannot be used, if the faces of a cell do not close it, or if the grid would have too
    /// many cells.
    pub fn with_cells(
        (elements, bonds, faces): (&Elements, &Bonds, Option<&Faces>),
        params: &spec::Reconstruct,
        mut skin: impl FnMut(u32) -> Result<Option<TriMesh>, ReconstructError>,
    ) -> Result<Vec<Self>, ReconstructError> {
        // The numbers of bodies come from the program that packed them, and can be arbitrary.
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
            // A bond between two bodies has no crack face: it connects two skins.
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
                    let complex = CellComplex::new(number, faces, &rows, &positions, &radii)?;
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
                Some(WorldReconstruction::new(
                    number,
                    radii.collect(),
                    bonds.len(),
                    params.voxel,
                )?)
            } else {
                None
            };
            let skin_grid = match skin {
                None => None,
                Some(skin) => {
                    let (spacing, longest) = (params.voxel * radius, MAX_SKIN_EDGE * radius);
                    let mut skin_grid = SkinGrid::new(number, skin, spacing, longest)?;
                    skin_grid.roughness = params.roughness * radius;
                    skin_grid.simplify = params.simplify * radius;
                    Some(skin_grid)
                }
            };
            let mut body = RestBody {
                index: number,
                bins: ElementBins::new(&positions, BIN_EDGE * radius),
                rows,
                positions,
                radius,
                bonds,
                nearest_elements: Vec::new(),
                reach: None,
                skin_grid,
                world,
                cells,
            };
            body.find_nearest_elements();
            bodies.push(body);
        }
        Ok(bodies)
    }

    fn elements_at_rest(&self) -> ElementsAtRest<'_> {
        ElementsAtRest {
            positions: &self.positions,
            bins: &self.bins,
            radius: self.radius,
        }
    }

    /// Fills in `nearest_elements` and `reach`.
    fn find_nearest_elements(&mut self) {
        let Some(skin_grid) = &self.skin_grid else {
            return;
        };
        let pairs = self.bonds.iter().map(|bond| [bond.i, bond.j]);
        let elements = self.elements_at_rest();
        (self.nearest_elements, self.reach) = ElementReach::new(elements, &skin_grid.skin, pairs);
    }

    /// As [`nearest`](Self::nearest), but no element across a gap, unless there are none but those.
    pub fn nearest_on_own_side(
        &self,
        x: DVec3,
        wanted: impl Fn(u32) -> bool,
        count: usize,
    ) -> Vec<(f64, u32)> {
        let mut found = self.nearest(x, &wanted, MAX_CANDIDATES);
        if self.keep_own_side(x, &mut found).is_some() {
            found.retain(|&(_, element)| wanted(element));
            if found.is_empty() {
                found = self.nearest(x, wanted, count);
            }
        }
        found.truncate(count);
        found
    }

    /// Removes the elements across a gap from `found`, the elements near `x` as (squared distance, element),
    /// nearest first. If no other is left, those near the foot of `x` replace them, which is returned (m). See
    /// [`super::reach`].
    pub fn keep_own_side(&self, x: DVec3, found: &mut Vec<(f64, u32)>) -> Option<DVec3> {
        let (reach, skin_grid) = (self.reach.as_ref()?, self.skin_grid.as_ref()?);
        if !reach.is_near_gap(&self.bins, x) {
            return None;
        }
        let elements = self.elements_at_rest();
        let mesh = &skin_grid.skin.mesh;
        reach.keep_own_side(elements, mesh, &self.nearest_elements, x, found)
    }

    /// Replaces `found`, the elements near a foot (m), by the nearest ones that `is_wide` accepts, if there are
    /// any within reach. See [`super::reach`].
    pub fn find_wide(
        &self,
        foot: DVec3,
        is_wide: impl Fn(u32) -> bool,
        found: &mut Vec<(f64, u32)>,
    ) {
        if let Some(reach) = &self.reach {
            reach.find_wide(&self.positions, foot, is_wide, found);
        }
    }

    /// The point whose elements a vertex of the skin (if it is one) or of a crack at `x` moves with: its root
    /// or foot, or itself.
    pub fn root_of(&self, x: DVec3, vertex: Option<u32>) -> DVec3 {
        let (Some(reach), Some(skin_grid)) = (&self.reach, &self.skin_grid) else {
            return x;
        };
        match vertex {
            Some(vertex) => skin_grid.skin.mesh.positions[reach.root(vertex) as usize],
            None if reach.is_near_gap(&self.bins, x) => {
                let mut found = self.nearest(x, |_| true, MAX_CANDIDATES);
                self.keep_own_side(x, &mut found).unwrap_or(x)
            }
            None => x,
        }
    }

    /// Up to `count` elements nearest to `x` among those for which `wanted` is true, as (squared distance,
    /// element), nearest first. At least one element must be wanted.
    pub fn nearest(&self, x: DVec3, wanted: impl Fn(u32) -> bool, count: usize) -> Vec<(f64, u32)> {
        let mut found = Vec::new();
        self.elements_at_rest().nearest(x, wanted, &mut found);
        found.truncate(count);
        found
    }
}
