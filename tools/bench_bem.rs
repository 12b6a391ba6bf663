//! Boundary elements by the fast multipole method: seconds, memory, iterations and errors from a thousand to
//! a million triangles.
//!
//! `cargo run --release --example bench_bem -- [--triangles 1e3,1e4,1e5,1e6] [--accuracy 1e-4] [--body
//! ball|bar|FILE] [--matrix 6e3] [--quadratic]`
//!
//! With `--answers DIR`: bodies with a known answer instead, each at three sizes, the largest of about 3,000
//! triangles; prints their errors and orders of convergence, and writes charts of both to the folder.
//!
//! Solves a body under an uneven load, at each size. Wall-clock seconds come with the processor seconds of
//! all threads (`_cpu`, where the system reports them): the machine may do other work. Memory is measured
//! only for the first size. Standard output is one JSON object per line.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use clap::Parser;
use cullet::bem::layers::Layers;
use cullet::bem::panel::double_layer;
use cullet::bem::split::Split;
use cullet::bem::{Balance, Basis, Elastic, Loads, Order, Solution, Solver, Surface};
use cullet::geometry::{TriMesh, read, winding::Winding};
use cullet::math::Vec3;
use cullet::solve::Recycled;
use glam::{DVec3, dvec3};
use serde_json::{Map, Value, json};

#[path = "bench_bem/chart.rs"]
mod chart;
#[path = "bench_bem/known.rs"]
mod known;
#[allow(dead_code, unused_imports, clippy::unwrap_used)] // used only by tests
#[path = "bench_bem/tested.rs"]
mod tested;

use tested::bodies;

/// Nodes at which products are compared with exact sums over all panels.
const NODE_SAMPLE: usize = 100;
/// Interior points at which fast sums are compared with exact ones.
const INTERIOR_SAMPLE: usize = 100;

#[derive(Parser)]
struct Arguments {
    /// Approximate number of triangles of the body.
    #[arg(long, value_delimiter = ',', default_value = "1e3,1e4,1e5,1e6")]
    triangles: Vec<f64>,
    /// Requested accuracy of products.
    #[arg(long, default_value_t = 1e-4)]
    accuracy: f64,
    /// `ball`, `bar` (1 × 1 × 3), or a mesh file, whose triangles are split in four until the size is
    /// reached.
    #[arg(long, default_value = "ball")]
    body: String,
    /// Number of triangles up to which the stored matrix is timed too.
    #[arg(long, default_value_t = 6e3)]
    matrix: f64,
    /// Number of timed products; the quickest counts.
    #[arg(long, default_value_t = 3)]
    products: u32,
    /// Number of interior points at which displacement and stress are evaluated.
    #[arg(long, default_value_t = 10_000)]
    points: usize,
    /// Poisson's ratio.
    #[arg(long, default_value_t = 0.3)]
    poisson: f64,
    /// Quadratic displacements instead of linear ones.
    #[arg(long)]
    quadratic: bool,
    /// Folder for charts of bodies with a known answer, which are computed instead.
    #[arg(long)]
    answers: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.answers {
        return chart::draw(
            folder,
            &known::measure(arguments.poisson),
            arguments.poisson,
        );
    }
    for (k, triangles) in arguments.triangles.iter().enumerate() {
        let mesh = mesh(&arguments.body, *triangles)?;
        let mut row = measure(&mesh, &arguments)?;
        // Later sizes reuse memory that earlier ones have freed.
        if k > 0 {
            row.remove("bytes_a_triangle");
        }
        println!("{}", Value::Object(row));
    }
    Ok(())
}

fn mesh(body: &str, triangles: f64) -> Result<TriMesh, Box<dyn std::error::Error>> {
    let parts = |per_square: f64| (triangles / per_square).sqrt().round().max(1.0) as u32;
    Ok(match body {
        "ball" => bodies::ball(parts(20.0)),
        "bar" => {
            let parts = parts(28.0);
            bodies::grid_box(dvec3(1.0, 1.0, 3.0), [parts, parts, 3 * parts])
        }
        file => {
            let mut mesh = read::read(Path::new(file))?;
            while (mesh.triangles.len() as f64) < triangles / 2.0 {
                mesh = split_in_four(&mesh);
            }
            mesh
        }
    })
}

