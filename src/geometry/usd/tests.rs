//! Stages written by hand, whole and damaged.

use std::path::Path;

use glam::DVec3;

use super::*;

fn read(text: &str) -> Result<ParsedFile, String> {
    let source = FormatSource {
        bytes: text.as_bytes(),
        path: Path::new("folder/scene.usda"),
    };
    parse(&source).map_err(|fault| match fault.line {
        Some(line) => format!("{line}: {}", fault.what),
        None => fault.what,
    })
}

const STAGE: &str = r#"#usda 1.0
(
    defaultPrim = "World"
    doc = """Two
lines"""
    metersPerUnit = 0.01
    upAxis = "Z"
)

def Xform "World" (
    kind = "component"
    prepend apiSchemas = ["SkelBindingAPI"]
)
{
    double3 xformOp:translate = (0, 0, 5)
    float3 xformOp:rotateXYZ:turn.timeSamples = {
        0: (0, 0, 90),
        1: (1, 2, 3),
    }
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ:turn"]

    def Mesh "L" ( active = true )
    {
        uniform bool doubleSided = 1
        rel material:binding = </World/Red> ( doc = "x" )
        int[] faceVertexCounts = [6]
        int[] faceVertexIndices = [0, 1, 2, 3, 4, 5]
        point3f[] points = [(0, 0, 0), (3, 0, 0), (3, 1, 0), # a remark
            (1, 1, 0), (1, 2, 0), (0, 2, 0)] (
            interpolation = "vertex"
        )
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 0.5)] (
            interpolation = "faceVarying"
        )
        int[] primvars:st:indices = [0, 1, 2, 2, 1, 0]
        float3 xformOp:scale = (-1, 1, 1)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }

    def Mesh "left"
    {
        uniform token orientation = "leftHanded"
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        texCoord2f[] primvars:UVMap = [(0, 0), (1, 0), (1, 0.5)] (interpolation = "vertex")
    }

    def Mesh "hidden"
    {
        token visibility = "invisible"
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
    }

    def Material "Red"
    {
        token outputs:surface.connect = </World/Red/Surface.outputs:surface>
        def Shader "Surface" { asset inputs:file = @a.png@ }
    }
}

class Mesh "abstract"
{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
}
"#;

#[test]
fn meshes_are_placed_and_keep_their_texture() {
    let parsed = read(STAGE).unwrap();
    assert_eq!(parsed.names, ["L", "left"]);
    assert_eq!(parsed.object_of, [0, 0, 0, 0, 1]);
    assert_eq!(
        (parsed.metres_per_unit, parsed.up),
        (Some(0.01), Some(UpAxis::Z))
    );
    let mesh = &parsed.mesh;
    let far = mesh.positions[2];
    assert!(
        (far - DVec3::new(-1.0, -3.0, 5.0)).length() < 1e-12,
        "{far}"
    );
    let area = |t: usize| {
        let [a, b, c] = mesh.corners(t);
        (b - a).cross(c - a).z / 2.0
    };
    // The L is mirrored, so its winding is turned: it still looks along z.
    assert!((0..4).all(|t| area(t) > 0.1));
    assert!(((0..4).map(area).sum::<f64>() - 4.0).abs() < 1e-12);
    // Left-handed: looks against z.
    assert!((area(4) + 0.5).abs() < 1e-12);
    assert_eq!(mesh.uv[4], [[0.0, 0.0], [1.0, 0.5], [1.0, 0.0]]);
    let texture = [
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.5],
        [1.0, 0.5],
        [1.0, 0.0],
        [0.0, 0.0],
    ];
    for (triangle, uv) in mesh.triangles[..4].iter().zip(&mesh.uv) {
        assert_eq!(triangle.map(|vertex| texture[vertex as usize]), *uv);
    }
}

#[test]
fn faces_have_colours_and_the_materials_of_their_subsets() {
    let text = r#"#usda 1.0
def Mesh "wall" (prepend apiSchemas = ["MaterialBindingAPI"])
{
    int[] faceVertexCounts = [4, 3]
    int[] faceVertexIndices = [0, 1, 2, 3, 0, 2, 3]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    color3f[] primvars:displayColor = [(1, 0, 0), (0, 0.5, 0)] (interpolation = "uniform")
    rel material:binding = </World/Looks/brick>

    def GeomSubset "spots" (prepend apiSchemas = ["MaterialBindingAPI"])
    {
        uniform token elementType = "face"
        uniform token familyName = "materialBind"
        int[] indices = [1]
        rel material:binding = </World/Looks/moss>
    }
    def GeomSubset "points"
    {
        uniform token elementType = "point"
        int[] indices = [3]
        rel material:binding = </World/Looks/none>
    }
}
def Mesh "bare"
{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
}
"#;
    let paint = read(text).unwrap().mesh.paint;
    assert_eq!(paint.names, ["brick", "moss"]);
    assert_eq!(paint.materials, [0, 0, 1, u32::MAX]);
    let [red, green, white] = [[1.0, 0.0, 0.0], [0.0, 0.5, 0.0], [1.0; 3]].map(|c| [c; 3]);
    assert_eq!(paint.colours, [red, red, green, white]);
    let outside = read(&text.replace("indices = [1]", "indices = [2]")).unwrap_err();
    assert!(
        outside.contains("subset has the face 2; there are 2"),
        "{outside}"
    );
}

