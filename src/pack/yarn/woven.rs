//! Cloth: sheets of warp along x and weft along z that pass over and under each other.
//!
//! Yarns are waves about the sheet's middle. A yarn's elements are as far from each other as they are long,
//! and the distance of the yarns is such that a whole number of them comes from one crossing of plain weave
//! to the next, so that at each crossing element lies on element.

use std::f64::consts::{FRAC_PI_2, PI, SQRT_2};

use glam::{DVec2, DVec3};

use super::laid::{FEWEST, Laid, bundle, chain, ends_covered, thickness};
use crate::pack::error::PackError;
use crate::pack::filled::Filled;
use crate::pack::request::{CLOSE, DEPTH, Wanted, refuse_too_many};
use crate::pack::solid::Solid;
use crate::spec::{Body, Weave};

/// Least distance from yarn to yarn over their radius: closer, waves of one height would meet beside the
/// crossings before they do at them, at √2 π.
const TIGHT: f64 = 4.5;
/// Halvings of an interval in which something is looked for.
const HALVINGS: usize = 40;
/// Points a side, and rounds, in which the nearest points of two yarns are looked for.
const LOOKS: (u32, usize) = (24, 6);
/// Part of the distance between crossings that slopes are taken over.
const NEAR: f64 = 1e-4;
/// Radii tried for a number of elements, at most.
const TRIES: usize = 10;

impl Weave {
    /// Crossings from one place of a yarn to the next that is the same, or the same upside down.
    fn period(self) -> u32 {
        match self {
            Weave::Plain => 1,
            Weave::Twill => 4,
        }
    }

    /// Height of a warp yarn over its height at crossings, `t` crossings on from one where it comes to lie above.
    fn wave(self, t: f64) -> f64 {
        match self {
            Weave::Plain => (PI * t).cos(),
            // Two above, two below.
            Weave::Twill => SQRT_2 * (FRAC_PI_2 * (t - 0.5)).cos(),
        }
    }

    /// Greatest of these heights.
    fn crest(self) -> f64 {
        match self {
            Weave::Plain => 1.0,
            Weave::Twill => SQRT_2,
        }
    }
}

/// Cloth of elements of one radius.
struct Cloth {
    weave: Weave,
    sites: Vec<DVec2>,
    /// Of elements and of yarns, m.
    radius: f64,
    yarn: f64,
    /// From yarn to yarn, and height of a yarn at its crossings, m.
    apart: f64,
    height: f64,
}

impl Cloth {
    /// Cloth of elements of radius 1.
    fn unit(weave: Weave, filaments: u32) -> Self {
        let sites = bundle(filaments);
        let (radius, yarn) = (1.0, thickness(&sites));
        let mut cloth = Cloth {
            weave,
            sites,
            radius,
            yarn,
            apart: 0.0,
            height: 0.0,
        };
        // From where so many elements reach to where the yarn is the same again.
        let period = f64::from(weave.period());
        let beyond = |apart: f64, elements: u32| {
            let mut cloth = Cloth {
                sites: Vec::new(),
                apart,
                ..cloth
            };
            cloth.height = cloth.touching();
            let curve = |t: f64| cloth.warp(t, 0.0);
            let end = (f64::from(elements) + 0.5) * 2.0 * radius / apart;
            let along = chain(curve, (0.0, end), 2.0 * radius, apart);
            along[(elements as usize).min(along.len() - 1)] - period
        };
        let tight = TIGHT * yarn;
        let mut elements = (period * tight / (2.0 * radius)).ceil() as u32;
        while beyond(tight, elements) < 0.0 {
            elements += 1;
        }
        let (mut low, mut high) = (tight, f64::from(elements) * 2.0 * radius / period);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if beyond(middle, elements) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        cloth.apart = high;
        cloth.height = cloth.touching();
        cloth
    }

    /// The same cloth of elements of another radius, m.
    fn scaled(&self, radius: f64) -> Self {
        Cloth {
            weave: self.weave,
            sites: self.sites.clone(),
            radius: radius * self.radius,
            yarn: radius * self.yarn,
            apart: radius * self.apart,
            height: radius * self.height,
        }
    }

