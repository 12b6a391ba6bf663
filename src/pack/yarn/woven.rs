//! Cloth: sheets of warp along x and weft along z that pass over and under each other.
//!
//! Yarns are waves about the middle of the sheet. Adjacent elements of a yarn touch, and the yarns are spaced
//! such that a whole number of elements lies between two crossings of plain weave, so that at each crossing
//! one element lies on another.

use std::f64::consts::{FRAC_PI_2, PI, SQRT_2};

use glam::{DVec2, DVec3};

use super::laid::{
    LaidYarns, MIN_FILAMENT_ELEMENTS, bundle_radius, bundle_sites, spaced_parameters,
    with_covered_ends,
};
use crate::pack::error::PackError;
use crate::pack::filled::FilledShape;
use crate::pack::request::{CENTRE_DEPTH, COUNT_TOLERANCE, SizeRequest, refuse_too_many};
use crate::pack::solid::FillRegion;
use crate::spec::{Body, Weave};

/// Least distance between yarns over their radius. Below √2 π, yarns would touch near the crossings rather
/// than at them.
const MIN_YARN_SPACING: f64 = 4.5;
/// Number of bisections of a search interval.
const BISECTIONS: usize = 40;
/// Points per side of the search grid, and rounds of refinement, to find the nearest points of two yarns.
const SEARCH_GRID: (u32, usize) = (24, 6);
/// Step of the finite difference for slopes, over the distance between crossings.
const SLOPE_STEP: f64 = 1e-4;
/// Largest number of radii tried to reach a number of elements.
const MAX_TRIES: usize = 10;

impl Weave {
    /// Number of crossings after which a yarn repeats itself, possibly upside down.
    fn period(self) -> u32 {
        match self {
            Weave::Plain => 1,
            Weave::Twill => 4,
        }
    }

    /// Height of a warp yarn over its height at crossings, `t` crossings after the first at which it lies
    /// above.
    fn wave(self, t: f64) -> f64 {
        match self {
            Weave::Plain => (PI * t).cos(),
            // Above two crossings, then below two.
            Weave::Twill => SQRT_2 * (FRAC_PI_2 * (t - 0.5)).cos(),
        }
    }

    /// Largest value of `wave`.
    fn crest(self) -> f64 {
        match self {
            Weave::Plain => 1.0,
            Weave::Twill => SQRT_2,
        }
    }
}

/// Geometry of cloth with equal elements.
struct Cloth {
    weave: Weave,
    sites: Vec<DVec2>,
    /// Radius of elements and of yarns, m.
    radius: f64,
    yarn_radius: f64,
    /// Distance between yarns, and height of a yarn at its crossings, m.
    yarn_spacing: f64,
    height: f64,
}

impl Cloth {
    /// Cloth of elements of radius 1.
    fn unit(weave: Weave, filaments: u32) -> Self {
        let sites = bundle_sites(filaments);
        let (radius, yarn_radius) = (1.0, bundle_radius(&sites));
        let mut cloth = Cloth {
            weave,
            sites,
            radius,
            yarn_radius,
            yarn_spacing: 0.0,
            height: 0.0,
        };
        // Difference, in crossings, between the length of `elements` elements and the period of the yarn.
        let period = f64::from(weave.period());
        let beyond = |yarn_spacing: f64, elements: u32| {
            let mut cloth = Cloth {
                sites: Vec::new(),
                yarn_spacing,
                ..cloth
            };
            cloth.height = cloth.touching_height();
            let curve = |t: f64| cloth.warp(t, 0.0);
            let end = (f64::from(elements) + 0.5) * 2.0 * radius / yarn_spacing;
            let along = spaced_parameters(curve, (0.0, end), 2.0 * radius, yarn_spacing);
            along[(elements as usize).min(along.len() - 1)] - period
        };
        let tight = MIN_YARN_SPACING * yarn_radius;
        let mut elements = (period * tight / (2.0 * radius)).ceil() as u32;
        while beyond(tight, elements) < 0.0 {
            elements += 1;
        }
        let (mut low, mut high) = (tight, f64::from(elements) * 2.0 * radius / period);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if beyond(middle, elements) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        cloth.yarn_spacing = high;
        cloth.height = cloth.touching_height();
        cloth
    }

    /// The same cloth scaled by `radius`.
    fn scaled(&self, radius: f64) -> Self {
        Cloth {
            weave: self.weave,
            sites: self.sites.clone(),
            radius: radius * self.radius,
            yarn_radius: radius * self.yarn_radius,
            yarn_spacing: radius * self.yarn_spacing,
            height: radius * self.height,
        }
    }

    /// Point of a warp yarn at `t` = x over the distance of yarns; crossings with weft are at integer `t`.
    fn warp(&self, t: f64, shift: f64) -> DVec3 {
        let up = self.height * self.weave.wave(t - shift);
        DVec3::new(t * self.yarn_spacing, up, 0.0)
    }

