//! Bars that are pulled apart slowly until they break.

use cullet::pack;
use cullet::simulate::{Method, Snapshot, method, schedule};
use cullet::spec::{self, Backend, Pipeline};
use cullet::store::Packing;
use glam::DVec3;

/// Width and height, m.
const WIDTH: f64 = 0.02;
/// Length over width.
const SLENDERNESS: f64 = 3.5;
/// Density, kg/m³, Young's modulus and tensile strength, Pa.
const MATERIAL: (f64, f64, f64) = (2000.0, 1e9, 2.5e6);
/// Time in which sound runs along the bar, over the time in which the bar is stretched up to its strength.
const SLOWNESS: f64 = 0.1;
/// Frames until then.
const FRAMES: f64 = 200.0;

/// A bar.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Fields of its packing besides the radius.
    pub packing: String,
    /// Elements across its width.
    pub across: f64,
    /// Axis along which it is long: 0, 1, 2.
    pub axis: usize,
    /// Seed of random packings.
    pub seed: u64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Further keys of its material.
    pub material: String,
}

/// What was found about a bar.
#[derive(Clone, Copy, Debug)]
pub struct Pulled {
    /// Number of elements.
    pub elements: usize,
    /// Young's modulus over that of the material.
    pub young: f64,
    /// Poisson's ratio.
    pub poisson: f64,
    /// Largest stress over the tensile strength of the material.
    pub strength: f64,
}

/// Stress over Young's modulus, strain along the bar and across, far from its ends.
type Point = [f64; 3];

impl Bar {
    /// Pulls the bar until its load has fallen to half of the largest.
    pub fn pull(&self) -> Pulled {
        let (_, young, strength) = MATERIAL;
        let pipeline = self.pipeline();
        let mut packing = pack::pack(&pipeline, ".".as_ref()).unwrap().packing;
        let places = self.stretch(&mut packing);
        self.strengthen_ends(&mut packing, &places);
        let schedule = schedule(&packing, &pipeline).unwrap();
        let mut run = method(&packing, &pipeline, Backend::Cpu, schedule.dt).unwrap();
        let steps = schedule.steps_per_frame;
        let curve = self.curve(&mut *run, &places, (schedule.frames, steps));
        let stresses = curve.iter().map(|point| point[0]);
        let peak = stresses.fold(0.0, f64::max);
        let elastic = curve.iter().take_while(|point| point[0] < 0.8 * peak);
        let elastic: Vec<Point> = elastic.filter(|at| at[0] > 0.2 * peak).copied().collect();
        Pulled {
            elements: places.len(),
            young: slope(elastic.iter().map(|at| (at[1], at[0]))),
            poisson: -slope(elastic.iter().map(|at| (at[1], at[2]))),
            strength: peak * young / strength,
        }
    }

    fn pipeline(&self) -> Pipeline {
        let (density, young, strength) = MATERIAL;
        let mut size = [WIDTH; 3];
        size[self.axis] = SLENDERNESS * WIDTH;
        let radius = WIDTH / (2.0 * self.across);
        let time = strength / young / self.rate();
        let mut text = format!(
            "[time]\nend = {end}\nframes_per_second = {frames}\n[world]\ngravity = [0, 0, 0]\n[[material]]\n\
             name = \"m\"\ndensity = {density}\nyoung = {young}\npoisson = {poisson}\n\
             tensile_strength = {strength}\nshear_strength = 1e9\ndamping = 0.05\n{material}\n[[body]]\n\
             name = \"bar\"\nmaterial = \"m\"\nshape = {{ type = \"box\", size = {size:?} }}\n\
             packing = {{ {packing}, radius = {radius} }}\n[simulate]\nseed = {seed}\n",
            end = 4.0 * time,
            frames = FRAMES / time,
            poisson = self.poisson,
            material = self.material,
            packing = self.packing,
            seed = self.seed,
        );
        for (name, side) in [("low", -1.0), ("high", 1.0)] {
            let (mut low, mut high, mut v) = ([-1.0; 3], [1.0; 3], [0.0; 3]);
            let (from, to) = if side > 0.0 {
                (&mut low, 1.0)
            } else {
                (&mut high, -1.0)
            };
            from[self.axis] = to * grip();
            v[self.axis] = side * self.rate() * grip();
            text += &format!(
                "[[attach]]\nname = \"{name}\"\nbody = \"bar\"\nregion = {{ min = {low:?}, max = {high:?} }}\n\
                 action = {{ type = \"clamp\", velocity = {v:?} }}\n"
            );
        }
        spec::parse(&text, "bar", &[]).unwrap()
    }

