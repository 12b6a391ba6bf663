//! Breaks bonds, by patterns or by an impact, and moves the elements.

use cullet::columns::{Bonds, Elements, Frames};
use cullet::math::UnionFind;
use cullet::simulate::{method, schedule};
use cullet::spec::{Backend, Collider, ColliderShape, Rotation};
use glam::{DQuat, DVec3};

use super::bodies::Body;
use super::draw::RandomStream;

/// A state of a breaking body.
pub struct BrokenState {
    pub frame: Frames,
    /// Whether each bond is broken.
    pub broken: Vec<bool>,
}

fn place(elements: &Elements, e: u32) -> DVec3 {
    let e = e as usize;
    DVec3::new(elements.x[e], elements.y[e], elements.z[e])
}

/// Midpoint of a bond, m.
fn middle(elements: &Elements, bonds: &Bonds, b: usize) -> DVec3 {
    (place(elements, bonds.i[b]) + place(elements, bonds.j[b])) / 2.0
}

/// States of a body whose bonds break, one pattern after another.
pub fn states(draw: &mut RandomStream, body: &Body, frames: u32) -> Vec<BrokenState> {
    let packing = &body.packed.packing;
    let (elements, bonds) = (&packing.elements, &packing.bonds);
    let mut broken = vec![false; bonds.i.len()];
    let mut states = Vec::new();
    for number in 0..frames {
        // Sometimes nothing is broken in the first frame.
        if !bonds.i.is_empty() && (number > 0 || draw.chance(0.8)) {
            for _ in 0..1 + draw.below(2) {
                break_pattern(
                    draw,
                    elements,
                    bonds,
                    body.packed.bodies[0].radius,
                    &mut broken,
                );
            }
        }
        let labels = labels(elements, bonds, &broken);
        let reach = 0.3 * body.packed.bodies[0].radius * f64::from(number);
        let frame = moved(draw, number, elements, labels, reach);
        states.push(BrokenState {
            frame,
            broken: broken.clone(),
        });
    }
    states
}

/// Breaks bonds by a random pattern; `r` is the mean radius of the elements (m).
fn break_pattern(
    draw: &mut RandomStream,
    elements: &Elements,
    bonds: &Bonds,
    r: f64,
    broken: &mut [bool],
) {
    let count = elements.x.len();
    let at = |e: u32| place(elements, e);
    let ends = |b: usize| [at(bonds.i[b]), at(bonds.j[b])];
    let mut somewhere = || at(draw.below(count) as u32) + 0.5 * r * draw.in_cube();
    let (origin, other) = (somewhere(), somewhere());
    let part = if draw.chance(0.5) {
        1.0
    } else {
        draw.between(0.3, 1.0)
    };
    let reach = r * draw.between(2.0, 10.0);
    // Whether the pattern contains a bond.
    let chosen: Box<dyn Fn(usize) -> bool> = match draw.below(9) {
        // Planes, through the body or ending within it.
        0 | 1 => {
            let normal = draw.direction();
            let ends_at = if draw.chance(0.5) {
                f64::INFINITY
            } else {
                reach
            };
            Box::new(move |b| {
                let [p, q] = ends(b).map(|p| (p - origin).dot(normal) > 0.0);
                p != q && middle(elements, bonds, b).distance(other) < ends_at
            })
        }
        // Voronoi cells of random points.
        2 | 3 => {
            let most = draw.pick(&[8, 60]);
            let points = 2 + draw.below(most);
            let points: Vec<DVec3> = (0..points).map(|_| at(draw.below(count) as u32)).collect();
            let cell: Vec<usize> = (0..count as u32)
                .map(|e| {
                    let away = |k: &usize| at(e).distance_squared(points[*k]);
                    let all = 0..points.len();
                    all.min_by(|a, b| away(a).total_cmp(&away(b))).unwrap()
                })
                .collect();
            Box::new(move |b| cell[bonds.i[b] as usize] != cell[bonds.j[b] as usize])
        }
        // Any bonds at random.
        4 => {
            let part = 0.01 * 60_f64.powf(draw.unit());
            let lot: Vec<bool> = (0..broken.len()).map(|_| draw.chance(part)).collect();
            Box::new(move |b| lot[b])
        }
        // Stripes.
        5 => {
            let (normal, apart) = (draw.direction(), r * draw.between(1.5, 6.0));
            let stripe = move |p: DVec3| (p.dot(normal) / apart).floor();
            Box::new(move |b| {
                let [p, q] = ends(b).map(stripe);
                p != q
            })
        }
        // Balls that come out, whole or as dust.
        6 => {
            let dust = draw.chance(0.4);
            let inside = move |p: DVec3| p.distance(origin) < reach;
            Box::new(move |b| {
                let [p, q] = ends(b).map(inside);
                p != q || (dust && p)
            })
        }
        // One bond per element is left.
        7 => {
            let everywhere = draw.chance(0.4);
            let mut held = vec![false; count];
            let left: Vec<bool> = (0..broken.len())
                .map(|b| {
                    let ends = [bonds.i[b] as usize, bonds.j[b] as usize];
                    let free = !broken[b] && ends.iter().any(|&e| !held[e]);
                    ends.into_iter().for_each(|e| held[e] |= free);
                    free
                })
                .collect();
            Box::new(move |b| {
                let near = everywhere || middle(elements, bonds, b).distance(origin) < reach;
                near && !left[b]
            })
        }
        // More bonds the nearer they are to a point.
        _ => {
            let lot: Vec<f64> = (0..broken.len()).map(|_| draw.unit()).collect();
            Box::new(move |b| {
                let away = middle(elements, bonds, b).distance(origin) / reach;
                lot[b] < (-away * away).exp()
            })
        }
    };
    for (b, broken) in broken.iter_mut().enumerate() {
        *broken |= chosen(b) && draw.chance(part);
    }
}