#[test]
fn operations_follow_their_order() {
    let mesh = "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\n\
        point3f[] points = [(1, 2, 3), (1, 0, 0), (0, 1, 0)]\n";
    let placed = |operations: &[(&str, &str)], inverse: &str| {
        let values: String = operations
            .iter()
            .map(|(name, value)| format!("double3 xformOp:{name} = {value}\n"))
            .collect();
        let order: Vec<String> = operations
            .iter()
            .map(|(name, _)| format!("\"xformOp:{name}\""))
            .collect();
        let order = order.join(", ");
        let text = format!(
            "#usda 1.0\ndef Mesh \"m\"\n{{\n{mesh}{values}uniform token[] xformOpOrder = [{order}{inverse}]\n}}\n"
        );
        read(&text).unwrap().mesh.positions[0]
    };
    let near =
        |a: DVec3, b: [f64; 3]| assert!((a - DVec3::from_array(b)).length() < 1e-12, "{a} {b:?}");
    near(
        placed(&[("translate", "(1, 0, 0)"), ("scale", "(2, 2, 2)")], ""),
        [3.0, 4.0, 6.0],
    );
    // First about x: (1, -3, 2); then about y: (2, -3, -1); then about z: (3, 2, -1).
    near(
        placed(&[("rotateXYZ", "(90, 90, 90)")], ""),
        [3.0, 2.0, -1.0],
    );
    near(
        placed(&[("orient", "(0.5, 0.5, 0.5, 0.5)")], ""),
        [3.0, 1.0, 2.0],
    );
    let matrix = "( (0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (7, 8, 9, 1) )";
    near(placed(&[("transform", matrix)], ""), [5.0, 9.0, 12.0]);
    let pivot = [("translate:pivot", "(1, 2, 3)"), ("rotateZ", "45")];
    near(
        placed(&pivot, ", \"!invert!xformOp:translate:pivot\""),
        [1.0, 2.0, 3.0],
    );
}

#[test]
fn what_is_not_read_is_named() {
    let changed = |from: &str, to: &str| {
        assert!(STAGE.contains(from));
        read(&STAGE.replacen(from, to, 1)).unwrap_err()
    };
    let error = changed("kind = \"component\"", "prepend references = @a.usda@</A>");
    assert!(
        error.contains("11: /World has references")
            && error.contains("usdcat --flatten scene.usda"),
        "{error}"
    );
    let error = changed("upAxis = \"Z\"", "subLayers = [@a.usda@]");
    assert!(error.contains("the stage has subLayers"), "{error}");
    let error = changed(
        "def Material \"Red\"\n",
        "variantSet \"v\" = { \"a\" { } }\n def Material \"Red\"\n",
    );
    assert!(error.contains("/World has variants"), "{error}");
    assert!(changed("def Material", "def PointInstancer").contains("PointInstancer"));
    assert!(changed("upAxis = \"Z\"", "upAxis = \"X\"").contains("upAxis is \"X\""));
    assert!(
        changed("[0, 1, 2, 3, 4, 5]", "[0, 1, 2, 3, 4, 6]")
            .contains("/World/L: a face uses point 6; there are 6")
    );
    assert!(changed("= [6]", "= [7]").contains("faceVertexCounts"));
    assert!(changed("= [6]", "= [1e300]").contains("faceVertexCounts"));
    assert!(
        changed("(3, 1, 0), #", "(3, 1, nan), #").contains("point 2: a coordinate is not finite")
    );
    assert!(changed("[0, 1, 2, 2, 1, 0]", "[0, 1]").contains("no value for corner"));
    assert!(changed("metersPerUnit = 0.01", "metersPerUnit = -1").contains("metersPerUnit is -1"));
    let deep = format!("#usda 1.0\n{}", "def \"a\" {\n".repeat(10_000));
    assert!(read(&deep).unwrap_err().contains("nested deeper than 200"));
    for bytes in [&b"PXR-USDC\0\0"[..], b"PK\x03\x04"] {
        let path = Path::new("scene.usdc");
        let error = parse(&FormatSource { bytes, path }).unwrap_err().what;
        assert!(
            error.contains("usdcat --flatten scene.usdc -o scene.usda"),
            "{error}"
        );
    }
}

#[test]
fn damaged_files_give_messages() {
    let whole = STAGE.as_bytes();
    let last = STAGE.trim_end().len();
    for length in 0..last {
        let source = FormatSource {
            bytes: &whole[..length],
            path: Path::new("scene.usda"),
        };
        // What ends between two prims is a whole file.
        if let Ok(parsed) = parse(&source) {
            assert!(parsed.mesh.positions.len() % 9 == 0, "{length} bytes");
        }
    }
    for at in 0..whole.len() {
        for value in [b'0', b'{', b'}', b'(', b'"', b'\n', b' ', 0xc3] {
            let mut changed = whole.to_vec();
            changed[at] = value;
            let source = FormatSource {
                bytes: &changed,
                path: Path::new("scene.usda"),
            };
            if let Ok(parsed) = parse(&source) {
                assert!(parsed.mesh.positions.iter().all(|p| p.is_finite()));
                assert_eq!(parsed.object_of.len(), parsed.mesh.triangles.len());
            }
        }
    }
}
