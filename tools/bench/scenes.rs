//! Scenes whose time steps are measured, at any size. Elements of 1 mm, packed by the packing stage, so that
//! their order is that of users' packings.

use std::path::Path;

use cullet::pack;
use cullet::simulate::schedule;
use cullet::spec::{self, Collider, ColliderShape, Pipeline, Rotation};
use cullet::store::Packing;

/// Kinds of scenes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneKind {
    /// A bonded block oscillates; no contacts form and nothing breaks, but both are checked.
    Elastic,
    /// A bonded block hits a floor at 10 m/s and breaks.
    Breaking,
    /// Loose spheres move at random in a closed box, compressed as deep in a heap, so that at any size and
    /// time nearly all neighbours are in contact.
    Heap,
}

/// All kinds of scenes.
pub const SCENE_KINDS: [SceneKind; 3] = [SceneKind::Elastic, SceneKind::Breaking, SceneKind::Heap];

/// A scene ready to run.
pub struct Scene {
    /// Elements, bonds and other tables of the packing.
    pub packing: Packing,
    /// Settings of the simulation.
    pub pipeline: Pipeline,
}

/// Any error that stops a benchmark.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

const RADIUS: f64 = 1e-3;

/// Impact speed of the block that breaks, m/s.
const IMPACT: f64 = 10.0;

/// Distance of loose neighbours over their distance at contact.
const COMPRESSION: f64 = 0.995;
/// Largest component of their velocities, m/s: the overlap due to a collision is smaller than the initial
/// one.
const LARGEST_SPEED: f64 = 0.1;

impl SceneKind {
    /// Name of the scene in the table.
    pub fn name(self) -> &'static str {
        match self {
            SceneKind::Elastic => "elastic block",
            SceneKind::Breaking => "breaking impact",
            SceneKind::Heap => "granular heap",
        }
    }

    /// A cube of about `elements` elements.
    pub fn scene(self, elements: f64) -> Result<Scene, Failure> {
        let edge = (elements.cbrt().round() as usize).max(4);
        let mut pipeline = spec::parse(&self.text(edge), "bench", &[])?;
        let mut packing = pack::pack(&pipeline, Path::new("."))?.packing;
        let e = &mut packing.elements;
        match self {
            SceneKind::Elastic => {
                for (v, y) in e.vx.iter_mut().zip(&e.y) {
                    *v = 0.01 * (300.0 * y).sin();
                }
            }
            SceneKind::Breaking => {
                let floor = e.y.iter().copied().fold(f64::INFINITY, f64::min) - RADIUS;
                pipeline.colliders = vec![wall("floor", [0.0, 1.0, 0.0], [0.0, floor, 0.0])];
            }
            SceneKind::Heap => {
                for column in [&mut e.x, &mut e.y, &mut e.z] {
                    column.iter_mut().for_each(|value| *value *= COMPRESSION);
                }
                pipeline.colliders = walls([&e.x, &e.y, &e.z]);
                for (axis, column) in [&mut e.vx, &mut e.vy, &mut e.vz].into_iter().enumerate() {
                    for (i, v) in column.iter_mut().enumerate() {
                        *v = LARGEST_SPEED * scatter(3 * i + axis);
                    }
                }
            }
        }
        Ok(Scene { packing, pipeline })
    }

    /// Time step, s. It follows from radius and material, so a small scene gives it for all sizes.
    pub fn step(self) -> Result<f64, Failure> {
        let small = self.scene(1000.0)?;
        Ok(0.4 * schedule(&small.packing, &small.pipeline)?.critical)
    }

    /// Steps before timing: until waves have crossed part of the block, or until caches are warm.
    pub fn warm_up(self, count: usize) -> u64 {
        match self {
            SceneKind::Elastic => 5,
            SceneKind::Breaking | SceneKind::Heap => (count as f64).cbrt() as u64 / 2,
        }
    }

    fn text(self, edge: usize) -> String {
        // Strengths of gypsum, except for the elastic block; a heap is softer than real grains, as is usual.
        let (young, strength) = match self {
            SceneKind::Elastic => ("1 GPa", ""),
            SceneKind::Breaking => (
                "1 GPa",
                "tensile_strength = \"2.5 MPa\"\nshear_strength = \"3 MPa\"\nweibull_modulus = 8",
            ),
            SceneKind::Heap => ("10 MPa", ""),
        };
        let speed = if self == SceneKind::Breaking {
            IMPACT
        } else {
            0.0
        };
        let bonded = self != SceneKind::Heap;
        format!(
            r#"
[time]
end = 1
frames_per_second = 1
[world]
gravity = [0, -9.81, 0]
[[material]]
name = "gypsum"
density = 1100
young = "{young}"
poisson = 0.2
damping = 0.03
{strength}
[[body]]
name = "block"
material = "gypsum"
shape = {{ type = "block", rows = [{edge}, {edge}, {edge}] }}
packing = {{ type = "hexagonal", radius = {RADIUS} }}
bonded = {bonded}
velocity = [0, {}, 0]
"#,
            -speed
        )
    }
}

/// Walls on all sides, touching the outermost elements.
fn walls(columns: [&Vec<f64>; 3]) -> Vec<Collider> {
    let mut walls = Vec::new();
    for (axis, column) in columns.into_iter().enumerate() {
        let low = column.iter().copied().fold(f64::INFINITY, f64::min) - RADIUS;
        let high = column.iter().copied().fold(f64::NEG_INFINITY, f64::max) + RADIUS;
        for (end, sign) in [(low, 1.0), (high, -1.0)] {
            let (mut normal, mut through) = ([0.0; 3], [0.0; 3]);
            normal[axis] = sign;
            through[axis] = end;
            walls.push(wall(&format!("wall {}", walls.len()), normal, through));
        }
    }
    walls
}

fn wall(name: &str, normal: [f64; 3], position: [f64; 3]) -> Collider {
    Collider {
        name: name.to_owned(),
        shape: ColliderShape::HalfSpace { normal },
        position,
        rotation: Rotation::default(),
        velocity: [0.0; 3],
        spin: [0.0; 3],
        keys: Vec::new(),
        friction: 0.5,
        young: None,
    }
}

/// A pseudo-random number in [−1, 1): multiples of the golden ratio are evenly spread.
fn scatter(k: usize) -> f64 {
    2.0 * (k as f64 * 0.618_033_988_749_894_9).fract() - 1.0
}