    /// Point of a weft yarn at `t` = z over the distance of yarns; crossings with warp are at integer `t`. It
    /// lies below where the warp lies above.
    fn weft(&self, t: f64, shift: f64) -> DVec3 {
        let up = -self.height * self.weave.wave(shift - t);
        DVec3::new(0.0, up, t * self.yarn_spacing)
    }

    /// Height at which crossing yarns touch, m.
    fn touching_height(&self) -> f64 {
        let gap = |height: f64| {
            let cloth = Cloth {
                sites: Vec::new(),
                height,
                ..*self
            };
            cloth.gap()
        };
        let (mut low, mut high) = (0.0, 4.0 * self.yarn_radius);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if gap(middle) < 2.0 * self.yarn_radius {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Smallest distance between the axes of a warp and a weft yarn near their crossing, m.
    fn gap(&self) -> f64 {
        let distance = |at: DVec2| self.warp(at.x, 0.0).distance(self.weft(at.y, 0.0));
        let (looks, rounds) = SEARCH_GRID;
        let (mut middle, mut reach) = (DVec2::ZERO, 0.5);
        for _ in 0..rounds {
            let step = 2.0 * reach / f64::from(looks);
            let points = (0..=looks)
                .flat_map(|i| (0..=looks).map(move |k| DVec2::new(i.into(), k.into())))
                .map(|at| middle - reach + step * at);
            middle = points
                .min_by(|a, b| distance(*a).total_cmp(&distance(*b)))
                .unwrap_or(middle);
            reach = 2.0 * step;
        }
        distance(middle)
    }

    /// Thickness of a sheet, m.
    fn thickness(&self) -> f64 {
        2.0 * (self.height * self.weave.crest() + self.yarn_radius)
    }

    /// Approximate number of elements per square metre of a sheet.
    fn density(&self) -> f64 {
        2.0 * self.sites.len() as f64 / (self.yarn_spacing * 2.0 * self.radius)
    }
}

/// Thickness of a sheet over the radius of its elements.
#[cfg(test)]
pub(super) fn thickness_of(weave: Weave, filaments: u32) -> f64 {
    Cloth::unit(weave, filaments).thickness()
}

/// The region to which cloth is cut.
pub(in crate::pack) struct ClothCut<'a> {
    pub region: FillRegion<'a>,
    pub bounds: (DVec3, DVec3),
    /// Number of sheets; `None`: as many as fit.
    pub sheets: Option<u32>,
    /// Radius of a hole along y through the middle, m.
    pub hole: Option<f64>,
}

impl ClothCut<'_> {
    fn sheets(&self, cloth: &Cloth) -> u32 {
        let (low, high) = self.bounds;
        // Tolerance for rounding: a box exactly as thick as n sheets contains n.
        let fit = (high.y - low.y) / cloth.thickness() + 1e-9;
        self.sheets.unwrap_or(fit as u32)
    }

    /// Whether a point of a yarn lies inside, at the depth required for its outermost elements.
    fn contains(&self, p: DVec3, cloth: &Cloth, flags: &mut Vec<bool>) -> bool {
        let depth = CENTRE_DEPTH * cloth.radius + (cloth.yarn_radius - cloth.radius);
        // With a given number of sheets nothing is cut along y.
        let y = if self.sheets.is_some() { 0.0 } else { p.y };
        self.region.row(&[p.x], y, p.z, depth, flags);
        flags[0] && self.hole.is_none_or(|hole| p.x.hypot(p.z) >= hole + depth)
    }

    /// Lays all yarns.
    fn lay(&self, cloth: &Cloth) -> LaidYarns {
        let (low, high) = self.bounds;
        let (centre, sheets) = ((low + high) / 2.0, self.sheets(cloth));
        let mut laid = LaidYarns::default();
        let extent = high - low;
        // The number of yarns is odd and centred, so that a symmetric shape gives symmetric cloth.
        let half = |length: f64| (length / 2.0 / cloth.yarn_spacing).floor() as i32;
        for sheet in 0..sheets {
            let level = f64::from(sheet) - 0.5 * f64::from(sheets - 1);
            let middle = centre + DVec3::Y * (level * cloth.thickness());
            for (count, along, is_warp) in [
                (half(extent.z), half(extent.x), true),
                (half(extent.x), half(extent.z), false),
            ] {
                // Yarns start at a multiple of the period, so that elements meet at crossings.
                let period = cloth.weave.period() as i32;
                let reach = f64::from((along / period + 2) * period);
                for number in -count..=count {
                    let shift = f64::from(number);
                    let aside = if is_warp { DVec3::Z } else { DVec3::X };
                    let start = middle + aside * (shift * cloth.yarn_spacing);
                    let curve = |t: f64| {
                        let p = if is_warp {
                            cloth.warp(t, shift)
                        } else {
                            cloth.weft(t, shift)
                        };
                        start + p
                    };
                    self.lay_yarn(&mut laid, cloth, curve, reach, aside);
                }
            }
        }
        laid
    }