    /// Rate of strain, 1/s.
    fn rate(&self) -> f64 {
        let (density, young, strength) = MATERIAL;
        let crossing = SLENDERNESS * WIDTH / (young / density).sqrt();
        SLOWNESS * strength / young / crossing
    }

    /// Lets all elements move with the strain from the start, so that no waves run; returns their places.
    fn stretch(&self, packing: &mut Packing) -> Vec<DVec3> {
        let places = at_rest(packing);
        let e = &mut packing.elements;
        for (i, p) in places.iter().enumerate() {
            let mut v = *p * (-self.poisson * self.rate());
            v[self.axis] = p[self.axis] * self.rate();
            (e.vx[i], e.vy[i], e.vz[i]) = (v.x, v.y, v.z);
        }
        places
    }

    /// Makes bonds near the clamps unbreakable: they hold the bar's width there.
    fn strengthen_ends(&self, packing: &mut Packing, places: &[DVec3]) {
        let b = &mut packing.bonds;
        for k in 0..b.id.len() {
            let ends = [b.i[k], b.j[k]].map(|end| places[end as usize][self.axis]);
            if (0.5 * (ends[0] + ends[1])).abs() > grip() - 0.5 * WIDTH {
                (b.sigma_c[k], b.tau_c[k]) = (f64::INFINITY, f64::INFINITY);
            }
        }
    }

    fn curve(&self, run: &mut dyn Method, rest: &[DVec3], time: (u32, u64)) -> Vec<Point> {
        let middle = |i: &usize| rest[*i][self.axis].abs() < 0.6 * WIDTH;
        let middle: Vec<usize> = (0..rest.len()).filter(middle).collect();
        run.snapshot(0).unwrap();
        let (mut curve, mut peak) = (Vec::new(), 0.0);
        for frame in 1..=time.0 {
            run.advance(time.1).unwrap();
            let shot = run.snapshot(frame).unwrap();
            let now = places(&shot);
            let strain = |axis: usize| {
                let moved = |&i: &usize| (rest[i][axis], now[i][axis] - rest[i][axis]);
                slope(middle.iter().map(moved))
            };
            let others = [1, 2].map(|k| strain((self.axis + k) % 3));
            let across = 0.5 * (others[0] + others[1]);
            let stress = self.load(&shot) / (WIDTH * WIDTH * MATERIAL.1);
            curve.push([stress, strain(self.axis), across]);
            peak = f64::max(peak, stress);
            if stress < 0.5 * peak && frame > 20 {
                break;
            }
        }
        curve
    }

    /// Mean of the forces at both ends, N.
    fn load(&self, shot: &Snapshot) -> f64 {
        let loads = &shot.loads;
        let force = |name: &str| {
            let k = loads.name.iter().position(|one| one == name).unwrap();
            [loads.fx[k], loads.fy[k], loads.fz[k]][self.axis]
        };
        0.5 * (force("low") - force("high")).abs()
    }
}

/// Distance of the clamps from the middle, m.
fn grip() -> f64 {
    (0.5 * SLENDERNESS - 0.25) * WIDTH
}

/// Positions of the elements at rest.
pub fn at_rest(packing: &Packing) -> Vec<DVec3> {
    let e = &packing.elements;
    let place = |i: usize| DVec3::new(e.x[i], e.y[i], e.z[i]);
    (0..e.id.len()).map(place).collect()
}

/// Positions of the elements in a frame.
pub fn places(snapshot: &Snapshot) -> Vec<DVec3> {
    let f = &snapshot.frames;
    let place = |i: usize| DVec3::new(f.x[i].into(), f.y[i].into(), f.z[i].into());
    (0..f.id.len()).map(place).collect()
}

/// Slope of the line through the pairs, by least squares.
pub fn slope(pairs: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = pairs.clone().count() as f64;
    let (x, y) = pairs
        .clone()
        .fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    let (x, y) = (x / count, y / count);
    let (xy, xx) = pairs.fold((0.0, 0.0), |sum, pair| {
        let off = pair.0 - x;
        (sum.0 + off * (pair.1 - y), sum.1 + off * off)
    });
    xy / xx
}
