//! Requirements on the surfaces of a frame.

use std::collections::BTreeMap;

use cullet::columns::Elements;
use cullet::geometry::TriMesh;
use cullet::reconstruct::fragments::DUST_RADIUS;
use cullet::reconstruct::surface::rigged::{DebrisElement, RiggedSurface};
use cullet::store::SurfaceFrame;
use glam::DVec3;

/// Allowed relative difference between the volume of all fragments at rest and that of the body: both faces
/// of a crack are one sheet, except where it ends at the skin.
pub const VOLUME: f64 = 2e-3;
/// Largest number of elements of a fragment that may be too small for the grid, and is then drawn as chips.
pub const DUST: u32 = 4;
/// Largest number of elements of a fragment that is compared with chips.
const MOST_CHIPS: usize = 50;

/// Defects of the surfaces of a frame, one line each.
pub struct Findings {
    pub lines: Vec<String>,
    /// Volume of the fragments that are not drawn as chips, m³.
    pub volume: f64,
    /// Number of elements of the largest fragment drawn as chips.
    pub dust: u32,
}

/// Checks all pieces of a frame of one body. If `rest`, volumes are computed from rest positions, where
/// surfaces are made, otherwise from current positions.
pub fn check(surface: &SurfaceFrame, elements: &Elements, labels: &[u32], rest: bool) -> Findings {
    let mut findings = Findings {
        lines: Vec::new(),
        volume: 0.0,
        dust: 0,
    };
    let mut members: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (row, &label) in (0..).zip(labels) {
        members.entry(label).or_default().push(row);
    }
    let found: Vec<u32> = surface.pieces.iter().map(|piece| piece.fragment).collect();
    if !found.iter().eq(members.keys()) {
        let line = format!("{} pieces for {} fragments", found.len(), members.len());
        findings.lines.push(line);
    }
    let columns = [
        &surface.positions,
        &surface.rest_positions,
        &surface.velocities,
        &surface.normals,
    ];
    if columns
        .iter()
        .any(|column| column.len() != surface.positions.len())
    {
        findings.lines.push("columns of different lengths".into());
        return findings;
    }
    if columns
        .into_iter()
        .flatten()
        .flatten()
        .chain(&surface.stress)
        .any(|x| !x.is_finite())
    {
        findings.lines.push("a vertex is not finite".into());
    }
    let length = |n: &[f32; 3]| DVec3::from(n.map(f64::from)).length();
    if surface
        .normals
        .iter()
        .any(|n| (length(n) - 1.0).abs() > 1e-3)
    {
        findings.lines.push("a normal is not a unit vector".into());
    }
    let positions = if rest {
        &surface.rest_positions
    } else {
        &surface.positions
    };
    for piece in &surface.pieces {
        let vertices = positions[surface.vertex_range(piece)].iter();
        let mesh = TriMesh {
            positions: vertices.map(|p| DVec3::from(p.map(f64::from))).collect(),
            triangles: surface.local_triangles(piece).collect(),
            ..TriMesh::default()
        };
        let mut lines = defects(&mesh);
        let volume = mesh.volume();
        if volume <= 0.0 {
            lines.push(format!("volume {volume:.3e}"));
        }
        let own = members.get(&piece.fragment).map_or(&[][..], Vec::as_slice);
        let count = own.len() as u32;
        if are_chips(&mesh, elements, own) {
            findings.dust = findings.dust.max(count);
        } else {
            findings.volume += volume;
        }
        let of = |line: String| format!("fragment {} of {count} elements: {line}", piece.fragment);
        findings.lines.extend(lines.into_iter().map(of));
    }
    findings
}

/// Whether a piece consists of the chips of its elements `rows`, as for fragments too small for the grid.
fn are_chips(mesh: &TriMesh, elements: &Elements, rows: &[u32]) -> bool {
    if rows.is_empty() || rows.len() > MOST_CHIPS {
        return false;
    }
    let radius = elements.r.iter().sum::<f64>() / elements.r.len() as f64;
    let own: Vec<DebrisElement> = rows
        .iter()
        .map(|&row| {
            let e = row as usize;
            DebrisElement {
                row,
                centre: DVec3::new(elements.x[e], elements.y[e], elements.z[e]),
                radius: DUST_RADIUS * radius,
            }
        })
        .collect();
    let chips = RiggedSurface::chips(0, &own).rest_surface.mesh;
    let mut pairs = mesh.positions.iter().zip(&chips.positions);
    mesh.triangles == chips.triangles && pairs.all(|(a, b)| a.distance(*b) < 1e-3 * radius)
}

/// Defects of the triangles of a mesh.
pub fn defects(mesh: &TriMesh) -> Vec<String> {
    let mut lines = Vec::new();
    if mesh.triangles.is_empty() {
        return vec!["no triangle".into()];
    }
    // The triangles of each directed edge.
    let mut edges: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut twice = 0;
    for &[a, b, c] in &mesh.triangles {
        twice += u32::from(a == b || b == c || c == a);
        for edge in [(a, b), (b, c), (c, a)] {
            *edges.entry(edge).or_default() += 1;
        }
    }
    if twice > 0 {
        lines.push(format!("{twice} triangles have a corner twice"));
    }
    // How many triangles use an edge in each direction, and how many such edges there are.
    let mut wrong: BTreeMap<(u32, u32), (u32, DVec3)> = BTreeMap::new();
    for (&(a, b), &there) in &edges {
        let back = edges.get(&(b, a)).copied().unwrap_or(0);
        if (there, back) != (1, 1) && (a < b || back == 0) {
            let middle = (mesh.positions[a as usize] + mesh.positions[b as usize]) / 2.0;
            let entry = wrong.entry((there.min(back), there.max(back)));
            entry.or_insert((0, middle)).0 += 1;
        }
    }
    for ((fewer, more), (count, near)) in &wrong {
        lines.push(format!(
            "{count} edges with {fewer} triangles one way and {more} the other, near {near:.4}"
        ));
    }
    if wrong.is_empty() && twice == 0 {
        lines.extend(pinched_vertices(mesh));
    }
    lines
}

/// Vertices whose triangles do not form one fan. Requires that every edge has two triangles.
fn pinched_vertices(mesh: &TriMesh) -> Vec<String> {
    // For each vertex, the edges opposite to it.
    let mut opposite: Vec<Vec<(u32, u32)>> = vec![Vec::new(); mesh.positions.len()];
    for &[a, b, c] in &mesh.triangles {
        opposite[a as usize].push((b, c));
        opposite[b as usize].push((c, a));
        opposite[c as usize].push((a, b));
    }
    let mut lines = Vec::new();
    let unused = opposite.iter().filter(|edges| edges.is_empty()).count();
    if unused > 0 {
        lines.push(format!("{unused} vertices without a triangle"));
    }
    let (mut pinched, mut near) = (0, DVec3::ZERO);
    for (v, edges) in opposite
        .iter_mut()
        .enumerate()
        .filter(|(_, edges)| !edges.is_empty())
    {
        edges.sort_unstable();
        let first = edges[0].0;
        let (mut at, mut length) = (first, 0);
        loop {
            let next = edges.partition_point(|edge| edge.0 < at);
            at = edges[next].1;
            length += 1;
            if at == first {
                break;
            }
        }
        if length < edges.len() {
            (pinched, near) = (pinched + 1, mesh.positions[v]);
        }
    }
    if pinched > 0 {
        lines.push(format!("{pinched} vertices pinch two fans, near {near:.4}"));
    }
    lines
}