    /// Lays the pieces of a yarn that lie inside; `aside` is the unit normal of the plane of its wave.
    fn lay_yarn(
        &self,
        laid: &mut LaidYarns,
        cloth: &Cloth,
        curve: impl Fn(f64) -> DVec3,
        reach: f64,
        aside: DVec3,
    ) {
        let step = 2.0 * cloth.radius;
        let along = spaced_parameters(&curve, (-reach, reach), step, cloth.yarn_spacing);
        let mut flags = Vec::new();
        let inside: Vec<bool> = along
            .iter()
            .map(|&t| self.contains(curve(t), cloth, &mut flags))
            .collect();
        let mut first = 0;
        for piece in inside.chunk_by(|a, b| a == b) {
            let ends = (along[first], along[first + piece.len() - 1]);
            let axis: Vec<DVec3> = along[first..first + piece.len()]
                .iter()
                .map(|&t| curve(t))
                .collect();
            first += piece.len();
            if !piece[0] || piece.len() < MIN_FILAMENT_ELEMENTS {
                continue;
            }
            let filaments = cloth.sites.iter().map(|site| {
                // Parallel curves, whose distance is the same in every section.
                let filament = |t: f64| {
                    let slope = (curve(t + SLOPE_STEP) - curve(t - SLOPE_STEP)).normalize_or_zero();
                    curve(t) + step * (site.x * aside + site.y * slope.cross(aside))
                };
                let along = spaced_parameters(filament, ends, step, cloth.yarn_spacing);
                along.into_iter().map(filament).collect::<Vec<_>>()
            });
            let filaments: Vec<Vec<DVec3>> = match cloth.sites.len() {
                1 => vec![axis.clone()],
                _ => filaments.collect(),
            };
            laid.add(
                filaments,
                &with_covered_ends(axis, cloth.radius),
                cloth.yarn_radius,
            );
        }
    }
}

/// Fills a shape with sheets of cloth.
pub(in crate::pack) fn fill(
    body: &Body,
    request: SizeRequest,
    cut: &ClothCut,
    (weave, filaments): (Weave, u32),
) -> Result<FilledShape, PackError> {
    let (low, high) = cut.bounds;
    let extent = high - low;
    let unit = Cloth::unit(weave, filaments);
    let at = |radius: f64| {
        let cloth = unit.scaled(radius);
        let sheets = cut.sheets(&cloth);
        let number = f64::from(sheets) * extent.x * extent.z * cloth.density();
        refuse_too_many(body, radius, number)?;
        if sheets == 0 {
            return Err(PackError::ThinnerThanCloth {
                body: body.name.clone(),
                radius,
                thickness: cloth.thickness(),
                height: extent.y,
            });
        }
        Ok((cut.lay(&cloth), radius))
    };
    let (laid, radius) = match request {
        SizeRequest::Radius(radius) => at(radius)?,
        SizeRequest::Elements(number) => {
            let volume = extent.element_product();
            // The number of elements in a sheet is proportional to 1/r², the number of sheets to 1/r.
            let (all, power) = match cut.sheets {
                Some(sheets) => (f64::from(sheets) * extent.x * extent.z, 2.0_f64),
                None => (volume / unit.thickness(), 3.0),
            };
            let mut radius = (all * unit.density() / number).powf(1.0 / power);
            if cut.sheets.is_none() {
                // At least one sheet.
                radius = radius.min(extent.y / unit.thickness());
            }
            let mut best = at(radius)?;
            let off = |laid: &LaidYarns| (laid.centres.len() as f64 / number - 1.0).abs();
            let mut found = best.0.centres.len();
            for _ in 0..MAX_TRIES {
                if off(&best.0) <= COUNT_TOLERANCE {
                    break;
                }
                // Half of the correction, since sheets and yarns change in whole numbers.
                radius *= (found.max(1) as f64 / number).powf(0.5 / power);
                let tried = match at(radius) {
                    Err(PackError::ThinnerThanCloth { .. }) => break,
                    tried => tried?,
                };
                found = tried.0.centres.len();
                if off(&tried.0) < off(&best.0) {
                    best = tried;
                }
            }
            best
        }
    };
    if laid.centres.is_empty() {
        return Err(PackError::RadiusTooLarge {
            body: body.name.clone(),
            radius,
            extent,
        });
    }
    Ok(laid.filled(radius, 1.0))
}

/// The region of a plate of `sheets` sheets of cloth, with a hole of radius `hole` (m).
pub(in crate::pack) fn plate(size: [f64; 2], sheets: u32, hole: Option<f64>) -> ClothCut<'static> {
    let half = DVec3::new(size[0], f64::MAX, size[1]) / 2.0;
    let flat = DVec3::new(size[0], 0.0, size[1]) / 2.0;
    ClothCut {
        region: FillRegion::Cuboid { half },
        bounds: (-flat, flat),
        sheets: Some(sheets),
        hole,
    }
}