    /// Point of a warp yarn, its crossings with weft at whole `t` = x over the distance of yarns.
    fn warp(&self, t: f64, shift: f64) -> DVec3 {
        let up = self.height * self.weave.wave(t - shift);
        DVec3::new(t * self.apart, up, 0.0)
    }

    /// Point of a weft yarn, its crossings with warp at whole `t` = z over the distance of yarns; it lies
    /// below where that lies above.
    fn weft(&self, t: f64, shift: f64) -> DVec3 {
        let up = -self.height * self.weave.wave(shift - t);
        DVec3::new(0.0, up, t * self.apart)
    }

    /// Height at which yarns that cross touch, m.
    fn touching(&self) -> f64 {
        let gap = |height: f64| {
            let cloth = Cloth {
                sites: Vec::new(),
                height,
                ..*self
            };
            cloth.gap()
        };
        let (mut low, mut high) = (0.0, 4.0 * self.yarn);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if gap(middle) < 2.0 * self.yarn {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Least distance of the axes of a warp and a weft yarn near where they cross, m.
    fn gap(&self) -> f64 {
        let distance = |at: DVec2| self.warp(at.x, 0.0).distance(self.weft(at.y, 0.0));
        let (looks, rounds) = LOOKS;
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
        2.0 * (self.height * self.weave.crest() + self.yarn)
    }

    /// Elements for each square metre of a sheet, about.
    fn density(&self) -> f64 {
        2.0 * self.sites.len() as f64 / (self.apart * 2.0 * self.radius)
    }
}

/// Thickness of a sheet over the radius of its elements.
#[cfg(test)]
pub(super) fn thickness_of(weave: Weave, filaments: u32) -> f64 {
    Cloth::unit(weave, filaments).thickness()
}

/// What cloth is cut out of.
pub(in crate::pack) struct Cut<'a> {
    pub solid: Solid<'a>,
    pub bounds: (DVec3, DVec3),
    /// Sheets; as many as fit where none are given.
    pub sheets: Option<u32>,
    /// Radius of a hole along y through the middle, m.
    pub hole: Option<f64>,
}

impl Cut<'_> {
    fn sheets(&self, cloth: &Cloth) -> u32 {
        let (low, high) = self.bounds;
        // A box as thick as so many sheets holds them, whatever the last digit.
        let fit = (high.y - low.y) / cloth.thickness() + 1e-9;
        self.sheets.unwrap_or(fit as u32)
    }

    /// Whether a yarn's point lies inside, as deep as its outermost elements are to lie.
    fn holds(&self, p: DVec3, cloth: &Cloth, flags: &mut Vec<bool>) -> bool {
        let depth = DEPTH * cloth.radius + (cloth.yarn - cloth.radius);
        // Where sheets are counted nothing cuts them along y.
        let y = if self.sheets.is_some() { 0.0 } else { p.y };
        self.solid.row(&[p.x], y, p.z, depth, flags);
        flags[0] && self.hole.is_none_or(|hole| p.x.hypot(p.z) >= hole + depth)
    }

    /// Lays all yarns.
    fn lay(&self, cloth: &Cloth) -> Laid {
        let (low, high) = self.bounds;
        let (centre, sheets) = ((low + high) / 2.0, self.sheets(cloth));
        let mut laid = Laid::default();
        let extent = high - low;
        // An odd number of yarns lies about the middle, so that a symmetric shape gives symmetric cloth.
        let half = |length: f64| (length / 2.0 / cloth.apart).floor() as i32;
        for sheet in 0..sheets {
            let level = f64::from(sheet) - 0.5 * f64::from(sheets - 1);
            let middle = centre + DVec3::Y * (level * cloth.thickness());
            for (count, along, is_warp) in [
                (half(extent.z), half(extent.x), true),
                (half(extent.x), half(extent.z), false),
            ] {
                // Ends start where the wave starts anew, so that elements meet at crossings.
                let period = cloth.weave.period() as i32;
                let reach = f64::from((along / period + 2) * period);
                for number in -count..=count {
                    let shift = f64::from(number);
                    let aside = if is_warp { DVec3::Z } else { DVec3::X };
                    let start = middle + aside * (shift * cloth.apart);
                    let curve = |t: f64| {
                        let p = if is_warp {
                            cloth.warp(t, shift)
                        } else {
                            cloth.weft(t, shift)
                        };
                        start + p
                    };
                    self.yarn(&mut laid, cloth, curve, reach, aside);
                }
            }
        }
        laid
    }

