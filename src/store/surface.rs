//! `meshes/NNNNNN.rkyv`: the surfaces of a frame. A 16-byte header, then a validated rkyv archive.

use rkyv::with::Skip;
use rkyv::{Archive, Deserialize, Serialize, rancor};

use super::archive;
use super::error::{Result, StoreError};
use super::folder::Store;

/// The closed surface of a fragment: its range in the arrays of a [`SurfaceFrame`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Archive, Serialize, Deserialize)]
pub struct FragmentRange {
    /// Index of the body.
    pub body: u32,
    /// Label of the fragment.
    pub fragment: u32,
    /// First vertex.
    pub first_vertex: u32,
    /// Number of vertices.
    pub vertices: u32,
    /// First triangle.
    pub first_triangle: u32,
    /// Number of triangles.
    pub triangles: u32,
}

/// The surfaces of a frame, flat arrays with one [`FragmentRange`] per fragment, ordered by (body, fragment).
#[derive(Clone, Debug, Default, PartialEq, Archive, Serialize, Deserialize)]
pub struct SurfaceFrame {
    /// Frame number.
    pub frame: u32,
    /// Simulated time, s.
    pub time: f64,
    /// Vertex positions, m.
    pub positions: Vec<[f32; 3]>,
    /// Unit vertex normals, outward.
    pub normals: Vec<[f32; 3]>,
    /// Vertex velocities, m/s.
    pub velocities: Vec<[f32; 3]>,
    /// Vertex positions at rest, m.
    pub rest_positions: Vec<[f32; 3]>,
    /// Largest normal stress of the bonds near each vertex, Pa.
    pub stress: Vec<f32>,
    /// Texture coordinates of each triangle's corners, v from the bottom of the image. Empty if no body has any; zeros
    /// for bodies without.
    pub uv: Vec<[[f32; 2]; 3]>,
    /// Colours of each triangle's corners: red, green and blue as in the file of the mesh. Empty if no body has any;
    /// white for crack faces and for bodies without.
    pub colours: Vec<[[f32; 3]; 3]>,
    /// Number of each triangle's material in `material_names`; `u32::MAX` for crack faces and for bodies without.
    /// Empty if no body has any.
    pub materials: Vec<u32>,
    /// Names of the materials, all different.
    pub material_names: Vec<String>,
    /// Vertex indices of each triangle, into the arrays of the whole frame, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// For each triangle: 1 on a crack face, 0 on the skin of the body.
    pub inside: Vec<u8>,
    /// Groups of each triangle's corners: those at a vertex that have the same number have one normal. Empty if angles
    /// between triangles say where edges are. Not stored.
    #[rkyv(with = Skip)]
    pub smooth: Vec<[u32; 3]>,
    /// Ranges of the fragments.
    pub pieces: Vec<FragmentRange>,
}

const MAGIC: &[u8; 8] = b"culletm2";
/// Magic of files without colours and materials, which are still read.
const PLAIN_MAGIC: &[u8; 8] = b"culletsf";

/// The surfaces of a frame as they were stored before they had colours and materials.
#[derive(Archive, Deserialize)]
struct PlainSurfaceFrame {
    frame: u32,
    time: f64,
    positions: Vec<[f32; 3]>,
    normals: Vec<[f32; 3]>,
    velocities: Vec<[f32; 3]>,
    rest_positions: Vec<[f32; 3]>,
    stress: Vec<f32>,
    uv: Vec<[[f32; 2]; 3]>,
    triangles: Vec<[u32; 3]>,
    inside: Vec<u8>,
    pieces: Vec<FragmentRange>,
}

impl From<PlainSurfaceFrame> for SurfaceFrame {
    fn from(plain: PlainSurfaceFrame) -> Self {
        SurfaceFrame {
            frame: plain.frame,
            time: plain.time,
            positions: plain.positions,
            normals: plain.normals,
            velocities: plain.velocities,
            rest_positions: plain.rest_positions,
            stress: plain.stress,
            uv: plain.uv,
            triangles: plain.triangles,
            inside: plain.inside,
            pieces: plain.pieces,
            ..SurfaceFrame::default()
        }
    }
}

impl SurfaceFrame {
    /// Writes `meshes/NNNNNN.rkyv`.
    pub fn write(&self, store: &Store) -> Result<()> {
        let path = store.numbered("meshes", self.frame, "rkyv");
        archive::write(&path, MAGIC, self)
    }

    /// Reads and validates `meshes/NNNNNN.rkyv`.
    pub fn read(store: &Store, frame: u32) -> Result<Self> {
        let path = store.numbered("meshes", frame, "rkyv");
        let path = store.checked(path, "reconstruct")?;
        let (kind, bytes) = archive::read_one_of(&path, &[MAGIC, PLAIN_MAGIC])?;
        let surface = match kind {
            0 => rkyv::from_bytes::<Self, rancor::Error>(&bytes),
            _ => rkyv::from_bytes::<PlainSurfaceFrame, rancor::Error>(&bytes).map(Self::from),
        };
        let surface = surface.map_err(|error| StoreError::damaged(&path, error))?;
        surface
            .check()
            .map_err(|what| StoreError::damaged(&path, what))?;
        Ok(surface)
    }

