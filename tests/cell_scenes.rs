//! Packings of cells for tests: bricks on a grid, Voronoi cells in a box.

use cullet::columns::{Bonds, Cells, Elements, Faces, Shape};
use cullet::geometry::cells::{Cells as Solids, FreeFace};
use cullet::geometry::section::Section;
use cullet::geometry::voronoi;
use cullet::simulate::resolve;
use cullet::spec::{self, Pipeline};
use cullet::store::{CellTables, Packing};
use glam::{DMat3, DQuat, DVec3};

/// Bricks on a grid, one corner of which is the origin.
pub fn bricks(count: [usize; 3], size: DVec3) -> Solids {
    let all = count.iter().product();
    let generators: Vec<DVec3> = (0..all)
        .map(|k| {
            let at = [
                k / (count[1] * count[2]),
                k / count[2] % count[1],
                k % count[2],
            ];
            (DVec3::from_array(at.map(|n| n as f64)) + 0.5) * size
        })
        .collect();
    let high = DVec3::from_array(count.map(|n| n as f64)) * size;
    within([DVec3::ZERO, high], &generators)
}

fn within(bounds: [DVec3; 2], generators: &[DVec3]) -> Solids {
    let solids = voronoi::cells(generators, generators.len(), bounds, [u32::MAX; 6]).unwrap();
    Solids::of(&solids).unwrap()
}

/// Voronoi cells of random points in a box; each of `relax` passes moves the points to the centres of their
/// cells.
pub fn random(size: DVec3, count: usize, relax: usize) -> Solids {
    let mut state = 17u64;
    let mut number = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let points = (0..count).map(|_| DVec3::new(number(), number(), number()) * size);
    let mut points: Vec<DVec3> = points.collect();
    let bounds = [DVec3::ZERO, size];
    for _ in 0..relax {
        let solids = within(bounds, &points);
        points = solids.masses.iter().map(|mass| mass.centre).collect();
    }
    within(bounds, &points)
}

/// A material of cells.
#[derive(Clone, Copy)]
pub struct CellMaterial {
    pub density: f64,
    pub young: f64,
    pub poisson: f64,
}

fn push_vector(columns: [&mut Vec<f64>; 3], v: DVec3) {
    for (column, value) in columns.into_iter().zip(v.to_array()) {
        column.push(value);
    }
}

/// Packing of cells, at rest.
pub fn packing(solids: &Solids, material: CellMaterial) -> Packing {
    let (mut e, mut b) = (Elements::default(), Bonds::default());
    let (mut cells, mut faces) = (Cells::default(), Faces::default());
    for (id, mass) in solids.masses.iter().enumerate() {
        let inertia = mass.inertia * material.density;
        let columns = [0, 1, 2].map(|k| inertia.col(k).to_array());
        let (moments, rows) = cullet::math::eigen(columns);
        let rows = rows.map(DVec3::from_array);
        let hand = rows[0].dot(rows[1].cross(rows[2])).signum();
        let axes = DQuat::from_mat3(&DMat3::from_cols(rows[0], rows[1], rows[2] * hand));
        let moments = DVec3::from_array(moments);
        e.id.push(id as u32);
        e.body.push(0);
        e.material.push(0);
        e.kind.push(Shape::Cell);
        push_vector([&mut e.x, &mut e.y, &mut e.z], mass.centre);
        e.r.push((0.75 * mass.volume / std::f64::consts::PI).cbrt());
        e.mass.push(mass.volume * material.density);
        e.inertia.push((moments.x + moments.y + moments.z) / 3.0);
        e.volume.push(mass.volume);
        for zero in [
            &mut e.vx, &mut e.vy, &mut e.vz, &mut e.wx, &mut e.wy, &mut e.wz,
        ] {
            zero.push(0.0);
        }
        cells.id.push(id as u32);
        cells.free.push(solids.free_volumes()[id]);
        push_vector([&mut cells.i1, &mut cells.i2, &mut cells.i3], moments);
        push_vector([&mut cells.qx, &mut cells.qy, &mut cells.qz], axes.xyz());
        cells.qw.push(axes.w);
    }
    let shear = material.young / (2.0 * (1.0 + material.poisson));
    for (id, one) in solids.between.iter().enumerate() {
        let [i, j] = one.cells;
        let [from, to] = one.cells.map(|cell| solids.masses[cell as usize].centre);
        b.id.push(id as u32);
        b.i.push(i);
        b.j.push(j);
        b.l0.push(from.distance(to));
        push_vector([&mut b.dx, &mut b.dy, &mut b.dz], (to - from).normalize());
        b.radius
            .push((one.section.area / std::f64::consts::PI).sqrt());
        b.young.push(material.young);
        b.shear.push(shear);
        b.sigma_c.push(f64::INFINITY);
        b.tau_c.push(f64::INFINITY);
        push_face(&mut faces, [i, j, id as u32], &one.section);
    }
    for one in &solids.free {
        push_face(&mut faces, [one.cell, u32::MAX, u32::MAX], &one.section);
    }
    Packing {
        elements: e,
        bonds: b,
        cells: CellTables { cells, faces },
        ..Packing::default()
    }
}