    /// Lays the pieces of a yarn that lie inside; `aside` is across the plane of its wave.
    fn yarn(
        &self,
        laid: &mut Laid,
        cloth: &Cloth,
        curve: impl Fn(f64) -> DVec3,
        reach: f64,
        aside: DVec3,
    ) {
        let step = 2.0 * cloth.radius;
        let along = chain(&curve, (-reach, reach), step, cloth.apart);
        let mut flags = Vec::new();
        let inside: Vec<bool> = along
            .iter()
            .map(|&t| self.holds(curve(t), cloth, &mut flags))
            .collect();
        let mut first = 0;
        for piece in inside.chunk_by(|a, b| a == b) {
            let ends = (along[first], along[first + piece.len() - 1]);
            let axis: Vec<DVec3> = along[first..first + piece.len()]
                .iter()
                .map(|&t| curve(t))
                .collect();
            first += piece.len();
            if !piece[0] || piece.len() < FEWEST {
                continue;
            }
            let filaments = cloth.sites.iter().map(|site| {
                // Parallel curves stay as far apart as they are in the section.
                let beside = |t: f64| {
                    let slope = (curve(t + NEAR) - curve(t - NEAR)).normalize_or_zero();
                    curve(t) + step * (site.x * aside + site.y * slope.cross(aside))
                };
                let along = chain(beside, ends, step, cloth.apart);
                along.into_iter().map(beside).collect::<Vec<_>>()
            });
            let filaments: Vec<Vec<DVec3>> = match cloth.sites.len() {
                1 => vec![axis.clone()],
                _ => filaments.collect(),
            };
            laid.add(filaments, &ends_covered(axis, cloth.radius), cloth.yarn);
        }
    }
}

/// Fills a shape with sheets of cloth.
pub(in crate::pack) fn fill(
    body: &Body,
    wanted: Wanted,
    cut: &Cut,
    (weave, filaments): (Weave, u32),
) -> Result<Filled, PackError> {
    let (low, high) = cut.bounds;
    let extent = high - low;
    let unit = Cloth::unit(weave, filaments);
    let at = |radius: f64| {
        let cloth = unit.scaled(radius);
        let sheets = cut.sheets(&cloth);
        let number = f64::from(sheets) * extent.x * extent.z * cloth.density();
        refuse_too_many(body, radius, number)?;
        if sheets == 0 {
            return Err(PackError::Cloth {
                body: body.name.clone(),
                radius,
                thickness: cloth.thickness(),
                height: extent.y,
            });
        }
        Ok((cut.lay(&cloth), radius))
    };
    let (laid, radius) = match wanted {
        Wanted::Radius(radius) => at(radius)?,
        Wanted::Elements(number) => {
            let volume = extent.element_product();
            // Elements of a sheet go with 1/r², sheets of a body with 1/r.
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
            let off = |laid: &Laid| (laid.centres.len() as f64 / number - 1.0).abs();
            let mut found = best.0.centres.len();
            for _ in 0..TRIES {
                if off(&best.0) <= CLOSE {
                    break;
                }
                // Half the way: sheets and yarns come and go one by one.
                radius *= (found.max(1) as f64 / number).powf(0.5 / power);
                let tried = match at(radius) {
                    Err(PackError::Cloth { .. }) => break,
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

/// A sheet's box and what it is cut to: a plate, `sheets` of cloth.
pub(in crate::pack) fn plate(size: [f64; 2], sheets: u32, hole: Option<f64>) -> Cut<'static> {
    let half = DVec3::new(size[0], f64::MAX, size[1]) / 2.0;
    let flat = DVec3::new(size[0], 0.0, size[1]) / 2.0;
    Cut {
        solid: Solid::Cuboid { half },
        bounds: (-flat, flat),
        sheets: Some(sheets),
        hole,
    }
}