    /// Triangles of a fragment, with vertex indices that count from the fragment's first vertex.
    pub fn local_triangles(&self, piece: &FragmentRange) -> impl Iterator<Item = [u32; 3]> + '_ {
        let (first, base) = (piece.first_triangle as usize, piece.first_vertex);
        self.triangles[first..first + piece.triangles as usize]
            .iter()
            .map(move |triangle| triangle.map(|vertex| vertex - base))
    }

    /// Range of a fragment's vertices.
    pub fn vertex_range(&self, piece: &FragmentRange) -> std::ops::Range<usize> {
        let first = piece.first_vertex as usize;
        first..first + piece.vertices as usize
    }

    /// Texture coordinates of a fragment's triangles; empty if the frame has none.
    pub fn uv_of(&self, piece: &FragmentRange) -> &[[[f32; 2]; 3]] {
        self.uv.get(self.triangle_range(piece)).unwrap_or_default()
    }

    /// Colours of a fragment's triangles; empty if the frame has none.
    pub fn colours_of(&self, piece: &FragmentRange) -> &[[[f32; 3]; 3]] {
        self.colours
            .get(self.triangle_range(piece))
            .unwrap_or_default()
    }

    /// Texture coordinates and colours of a fragment's triangles; empty if the frame has neither.
    pub fn attributes_of(&self, piece: &FragmentRange) -> Vec<[[f32; 5]; 3]> {
        let (uv, colours) = (self.uv_of(piece), self.colours_of(piece));
        let count = uv.len().max(colours.len());
        let corner = |t: usize, m: usize| {
            let [u, v] = uv.get(t).map_or([0.0; 2], |uv| uv[m]);
            let [r, g, b] = colours.get(t).map_or([1.0; 3], |colours| colours[m]);
            [u, v, r, g, b]
        };
        let corners = (0..count).map(|t| [0, 1, 2].map(|m| corner(t, m)));
        corners.collect()
    }

    /// Name of a triangle's material, if it has one.
    pub fn material_of(&self, triangle: usize) -> Option<&str> {
        let number = *self.materials.get(triangle)?;
        self.material_names
            .get(number as usize)
            .map(|name| &name[..])
    }

    /// Range of a fragment's triangles.
    pub fn triangle_range(&self, piece: &FragmentRange) -> std::ops::Range<usize> {
        let first = piece.first_triangle as usize;
        first..first + piece.triangles as usize
    }

    /// Checks that lengths and indices agree.
    fn check(&self) -> std::result::Result<(), String> {
        let vertices = self.positions.len();
        let lengths = [
            ("normals", self.normals.len(), vertices),
            ("velocities", self.velocities.len(), vertices),
            ("rest_positions", self.rest_positions.len(), vertices),
            ("stress", self.stress.len(), vertices),
            ("inside", self.inside.len(), self.triangles.len()),
        ];
        for (name, found, expected) in lengths {
            if found != expected {
                return Err(format!("{name} has {found} entries, expected {expected}"));
            }
        }
        let expected = self.triangles.len();
        for (name, found) in [
            ("uv", self.uv.len()),
            ("colours", self.colours.len()),
            ("materials", self.materials.len()),
            ("smooth", self.smooth.len()),
        ] {
            if found != 0 && found != expected {
                return Err(format!("{name} has {found} entries, expected {expected}"));
            }
        }
        let names = self.material_names.len() as u32;
        let is_known = |&number: &u32| number < names || number == u32::MAX;
        if let Some(number) = self.materials.iter().find(|number| !is_known(number)) {
            return Err(format!("material {number} has no name; {names} are named"));
        }
        let (mut next_vertex, mut next_triangle) = (0, 0);
        for piece in &self.pieces {
            let in_bounds = piece.first_vertex as u64 + piece.vertices as u64 <= vertices as u64
                && piece.first_triangle as u64 + piece.triangles as u64
                    <= self.triangles.len() as u64;
            let range = piece.first_vertex..piece.first_vertex.saturating_add(piece.vertices);
            if !in_bounds
                || !self.triangles[self.triangle_range(piece)]
                    .as_flattened()
                    .iter()
                    .all(|vertex| range.contains(vertex))
            {
                return Err(format!(
                    "fragment {} points outside the arrays",
                    piece.fragment
                ));
            }
            if piece.first_vertex < next_vertex || piece.first_triangle < next_triangle {
                return Err(format!(
                    "fragment {} shares vertices or triangles with the one before",
                    piece.fragment
                ));
            }
            next_vertex = piece.first_vertex + piece.vertices;
            next_triangle = piece.first_triangle + piece.triangles;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_that_share_their_arrays_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let piece = FragmentRange {
            body: 0,
            fragment: 4,
            first_vertex: 0,
            vertices: 3,
            first_triangle: 0,
            triangles: 1,
        };
        let corners = vec![[0.0; 3]; 3];
        let mut surface = SurfaceFrame {
            positions: corners.clone(),
            normals: corners.clone(),
            velocities: corners.clone(),
            rest_positions: corners,
            stress: vec![0.0; 3],
            triangles: vec![[0, 1, 2]],
            inside: vec![0],
            pieces: vec![piece],
            ..SurfaceFrame::default()
        };
        surface.write(&store).unwrap();
        assert_eq!(SurfaceFrame::read(&store, 0).unwrap(), surface);
        surface.pieces.push(piece);
        surface.write(&store).unwrap();
        let message = SurfaceFrame::read(&store, 0).unwrap_err().to_string();
        assert!(
            message.ends_with("fragment 4 shares vertices or triangles with the one before"),
            "{message}"
        );
    }
}
