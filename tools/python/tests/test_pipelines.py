"""Pipelines as files, dictionaries and dataclasses."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest

import cullet
from conftest import REPOSITORY
from cullet._table import to_toml
from cullet.spec import (
    Body,
    Collider,
    HalfSpaceColliderShape,
    HexagonalPackingSpec,
    Material,
    Pipeline,
    SphereBodyShape,
    Time,
)


def classes() -> Pipeline:
    return Pipeline(
        time=Time(end="4 ms", frames_per_second="1000 Hz"),
        material=[Material(name="gypsum", density=1100, young="1 GPa", poisson=0.2, tensile_strength="1 MPa")],
        body=[
            Body(
                name="ball",
                material="gypsum",
                shape=SphereBodyShape(radius="2 cm"),
                packing=HexagonalPackingSpec(elements=300),
                position=[0, "21 mm", 0],
                velocity=[0, "-4 m/s", 0],
            )
        ],
        collider=[Collider(name="floor", shape=HalfSpaceColliderShape(normal=[0, 1, 0]))],
    )


def test_a_dictionary_and_dataclasses_are_the_same_pipeline(ball):
    del ball["export"]
    checked = cullet.check(ball)
    assert checked["elements"] > 200
    assert cullet.check(classes()) | {"simulate_seconds": 0, "element_steps_per_second": 0} == checked | {
        "simulate_seconds": 0,
        "element_steps_per_second": 0,
    }


def test_toml_of_a_table_is_read_back():
    tomllib = pytest.importorskip("tomllib")
    np = pytest.importorskip("numpy")
    table = {
        "text": 'quote " backslash \\ line\nbreak \x7f \x01 ümlaut 𝄞',
        "numbers": [0.1 + 0.2, -1e300, 5e-324, 2**63 - 1, -7, True, math.inf],
        "array": np.array([[1.5, 2], [3, 4]], dtype=np.float32),
        "number": np.float32(0.5),
        "dotted.key": {"a b": {"": [], "x": [{"y": 1}, {}]}},
        "file": Path("a/b"),
        "absent": None,
        "kept": [1, {"absent": None}],
    }
    back = tomllib.loads(to_toml(table))
    expected = dict(table, array=[[1.5, 2.0], [3.0, 4.0]], number=0.5, file="a/b", kept=[1, {}])
    del expected["absent"]
    assert back == expected
    assert math.isnan(tomllib.loads(to_toml({"n": math.nan}))["n"])


def test_relative_paths_start_at_base(tmp_path, ball, monkeypatch):
    ball["body"][0]["shape"] = {"type": "mesh", "file": "meshes/bunny.obj", "height": "3 cm"}
    monkeypatch.chdir(tmp_path)
    with pytest.raises(cullet.BadInput, match=r"^pipeline: body\.ball\.shape\.file: .*meshes/bunny\.obj"):
        cullet.pack(ball, out="s")
    assert not Path("s").exists()
    store = cullet.pack(ball, out="s", base=REPOSITORY / "pipelines")
    assert store.path == tmp_path / "s" and len(store.elements()) > 200
    with pytest.raises(cullet.BadInput, match=r"^base .*nowhere: no such folder$"):
        cullet.check(ball, base="nowhere")
    with pytest.raises(cullet.BadInput, match="^base is for a pipeline that is a dict"):
        cullet.check("a.toml", base=tmp_path)


def test_messages_name_key_and_value(ball):
    ball["body"][0]["packing"]["elements"] = "12 kg"
    ball["material"][0]["yuong"] = 1
    with pytest.raises(cullet.BadInput) as raised:
        cullet.check(ball)
    lines = str(raised.value).splitlines()
    assert sorted(line.split(":")[1].strip() for line in lines) == ["body.ball.packing.elements", "material.gypsum"]
    assert all(line.startswith("pipeline: ") for line in lines)
    assert "12 kg" in str(raised.value) and "did you mean `young`?" in str(raised.value)
    assert raised.value.exit_code == 2


def test_values_that_a_pipeline_cannot_have_are_named(ball):
    ball["body"][0]["position"] = [0, 1j, 0]
    with pytest.raises(cullet.BadInput, match=r"^pipeline: body\[0\]\.position\[1\]: .*complex, such as 1j$"):
        cullet.check(ball)
    with pytest.raises(cullet.BadInput, match="^pipeline: keys are strings, not 3$"):
        cullet.check({3: 4})
    ball["body"][0]["position"] = [0, 1, 0]
    with pytest.raises(cullet.BadInput, match="^set: time.end: .*complex"):
        cullet.check(ball, set={"time.end": 1j})
    with pytest.raises(cullet.BadInput, match='^set: a dict or a list of "KEY=VALUE"'):
        cullet.check(ball, set="scale=smoke")
    with pytest.raises(cullet.BadInput, match="^out is missing"):
        cullet.run(ball)


def test_the_dataclasses_are_those_of_the_schema(tmp_path):
    sys.path.insert(0, str(REPOSITORY / "tools/python"))
    try:
        from generate_spec import TARGET, Generator, formatted
    finally:
        sys.path.pop(0)
    schema = json.loads(json.dumps(cullet.schema()))
    assert TARGET.read_text(encoding="utf-8") == formatted(Generator(schema).text())
