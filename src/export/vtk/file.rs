//! VTK's XML files of polygonal data: an XML header, then raw binary data (`AppendedData`, little-endian).

use std::fmt::Write;

/// A number type of VTK arrays.
pub trait VtkNumber: Copy {
    /// VTK's name of the type.
    const TYPE: &'static str;
    /// Appends its bytes, little-endian.
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($number:ty = $name:literal),*) => {$(
        impl VtkNumber for $number {
            const TYPE: &'static str = $name;
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
numbers!(
    f32 = "Float32",
    f64 = "Float64",
    u8 = "UInt8",
    u32 = "UInt32",
    i64 = "Int64"
);

/// Kind of cells that the points form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A vertex for each point.
    Verts,
    /// Pairs of points.
    Lines,
    /// Triangles.
    Polys,
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            CellKind::Verts => "Verts",
            CellKind::Lines => "Lines",
            CellKind::Polys => "Polys",
        }
    }
}

/// A polygonal data file under construction.
pub struct PolyData {
    time: f64,
    /// Number of points.
    points: usize,
    kind: CellKind,
    /// Number of cells.
    cells: usize,
    /// XML of the points and cells.
    geometry: String,
    /// XML of the arrays per point.
    point_arrays: String,
    /// XML of the arrays per cell.
    cell_arrays: String,
    /// Binary data of all arrays.
    data: Vec<u8>,
}

impl PolyData {
    /// A file with points and cells of `N` points each, at a time in seconds.
    pub fn new<const N: usize>(
        time: f64,
        points: &[[f32; 3]],
        kind: CellKind,
        cells: impl ExactSizeIterator<Item = [u32; N]>,
    ) -> Self {
        let mut file = PolyData {
            time,
            points: points.len(),
            kind,
            cells: cells.len(),
            geometry: String::new(),
            point_arrays: String::new(),
            cell_arrays: String::new(),
            data: Vec::new(),
        };
        let mut xml = String::new();
        add_array(
            &mut xml,
            &mut file.data,
            "Points",
            3,
            points.as_flattened().iter().copied(),
        );
        let _ = write!(file.geometry, "<Points>{xml}</Points>");
        xml.clear();
        let count = cells.len();
        let corners = cells.flat_map(|cell| cell.map(i64::from));
        add_array(&mut xml, &mut file.data, "connectivity", 1, corners);
        let ends = (1..=count).map(|cell| (N * cell) as i64);
        add_array(&mut xml, &mut file.data, "offsets", 1, ends);
        let name = kind.name();
        let _ = write!(file.geometry, "<{name}>{xml}</{name}>");
        file
    }

    /// Adds an array with `components` values per point.
    pub fn add_point_array<T: VtkNumber>(
        &mut self,
        name: &str,
        components: usize,
        values: impl IntoIterator<Item = T>,
    ) {
        add_array(
            &mut self.point_arrays,
            &mut self.data,
            name,
            components,
            values,
        );
    }

    /// Adds an array with `components` values per cell.
    pub fn add_cell_array<T: VtkNumber>(
        &mut self,
        name: &str,
        components: usize,
        values: impl IntoIterator<Item = T>,
    ) {
        add_array(
            &mut self.cell_arrays,
            &mut self.data,
            name,
            components,
            values,
        );
    }

    /// Adds an array with one value per cell.
    pub fn add_cell_scalars<T: VtkNumber>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) {
        add_array(&mut self.cell_arrays, &mut self.data, name, 1, values);
    }

    /// Contents of the file, as parts to be concatenated.
    pub fn finish(self) -> Vec<Vec<u8>> {
        let count = |kind: CellKind| if kind == self.kind { self.cells } else { 0 };
        let head = format!(
            "<?xml version=\"1.0\"?>\n\
             <VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n\
             <PolyData>\n\
             <FieldData><DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">{}</DataArray></FieldData>\n\
             <Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" NumberOfStrips=\"0\" NumberOfPolys=\"{}\">\n\
             {}\n<PointData>{}</PointData>\n<CellData>{}</CellData>\n\
             </Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_",
            self.time,
            self.points,
            count(CellKind::Verts),
            count(CellKind::Lines),
            count(CellKind::Polys),
            self.geometry,
            self.point_arrays,
            self.cell_arrays,
        );
        let tail = "\n</AppendedData>\n</VTKFile>\n";
        vec![head.into_bytes(), self.data, tail.into()]
    }
}

/// Declares an array in the XML and appends its size in bytes and its bytes to the data.
fn add_array<T: VtkNumber>(
    xml: &mut String,
    data: &mut Vec<u8>,
    name: &str,
    components: usize,
    values: impl IntoIterator<Item = T>,
) {
    let offset = data.len();
    let _ = write!(
        xml,
        "<DataArray type=\"{}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{offset}\"/>",
        T::TYPE
    );
    let first = offset + size_of::<u64>();
    data.resize(first, 0);
    values.into_iter().for_each(|value| value.put(data));
    let bytes = (data.len() - first) as u64;
    data[offset..first].copy_from_slice(&bytes.to_le_bytes());
}

/// Contents of a `.pvd` collection: files and the time at which each is shown.
pub fn collection<'a>(files: impl Iterator<Item = (f64, &'a str)>) -> String {
    let mut text = "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n".to_owned();
    for (time, file) in files {
        let _ = writeln!(
            text,
            "<DataSet timestep=\"{time}\" part=\"0\" file=\"{file}\"/>"
        );
    }
    text + "</Collection>\n</VTKFile>\n"
}
