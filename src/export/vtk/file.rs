//! VTK's XML files of polygonal data: a head in XML, then the numbers as they are (`AppendedData`, raw, little-endian).

use std::fmt::Write;

/// A number of a VTK array.
pub trait Number: Copy {
    /// VTK's name of the type.
    const TYPE: &'static str;
    /// Adds its bytes.
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($number:ty = $name:literal),*) => {$(
        impl Number for $number {
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

/// What the points are joined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// One vertex a point.
    Verts,
    /// Pairs of points.
    Lines,
    /// Triangles.
    Polys,
}

impl Cells {
    fn name(self) -> &'static str {
        match self {
            Cells::Verts => "Verts",
            Cells::Lines => "Lines",
            Cells::Polys => "Polys",
        }
    }
}

/// A file in the making.
pub struct PolyData {
    time: f64,
    points: usize,
    kind: Cells,
    cells: usize,
    geometry: String,
    of_points: String,
    of_cells: String,
    data: Vec<u8>,
}

impl PolyData {
    /// Points and what joins them, at a time in seconds: `N` points a cell.
    pub fn new<const N: usize>(
        time: f64,
        points: &[[f32; 3]],
        kind: Cells,
        cells: impl ExactSizeIterator<Item = [u32; N]>,
    ) -> Self {
        let mut file = PolyData {
            time,
            points: points.len(),
            kind,
            cells: cells.len(),
            geometry: String::new(),
            of_points: String::new(),
            of_cells: String::new(),
            data: Vec::new(),
        };
        let mut xml = String::new();
        array(
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
        array(&mut xml, &mut file.data, "connectivity", 1, corners);
        let ends = (1..=count).map(|cell| (N * cell) as i64);
        array(&mut xml, &mut file.data, "offsets", 1, ends);
        let name = kind.name();
        let _ = write!(file.geometry, "<{name}>{xml}</{name}>");
        file
    }

    /// An array of as many numbers a point as `components` says.
    pub fn point<T: Number>(
        &mut self,
        name: &str,
        components: usize,
        values: impl IntoIterator<Item = T>,
    ) {
        array(
            &mut self.of_points,
            &mut self.data,
            name,
            components,
            values,
        );
    }

    /// An array of as many numbers a cell as `components` says.
    pub fn cells_of<T: Number>(
        &mut self,
        name: &str,
        components: usize,
        values: impl IntoIterator<Item = T>,
    ) {
        array(&mut self.of_cells, &mut self.data, name, components, values);
    }

    /// An array of one number a cell.
    pub fn cell<T: Number>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        array(&mut self.of_cells, &mut self.data, name, 1, values);
    }

    /// The file, in parts.
    pub fn finish(self) -> Vec<Vec<u8>> {
        let count = |kind: Cells| if kind == self.kind { self.cells } else { 0 };
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
            count(Cells::Verts),
            count(Cells::Lines),
            count(Cells::Polys),
            self.geometry,
            self.of_points,
            self.of_cells,
        );
        let tail = "\n</AppendedData>\n</VTKFile>\n";
        vec![head.into_bytes(), self.data, tail.into()]
    }
}

/// Names an array in the head and puts its bytes, behind their number, at the end of the data.
fn array<T: Number>(
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

/// A collection (`.pvd`) of files and the times at which each is shown.
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