/// Splits each triangle in four at the midpoints of its edges.
fn split_in_four(mesh: &TriMesh) -> TriMesh {
    let mut middles = std::collections::BTreeMap::new();
    let mut fine = TriMesh {
        positions: mesh.positions.clone(),
        ..TriMesh::default()
    };
    for &[a, b, c] in &mesh.triangles {
        let mut middle = |m: u32, n: u32| {
            *middles.entry((m.min(n), m.max(n))).or_insert_with(|| {
                let sum = mesh.positions[m as usize] + mesh.positions[n as usize];
                fine.positions.push(sum / 2.0);
                fine.positions.len() as u32 - 1
            })
        };
        let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
        let parts = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]];
        fine.triangles.extend(parts);
    }
    fine
}

/// Wall-clock seconds, and processor seconds of all threads.
fn timed<T>(work: impl FnOnce() -> T) -> (T, [Option<f64>; 2]) {
    let (clock, before) = (Instant::now(), cpu_seconds());
    let value = work();
    let cpu = cpu_seconds()
        .zip(before)
        .map(|(after, before)| after - before);
    (value, [Some(clock.elapsed().as_secs_f64()), cpu])
}

/// Processor seconds of this process so far, where Linux reports them.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // In the fields after the name, which is in brackets, user and system time, in hundredths of a second,
    // are the 12th and 13th.
    let fields = text.rsplit_once(')')?.1.split_whitespace();
    let ticks = fields
        .skip(11)
        .take(2)
        .map(|field| field.parse::<f64>().ok());
    ticks.sum::<Option<f64>>().map(|ticks| ticks / 100.0)
}

/// Memory of this process now, bytes, where Linux reports it.
fn memory() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes = line.split_whitespace().nth(1)?;
    kilobytes.parse::<f64>().ok().map(|kb| kb * 1024.0)
}

fn put(row: &mut Map<String, Value>, what: &str, [clock, cpu]: [Option<f64>; 2]) {
    row.insert(format!("{what}_s"), json!(clock));
    row.insert(format!("{what}_cpu_s"), json!(cpu));
}

fn measure(
    mesh: &TriMesh,
    arguments: &Arguments,
) -> Result<Map<String, Value>, Box<dyn std::error::Error>> {
    let (surface, spent) = timed(|| Surface::new(mesh));
    let surface = surface?;
    let elastic = Elastic::new(2.0, arguments.poisson)?;
    let mut row = Map::new();
    row.insert("body".to_owned(), json!(arguments.body));
    row.insert("triangles".to_owned(), json!(surface.len()));
    row.insert("accuracy".to_owned(), json!(arguments.accuracy));
    put(&mut row, "surface", spent);
    let order = match arguments.quadratic {
        true => Order::Quadratic,
        false => Order::Linear,
    };
    let basis = Arc::new(Basis::new(&surface, order));
    row.insert("unknowns".to_owned(), json!(3 * basis.len()));
    let before = memory();
    let (split, spent) = timed(|| Split::new(&basis, elastic, arguments.accuracy));
    put(&mut row, "build", spent);
    let u = displacements(&basis);
    let y = time_products(&mut row, "product", &split, &u, arguments.products);
    let bytes = memory()
        .zip(before)
        .map(|(after, before)| (after - before) / surface.len() as f64);
    row.insert("bytes_a_triangle".to_owned(), json!(bytes));
    row.insert(
        "product_error".to_owned(),
        json!(product_error(&basis, elastic, &u, &y)),
    );
    let solver = Solver::new(&basis, elastic, Box::new(split), Some(arguments.accuracy));
    let tractions = tractions(&surface);
    let loads = Loads {
        tractions: &tractions,
        density: 1.0,
        gravity: DVec3::ZERO,
        spin: DVec3::ZERO,
        balance: Balance::Inertia,
    };
    let (solution, spent) = timed(|| solver.solve(&loads, &mut Recycled::default()));
    let solution = solution?;
    put(&mut row, "solve", spent);
    row.insert("iterations".to_owned(), json!(solution.found().iterations));
    row.insert("residual".to_owned(), json!(solution.found().residual));
    measure_inside(&mut row, mesh, &solution, arguments.points);
    if surface.len() as f64 <= arguments.matrix {
        let (dense, spent) = timed(|| cullet::bem::dense::Dense::new(&basis, elastic));
        put(&mut row, "matrix_build", spent);
        time_products(&mut row, "matrix_product", &dense, &u, arguments.products);
        let solver = Solver::new(&basis, elastic, Box::new(dense), None);
        let (solution, spent) = timed(|| solver.solve(&loads, &mut Recycled::default()));
        put(&mut row, "matrix_solve", spent);
        let iterations = solution?.found().iterations;
        row.insert("matrix_iterations".to_owned(), json!(iterations));
    }
    Ok(row)
}

