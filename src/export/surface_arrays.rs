//! Arrays of a surface that stays the same for some frames: those at rest, and samples in each frame.

use std::collections::BTreeMap;
use std::io;

use glam::{DVec3, Vec3};

use crate::export::birth::Birth;
use crate::export::epochs::EpochRecorder;
use crate::export::job::ExportJob;
use crate::export::layer::{Array, ArraySpool, Digits, Encoding, StoredArray};
use crate::export::materials::{FaceMaterial, faces_by_material};
use crate::export::names::{distinct, identifier};
use crate::export::rest_arrays::{RestArrays, StoredShape};
use crate::export::rigid_state::RigidState;
use crate::export::rigid_transform::RIGID_TOLERANCE;
use crate::export::space::bounds;
use crate::export::text::nearest;
use crate::store::corner_normals::Fans;
use crate::store::{FragmentRange, SurfaceFrame};

/// Time samples of an attribute: time, in frames, and value.
pub type TimeSamples = Vec<(f64, StoredArray)>;

/// Arrays of an epoch: constant attributes and time samples.
pub struct SurfaceArrays {
    /// Constant attributes.
    pub at_rest: RestArrays,
    fans: Fans,
    pub points: TimeSamples,
    pub normals: TimeSamples,
    pub velocities: TimeSamples,
    pub accelerations: TimeSamples,
    /// Whether an acceleration is not 0.
    pub is_accelerated: bool,
    pub stress: TimeSamples,
    pub extents: TimeSamples,
    shown: Shown,
    /// The last two frames, or fewer: an acceleration needs the points of three frames.
    recent: Vec<RecentFrame>,
}

impl SurfaceArrays {
    /// Whether the normals are those at rest in all frames.
    pub fn has_constant_normals(&self) -> bool {
        let at_rest = self.at_rest.shape.normals;
        self.normals.iter().all(|(_, normals)| *normals == at_rest)
    }
}

/// The shape in the last sample of the points, which the next ones share while nothing visible changes.
struct Shown {
    points: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    stored: StoredShape,
}

/// A frame of an epoch. Its velocities and accelerations are stored when the next frame is known.
struct RecentFrame {
    frame: f64,
    points: Vec<[f32; 3]>,
    /// Velocities, units of the file per played second.
    velocities: Vec<[f32; 3]>,
    /// Whether it shares the points of the frame before; `None` in the first frame.
    is_still: Option<bool>,
    /// Its points as stored.
    stored: StoredArray,
    /// Time at which the shutter closes, and the points then.
    closing: Option<(f64, Vec<[f32; 3]>)>,
}

/// Records the arrays of epochs.
pub struct ArrayRecorder {
    /// Keeps the arrays.
    pub spool: ArraySpool,
    /// Seconds of the event per played second.
    pub time_scale: f64,
    /// Frames per second of the event.
    pub fps: f64,
    /// Times at which the shutter opens and closes, in frames relative to each frame: fragments that bend
    /// have points at those times too.
    pub shutter: Option<[f64; 2]>,
    /// Largest stress in the frames so far, Pa, and the last of these frames.
    pub largest_stress: (f32, Option<u32>),
    /// Materials used so far, with identifiers for names.
    pub materials: BTreeMap<FaceMaterial, String>,
}

impl EpochRecorder for ArrayRecorder {
    type Record = SurfaceArrays;

    fn begin(
        &mut self,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        centre: DVec3,
    ) -> io::Result<SurfaceArrays> {
        let by_material = faces_by_material(surface, piece);
        let named = by_material.iter();
        let named: Vec<_> = named
            .map(|(material, faces)| (self.name_of(material), faces))
            .collect();
        let rest = &surface.rest_positions[surface.vertex_range(piece)];
        let about = |p: &[f32; 3]| (DVec3::from(p.map(f64::from)) - centre).as_vec3();
        let points: Vec<[f32; 3]> = rest.iter().map(|p| about(p).to_array()).collect();
        let fans = Fans::of(surface, piece);
        let normals = fans.normals(&points);
        let spool = &mut self.spool;
        let at_rest = RestArrays::new((surface, piece), (&points, &fans, &normals), named, spool)?;
        Ok(SurfaceArrays {
            shown: Shown {
                points,
                normals,
                stored: at_rest.shape,
            },
            at_rest,
            fans,
            points: TimeSamples::new(),
            normals: TimeSamples::new(),
            velocities: TimeSamples::new(),
            accelerations: TimeSamples::new(),
            is_accelerated: false,
            stress: TimeSamples::new(),
            extents: TimeSamples::new(),
            recent: Vec::new(),
        })
    }

