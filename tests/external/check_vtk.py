"""Reads exports/vtk with VTK: every frame of every collection; values equal the tables, surfaces are closed."""

import xml.etree.ElementTree as tree

from common import need, run

np, parquet, io, core, convert = need(
    "numpy",
    "pyarrow.parquet",
    "vtkmodules.vtkIOXML",
    "vtkmodules.vtkFiltersCore",
    "vtkmodules.util.numpy_support",
)


def collection(folder, kind):
    """(time, file) of each frame of one kind."""
    [pvd] = folder.glob(f"*.{kind}.pvd")
    sets = tree.parse(pvd).getroot().findall("./Collection/DataSet")
    assert sets, f"{pvd.name} is empty"
    return [(float(entry.get("timestep")), folder / entry.get("file")) for entry in sets]


def load(file):
    reader = io.vtkXMLPolyDataReader()
    reader.SetFileName(str(file))
    reader.Update()
    assert reader.GetErrorCode() == 0, f"{file.name}: VTK's error {reader.GetErrorCode()}"
    return reader.GetOutput()


def arrays(data):
    return {
        data.GetArrayName(k): convert.vtk_to_numpy(data.GetArray(k)) for k in range(data.GetNumberOfArrays())
    }


def check(store):
    folder = store / "exports" / "vtk"
    frames = sorted((store / "frames").glob("*.parquet"))
    bonds = parquet.read_table(store / "packing" / "bonds.parquet").num_rows
    broken, triangles = 0, 0
    kinds = {kind: collection(folder, kind) for kind in ["elements", "bonds", "breaks", "surfaces"]}
    for kind, files in kinds.items():
        assert len(files) == len(frames), f"{kind}: {len(files)} files, {len(frames)} frames"
    for at, path in enumerate(frames):
        table = parquet.read_table(path).to_pydict()
        assert all(files[at][0] == table["time"][0] for files in kinds.values()), f"{path.name}: times differ"

        elements = load(kinds["elements"][at][1])
        assert elements.GetNumberOfVerts() == len(table["id"])
        points = convert.vtk_to_numpy(elements.GetPoints().GetData())
        assert (points == np.column_stack([table[k] for k in "xyz"]).astype(np.float32)).all()
        held = arrays(elements.GetPointData())
        for name, columns in {
            "velocity": ["vx", "vy", "vz"],
            "rotation": ["qx", "qy", "qz", "qw"],
            "spin": ["wx", "wy", "wz"],
        }.items():
            assert (held[name] == np.column_stack([table[k] for k in columns]).astype(np.float32)).all(), name
        for name in ["id", "fragment", "sigma", "tau", "broken"]:
            assert (held[name] == np.array(table[name], held[name].dtype)).all(), name

        breaks = load(kinds["breaks"][at][1])
        broken += breaks.GetNumberOfVerts()
        lines = load(kinds["bonds"][at][1])
        assert lines.GetNumberOfLines() == bonds - broken, f"{path.name}: whole bonds"
        strain = arrays(lines.GetCellData())["strain"]
        assert np.isfinite(strain).all() and abs(strain).max() < 0.5

        surface = load(kinds["surfaces"][at][1])
        triangles += surface.GetNumberOfPolys()
        # Fragments share no vertex: if all of them are closed, the file is.
        edges = core.vtkFeatureEdges()
        edges.SetInputData(surface)
        edges.FeatureEdgesOff()
        edges.ManifoldEdgesOff()
        edges.Update()
        assert edges.GetOutput().GetNumberOfCells() == 0, f"{path.name}: open or shared edges"
        cells = arrays(surface.GetCellData())
        assert set(np.unique(cells["fragment"])) == set(table["fragment"]), f"{path.name}: fragments"
        assert {"Normals", "velocity", "rest", "sigma", "fragment"} <= set(arrays(surface.GetPointData()))
    assert broken > 0, "nothing broke"
    return f"vtk: {len(frames)} frames, {broken} of {bonds} bonds broken, {triangles} triangles"


run(check)