/// Coordinates about the centre of mass, relative to the body's size.
fn scaled_position(surface: &Surface, x: DVec3) -> DVec3 {
    (x - surface.mass.centre) / surface.area.sqrt()
}

fn displacements(basis: &Basis) -> Vec<[f64; 3]> {
    let at = |x: &DVec3| {
        let x = scaled_position(basis.surface, *x);
        [(3.0 * x.x).sin() * x.y, x.z * x.z, x.x * x.y + x.z]
    };
    basis.places.iter().map(at).collect()
}

/// Tractions that twist and squeeze the body.
fn tractions(surface: &Surface) -> Vec<DVec3> {
    let places = surface.centroids.iter().zip(&surface.normals);
    let at = |(x, n): (&DVec3, &DVec3)| {
        let x = scaled_position(surface, *x);
        DVec3::Z.cross(x) * x.z + *n * x.x * x.x
    };
    places.map(at).collect()
}

/// Times `count` products; returns the last one.
fn time_products(
    row: &mut Map<String, Value>,
    what: &str,
    layers: &dyn Layers,
    u: &[[f64; 3]],
    count: u32,
) -> Vec<[f64; 3]> {
    let mut y = vec![[0.0; 3]; u.len()];
    // Processor time has a resolution of a hundredth of a second: take the mean of all products.
    let (best, [_, cpu]) = timed(|| {
        let clocks = (0..count).map(|_| timed(|| layers.times(u, &mut y)).1[0]);
        clocks.flatten().fold(f64::INFINITY, f64::min)
    });
    put(
        row,
        what,
        [Some(best), cpu.map(|cpu| cpu / f64::from(count))],
    );
    y
}

/// Relative L2 error at a sample of nodes, against exact integrals over all panels.
fn product_error(basis: &Basis, elastic: Elastic, u: &[[f64; 3]], y: &[[f64; 3]]) -> f64 {
    let (mut wrong, mut size) = (0.0, 0.0);
    for node in (0..u.len()).step_by(u.len().div_ceil(NODE_SAMPLE)) {
        let own = Vec3::from_f64(u[node]);
        let mut exact = Vec3::zero();
        for t in 0..basis.surface.len() {
            let double = double_layer(basis, elastic.poisson, node, t);
            for (other, block) in basis.of_panel(t).iter().zip(double.nodes) {
                exact = exact + block.times(Vec3::from_f64(u[*other as usize]));
            }
            exact = exact - own * double.harmonic;
        }
        let off = exact - Vec3::from_f64(y[node]);
        wrong += off.dot(off);
        size += exact.dot(exact);
    }
    (wrong / size).sqrt()
}

/// Times displacement gradients at interior points, and compares some of them with exact sums.
fn measure_inside(row: &mut Map<String, Value>, mesh: &TriMesh, solution: &Solution, count: usize) {
    let Some((low, high)) = mesh.bounds() else {
        return;
    };
    let winding = Winding::new(mesh);
    let place = |k: usize| {
        let scattered = [0.754_877, 0.569_840, 0.381_966].map(|f| ((k as f64 + 1.0) * f).fract());
        low + (high - low) * DVec3::from(scattered)
    };
    let places = (0..).map(place).filter(|x| winding.contains(*x));
    let points: Vec<DVec3> = places.take(count).collect();
    let (fast, spent) = timed(|| solution.inside(&points));
    put(row, "inside", spent);
    let some = &points[..count.min(INTERIOR_SAMPLE)];
    let (exact, spent) = timed(|| solution.inside(some));
    put(row, "inside_exact_at_100", spent);
    let pairs = fast.iter().zip(&exact);
    let norm = |m: glam::DMat3| m.to_cols_array().iter().map(|v| v * v).sum::<f64>();
    let wrong: f64 = pairs.map(|(a, b)| norm(a.gradient - b.gradient)).sum();
    let size: f64 = exact.iter().map(|b| norm(b.gradient)).sum();
    row.insert("inside_error".to_owned(), json!((wrong / size).sqrt()));
}