    fn add_birth(
        &mut self,
        arrays: &mut SurfaceArrays,
        birth: &Birth,
        positions: &[[f32; 3]],
    ) -> io::Result<()> {
        let points = birth.half_way(positions);
        let extent = <[_; 2]>::from(bounds(&points));
        for (samples, values) in [
            (&mut arrays.points, &points[..]),
            (&mut arrays.extents, &extent),
        ] {
            let values = Array::vectors(values);
            samples.push((birth.time(), self.spool.store(&values)?));
        }
        Ok(())
    }

    fn add_frame(
        &mut self,
        arrays: &mut SurfaceArrays,
        surface: &SurfaceFrame,
        piece: &FragmentRange,
        state: &RigidState,
    ) -> io::Result<()> {
        let (frame, vertices) = (f64::from(surface.frame), surface.vertex_range(piece));
        let positions = &surface.positions[vertices.clone()];
        let velocities = &surface.velocities[vertices.clone()];
        let now: Vec<[f32; 3]> = positions
            .iter()
            .map(|p| state.body_position(*p).as_vec3().to_array())
            .collect();
        let moving: Vec<DVec3> = positions
            .iter()
            .zip(velocities)
            .map(|(p, v)| state.relative_velocity(*p, *v))
            .collect();
        let played = |velocity: &DVec3| (*velocity * self.time_scale).as_vec3().to_array();
        let velocities: Vec<[f32; 3]> = moving.iter().map(played).collect();
        let is_still = self.show(arrays, &now)?;
        let is_first = arrays.recent.is_empty();
        let recent = RecentFrame {
            frame,
            velocities,
            is_still: (!is_first).then_some(is_still),
            stored: arrays.shown.stored.points,
            closing: self
                .shutter
                .map(|[_, close]| (frame + close, self.ahead(&now, &moving, close))),
            points: now,
        };
        self.settle(arrays, &recent)?;
        let shape = arrays.shown.stored;
        let opening = self
            .shutter
            .map(|[open, _]| (frame + open, self.ahead(&recent.points, &moving, open)));
        // The shape just before the first frame may be that of its birth, which bends.
        let is_opening_still = is_still && (!is_first || arrays.points.is_empty());
        self.add_shutter(arrays, opening, is_opening_still.then_some(shape.points))?;
        arrays.points.push((frame, shape.points));
        arrays.normals.push((frame, shape.normals));
        arrays.extents.push((frame, shape.extent));
        let digits = self.stress_digits(surface);
        let stress = Array::Floats(&surface.stress[vertices], digits);
        arrays.stress.push((frame, self.spool.store(&stress)?));
        arrays.recent.push(recent);
        Ok(())
    }

    fn end(&mut self, arrays: &mut SurfaceArrays) -> io::Result<()> {
        let last = std::mem::take(&mut arrays.recent).pop();
        // Only files that are still open need these.
        arrays.fans = Fans::default();
        (arrays.shown.points, arrays.shown.normals) = (Vec::new(), Vec::new());
        let Some(last) = last else {
            return Ok(());
        };
        let still = vec![[0.0; 3]; last.points.len()];
        let is_still = last.is_still == Some(true);
        let velocities = if is_still { &still } else { &last.velocities };
        self.add_rates(arrays, last.frame, velocities, &still)?;
        self.add_shutter(arrays, last.closing, is_still.then_some(last.stored))
    }
}

/// Materials that every file has.
const STANDARD: [FaceMaterial; 2] = [FaceMaterial::Outside, FaceMaterial::Inside];