/// Packing of cells without bonds, at rest.
pub fn loose(solids: &Solids, material: CellMaterial) -> Packing {
    let mut apart = solids.clone();
    for one in apart.between.drain(..) {
        let back = Section {
            normal: -one.section.normal,
            ..one.section
        };
        for (cell, section) in one.cells.into_iter().zip([one.section, back]) {
            apart.free.push(FreeFace { cell, section });
        }
    }
    packing(&apart, material)
}

fn push_face(faces: &mut Faces, [i, j, bond]: [u32; 3], section: &Section) {
    faces.id.push(faces.id.len() as u32);
    faces.i.push(i);
    faces.j.push(j);
    faces.bond.push(bond);
    faces.area.push(section.area);
    push_vector([&mut faces.x, &mut faces.y, &mut faces.z], section.centre);
    push_vector(
        [&mut faces.nx, &mut faces.ny, &mut faces.nz],
        section.normal,
    );
    push_vector(
        [&mut faces.sx, &mut faces.sy, &mut faces.sz],
        section.axes[0],
    );
    faces.second_s.push(section.second[0]);
    faces.second_t.push(section.second[1]);
}

/// A generator of pseudo-random numbers between −1 and 1.
fn random_numbers() -> impl FnMut() -> f64 {
    let mut state = 29u64;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 32) as f64 / f64::from(1u32 << 31) - 1.0
    }
}

/// Random velocities and spins.
pub fn stir(packing: &mut Packing, speed: f64, spin: f64) {
    let mut number = random_numbers();
    let e = &mut packing.elements;
    for column in [&mut e.vx, &mut e.vy, &mut e.vz] {
        column.iter_mut().for_each(|v| *v = speed * number());
    }
    for column in [&mut e.wx, &mut e.wy, &mut e.wz] {
        column.iter_mut().for_each(|w| *w = spin * number());
    }
}

/// A shot of such a packing, in double precision and without gravity; `more` is appended to the pipeline
/// file.
pub fn shot(material: CellMaterial, more: &str) -> Pipeline {
    let CellMaterial {
        density,
        young,
        poisson,
    } = material;
    let text = format!(
        "[time]\nend = 1\nframes_per_second = 24\n[world]\ngravity = [0, 0, 0]\n\
         [[material]]\nname = \"m\"\ndensity = {density:e}\nyoung = {young:e}\npoisson = 0.2\n\
         [[body]]\nname = \"body\"\nmaterial = \"m\"\nshape = {{ type = \"box\", size = [1, 1, 1] }}\n\
         packing = {{ type = \"hexagonal\", radius = 0.1 }}\n\
         [simulate]\nmethod = \"voronoi\"\nbackend = \"cpu\"\nprecision = \"f64\"\n{more}"
    );
    let mut pipeline = spec::parse(&text, "cells.toml", &[]).unwrap();
    pipeline.materials[0].poisson = Some(poisson);
    pipeline.materials[0].damping = 0.0;
    pipeline
}

/// The method for a packing, with a time step that is a fraction of the critical one.
pub fn method(
    packing: &Packing,
    pipeline: &Pipeline,
    part: f64,
) -> (Box<dyn cullet::simulate::Method>, f64) {
    let prepared = resolve::PreparedScene::new(packing, pipeline).unwrap();
    let dt = part * prepared.schedule(pipeline).critical;
    (
        prepared.start(pipeline, spec::Backend::Cpu, dt).unwrap(),
        dt,
    )
}