/// Label of each element: the smallest element of its fragment.
fn labels(elements: &Elements, bonds: &Bonds, broken: &[bool]) -> Vec<u32> {
    let mut parts = UnionFind::new(elements.x.len());
    for (b, _) in broken.iter().enumerate().filter(|(_, broken)| !**broken) {
        parts.join(bonds.i[b], bonds.j[b]);
    }
    parts.roots()
}

/// A frame in which fragments have moved by up to `reach` (m) and rotated, and each element has moved a
/// little within its fragment.
pub fn moved(
    draw: &mut RandomStream,
    number: u32,
    elements: &Elements,
    labels: Vec<u32>,
    reach: f64,
) -> Frames {
    let count = elements.x.len();
    let zeros = || vec![0.0_f32; count];
    let mut frame = Frames {
        frame: vec![number; count],
        time: vec![f64::from(number); count],
        id: elements.id.clone(),
        x: zeros(),
        y: zeros(),
        z: zeros(),
        qx: zeros(),
        qy: zeros(),
        qz: zeros(),
        qw: zeros(),
        vx: zeros(),
        vy: zeros(),
        vz: zeros(),
        wx: zeros(),
        wy: zeros(),
        wz: zeros(),
        fragment: labels,
        sigma: zeros(),
        tau: zeros(),
        broken: vec![0; count],
    };
    let motion: Vec<(DQuat, DVec3)> = (0..count)
        .map(|_| {
            (
                draw.turn(0.3 * f64::from(number.min(1))),
                reach * draw.in_cube(),
            )
        })
        .collect();
    for e in 0..count {
        let label = frame.fragment[e];
        let (turn, shift) = motion[label as usize];
        let centre = place(elements, label);
        let own = draw.turn(reach / (5.0 * elements.r[e]));
        let x = centre
            + shift
            + turn * (place(elements, e as u32) - centre)
            + 0.2 * reach * draw.in_cube();
        let q = (own * turn).as_quat();
        let [x, v] = [x, shift].map(|x| x.as_vec3());
        (frame.x[e], frame.y[e], frame.z[e]) = (x.x, x.y, x.z);
        (frame.qx[e], frame.qy[e], frame.qz[e], frame.qw[e]) = (q.x, q.y, q.z, q.w);
        (frame.vx[e], frame.vy[e], frame.vz[e]) = (v.x, v.y, v.z);
    }
    frame
}

/// States of a body that falls on a floor.
pub fn impact_states(draw: &mut RandomStream, body: &Body, frames: u32) -> Vec<BrokenState> {
    let mut pipeline = body.pipeline.clone();
    let mut packing = body.packed.packing.clone();
    let normal = DVec3::new(draw.between(-0.5, 0.5), 1.0, 0.0).normalize();
    let count = packing.elements.x.len();
    let heights = (0..count).map(|e| {
        let elements = &packing.elements;
        place(elements, e as u32).dot(normal) - elements.r[e]
    });
    let lowest = heights.fold(f64::INFINITY, f64::min);
    pipeline.colliders.push(Collider {
        name: "floor".into(),
        shape: ColliderShape::HalfSpace {
            normal: normal.to_array(),
        },
        position: (lowest * normal).to_array(),
        rotation: Rotation::default(),
        velocity: [0.0; 3],
        spin: [0.0; 3],
        keys: Vec::new(),
        friction: 0.5,
        young: None,
    });
    let velocity = -draw.between(10.0, 60.0) * normal;
    packing.elements.vx.fill(velocity.x);
    packing.elements.vy.fill(velocity.y);
    let dt = schedule(&packing, &pipeline).unwrap().dt;
    let mut run = method(&packing, &pipeline, Backend::Cpu, dt).unwrap();
    let mut broken = vec![false; packing.bonds.i.len()];
    let steps = 20 + draw.below(80) as u64;
    (0..frames)
        .map(|number| {
            run.advance(steps).unwrap();
            let snapshot = run.snapshot(number).unwrap();
            for &bond in &snapshot.breaks.bond {
                broken[bond as usize] = true;
            }
            BrokenState {
                frame: snapshot.frames,
                broken: broken.clone(),
            }
        })
        .collect()
}