impl ArrayRecorder {
    /// A recorder with a spool next to the target of a job.
    pub fn new(job: &ExportJob, encoding: Encoding) -> io::Result<Self> {
        let materials = STANDARD.map(|material| (material.clone(), material.name()));
        Ok(ArrayRecorder {
            spool: ArraySpool::next_to(&job.target, encoding)?,
            time_scale: job.time_scale(),
            fps: job.fps,
            shutter: job.shutter,
            largest_stress: (0.0, None),
            materials: materials.into(),
        })
    }

    /// Name of a material, an identifier.
    fn name_of(&mut self, material: &FaceMaterial) -> String {
        if let Some(known) = self.materials.get(material) {
            return known.clone();
        }
        let number = self.materials.len();
        let plain = identifier(&material.name(), &format!("material_{number}"));
        let name = distinct(plain, |name| {
            self.materials.values().any(|taken| taken == name)
        });
        self.materials.insert(material.clone(), name.clone());
        name
    }

    /// Stores the points of a frame, unless those shown are as good; returns whether they are.
    fn show(&mut self, arrays: &mut SurfaceArrays, now: &[[f32; 3]]) -> io::Result<bool> {
        let [low, high] = arrays.at_rest.bounds.map(Vec3::from);
        let allowed = RIGID_TOLERANCE as f32 * (high - low).length();
        let shown = &mut arrays.shown;
        if is_within(&shown.points, now, allowed) {
            return Ok(true);
        }
        let normals = arrays.fans.normals(now);
        if !is_within(&shown.normals, &normals, NORMAL_TOLERANCE) {
            let stored = Array::Vec3f(&normals, Digits::Unit);
            shown.stored.normals = self.spool.store(&stored)?;
            shown.normals = normals;
        }
        let extent = <[_; 2]>::from(bounds(now));
        shown.stored.extent = self.spool.store(&Array::vectors(&extent))?;
        shown.stored.points = self.spool.store(&Array::vectors(now))?;
        shown.points.copy_from_slice(now);
        Ok(false)
    }

    /// Adds velocities, accelerations and the points at the close of the shutter of the frame before `now`.
    /// Velocities and accelerations are 0 if that frame shares its points with both neighbours: it then bends less
    /// than can be seen.
    ///
    /// Accelerations are second differences of points, because differences of velocities would be noise where waves are
    /// faster than frames. They are 0 in the first and in the last frame of an epoch.
    fn settle(&mut self, arrays: &mut SurfaceArrays, now: &RecentFrame) -> io::Result<()> {
        let Some(mut last) = arrays.recent.pop() else {
            return Ok(());
        };
        let still = vec![[0.0; 3]; now.points.len()];
        let before = arrays.recent.pop();
        if last.is_still.unwrap_or(true) && now.is_still == Some(true) {
            self.add_rates(arrays, last.frame, &still, &still)?;
        } else {
            let played = self.time_scale * self.fps / (now.frame - last.frame);
            let accelerations = match before {
                Some(before) if last.frame - before.frame == now.frame - last.frame => {
                    let all = before.points.iter().zip(&last.points).zip(&now.points);
                    all.map(|((a, b), c)| second_difference(*a, *b, *c, played))
                        .collect()
                }
                _ => still,
            };
            self.add_rates(arrays, last.frame, &last.velocities, &accelerations)?;
        }
        let shared = (now.is_still == Some(true)).then_some(last.stored);
        self.add_shutter(arrays, last.closing.take(), shared)?;
        arrays.recent.push(last);
        Ok(())
    }

    /// Points some frames after those of a frame, by their velocities.
    fn ahead(&self, points: &[[f32; 3]], moving: &[DVec3], frames: f64) -> Vec<[f32; 3]> {
        let seconds = frames / self.fps;
        let moved = points.iter().zip(moving).map(|(p, v)| {
            let ahead = (*v * seconds).as_vec3();
            (Vec3::from(*p) + ahead).to_array()
        });
        moved.collect()
    }

    /// Adds points at the open or close of a shutter, unless there is a sample at that time or later; the shared
    /// ones if nothing visible changes until then.
    fn add_shutter(
        &mut self,
        arrays: &mut SurfaceArrays,
        sample: Option<(f64, Vec<[f32; 3]>)>,
        shared: Option<StoredArray>,
    ) -> io::Result<()> {
        let Some((time, points)) = sample else {
            return Ok(());
        };
        if arrays.points.last().is_some_and(|(last, _)| *last >= time) {
            return Ok(());
        }
        let points = match shared {
            Some(shared) => shared,
            None => self.spool.store(&Array::vectors(&points))?,
        };
        arrays.points.push((time, points));
        Ok(())
    }

    /// Adds the velocities and accelerations of a frame.
    fn add_rates(
        &mut self,
        arrays: &mut SurfaceArrays,
        frame: f64,
        velocities: &[[f32; 3]],
        accelerations: &[[f32; 3]],
    ) -> io::Result<()> {
        for (order, values) in [(1, velocities), (2, accelerations)] {
            let step = self.rounding_step(arrays, order);
            let digits = Digits::MultiplesOf(step);
            if order == 2 {
                let mut numbers = values.as_flattened().iter();
                arrays.is_accelerated |= numbers.any(|a| nearest((*a).into(), step) != 0.0);
            }
            let stored = self.spool.store(&Array::Vec3f(values, digits))?;
            let samples = match order {
                1 => &mut arrays.velocities,
                _ => &mut arrays.accelerations,
            };
            samples.push((frame, stored));
        }
        Ok(())
    }

    /// Digits of stresses: down to a thousandth of the largest in the frames so far, less than a colour map can show.
    fn stress_digits(&mut self, surface: &SurfaceFrame) -> Digits {
        let (largest, frame) = &mut self.largest_stress;
        if *frame != Some(surface.frame) {
            let finite = surface.stress.iter().filter(|stress| stress.is_finite());
            *largest = finite.fold(*largest, |most, stress| most.max(stress.abs()));
            *frame = Some(surface.frame);
        }
        Digits::MultiplesOf(power_of_ten(1e-3 * f64::from(*largest)))
    }

    /// The power of ten to whose multiples velocities (order 1) or accelerations (order 2) are rounded: it
    /// moves a point by less than [`ROUNDING_TOLERANCE`] of the fragment's size in half a frame.
    fn rounding_step(&self, arrays: &SurfaceArrays, order: i32) -> f64 {
        let [low, high] = arrays.at_rest.bounds.map(Vec3::from);
        let half = 0.5 / (self.time_scale * self.fps);
        let most = ROUNDING_TOLERANCE * f64::from((high - low).length()) * f64::from(order)
            / half.powi(order);
        power_of_ten(most)
    }
}

/// The largest power of ten that is not above a number.
fn power_of_ten(number: f64) -> f64 {
    10f64.powi(number.max(f64::MIN_POSITIVE).log10().floor() as i32)
}

/// Largest error of a point by rounded velocities and accelerations, over the fragment's size: a fiftieth of
/// a pixel of a fragment that fills a picture.
const ROUNDING_TOLERANCE: f64 = 2e-5;

/// Largest distance between unit normals that are shown and those of a frame, about half a degree.
const NORMAL_TOLERANCE: f32 = 0.01;

/// Whether no vector is farther than `allowed` from its counterpart.
fn is_within(a: &[[f32; 3]], b: &[[f32; 3]], allowed: f32) -> bool {
    let mut pairs = a.iter().zip(b);
    pairs.all(|(a, b)| Vec3::from(*a).distance_squared(Vec3::from(*b)) <= allowed * allowed)
}

/// Second time derivative of a point from its positions at three equidistant times, `rate` of them per played
/// second.
fn second_difference(a: [f32; 3], b: [f32; 3], c: [f32; 3], rate: f64) -> [f32; 3] {
    let double = |p: [f32; 3]| DVec3::from(p.map(f64::from));
    let bent = double(a) + double(c) - 2.0 * double(b);
    (bent * (rate * rate)).as_vec3().to_array()
}
