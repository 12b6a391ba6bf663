"""Each stage as a function."""

from __future__ import annotations

import re
import subprocess

import pytest

import cullet
from conftest import BUNNY, REPOSITORY


def test_run_reports_each_stage_and_does_nothing_again(tmp_path):
    seen, notes = [], []
    arguments = {"out": tmp_path / "s", "set": {"scale": "smoke", "time.end": "3 ms", "export.formats": ["ply"]}}
    store = cullet.run(BUNNY, **arguments, on_progress=seen.append, on_note=notes.append)
    finished = [event.stage for event in seen if event.finished]
    assert finished == ["pack", "simulate", "reconstruct", "export ply", "preview"]
    steps = [event for event in seen if event.stage == "simulate"]
    assert [event.done for event in steps if not event.finished] == list(range(len(store.frame_numbers)))
    assert all(event.total == store.frame_numbers[-1] for event in steps)
    assert steps[-1].seconds > 0 and "steps on CPU" in steps[-1].message
    assert str(steps[0]).startswith("simulate     0/")
    assert notes[-1] == f"store: {store.path}"
    notes.clear()
    cullet.run(BUNNY, **arguments, on_note=notes.append)
    assert notes[-1] == f"nothing to do: {store.path} is up to date"


def test_stages_one_by_one_give_what_run_gives(tmp_path, ball):
    one = cullet.run(ball, out=tmp_path / "one", to="reconstruct")
    two = cullet.pack(ball, out=tmp_path / "two")
    assert cullet.simulate(two, until="2 ms").frame_numbers == [0, 1, 2]
    two = cullet.reconstruct(cullet.simulate(two.path, resume=True))
    names = [name for name in one.manifest["files"] if name.split("/")[0] in ("packing", "frames", "meshes", "breaks")]
    assert len(names) > 15
    for name in names:
        assert (one.path / name).read_bytes() == (two.path / name).read_bytes(), name


def test_files_of_exports_pictures_and_charts_are_returned(shot, tmp_path):
    files = cullet.export(shot, "ply", frames=range(1, 3), to=tmp_path / "ply", up="z", scale=100)
    assert len(files) == 2 and all(file.is_file() and file.parent == tmp_path / "ply" for file in files)
    [usd] = cullet.export(shot, "usd", frames=slice(2), usd="usda", playback="30 Hz", shutter=(-0.25, 0.25))
    assert usd.suffix == ".usda"
    pictures = cullet.preview(shot, frames=2)
    assert {"000002.png", "contact_sheet.png"} == {file.name for file in pictures}
    charts = cullet.plot(shot, format="svg", to=tmp_path / "charts")
    assert tmp_path / "charts" / "energy.svg" in charts and all(chart.is_file() for chart in charts)


def test_what_the_program_prints_as_json_is_returned(shot, tmp_path):
    assert cullet.inspect(shot)["elements"] == len(shot.elements())
    assert cullet.validate(shot) == []
    checked = cullet.check(BUNNY, set=["scale=smoke"])
    assert checked["elements"] == len(shot.elements()) and checked["frames"] == len(shot.frame_numbers)
    assert cullet.check(BUNNY, set={"scale": "smoke", "time.end": 0.001})["frames"] < checked["frames"]
    mesh = cullet.check_mesh(REPOSITORY / "pipelines/meshes/bunny.obj", out=tmp_path / "mended.ply")
    assert mesh["faults"] == [] and (tmp_path / "mended.ply").is_file()
    assert cullet.schema()["title"] == "cullet pipeline"
    assert isinstance(cullet.adapters(), list)


def test_stress_of_a_pipeline_and_of_its_store(tmp_path, ball):
    clamp = {"type": "clamp"}
    push = {"type": "force", "force": [0, "5 N", 0]}
    low = {"min": [-0.05, -0.05, -0.05], "max": [0.05, 0.006, 0.05]}
    high = {"min": [-0.05, 0.036, -0.05], "max": [0.05, 0.05, 0.05]}
    ball["attach"] = [
        {"name": "hold", "body": "ball", "region": low, "action": clamp},
        {"name": "push", "body": "ball", "region": high, "action": push},
    ]
    ball["simulate"] = {"method": "bem"}
    ball["stress"] = {"size": "8 mm"}
    ball["body"][0]["velocity"] = [0, 0, 0]
    del ball["export"], ball["collider"]
    found = cullet.stress(ball, out=tmp_path / "s")
    assert [body["body"] for body in found["bodies"]] == ["ball"]
    store = cullet.Store(tmp_path / "s")
    assert len(store.stress()) > 100
    again = cullet.stress(store)["bodies"]
    for body in found["bodies"] + again:
        del body["seconds"]
    assert again == found["bodies"]


def test_calibrate_returns_what_to_enter(tmp_path, ball):
    notes = []
    found = cullet.calibrate(ball, out=tmp_path / "c", across=6, young="1 GPa", on_note=notes.append)
    assert found["asked"]["young"] == 1e9 and found["enter"]["young"] > 0
    assert notes[0].startswith("round 1: ")
    assert all((tmp_path / "c" / file).is_file() for file in found["files"])


def test_jobs_are_text_or_a_file(tmp_path, ball):
    store = cullet.pack(ball, out=tmp_path / "a shot")
    text = cullet.jobs(store, "slurm", stage=["simulate", "reconstruct"], chunk=3, frames=range(0, 5), cores=2)
    assert "--array=0-1" in text and "--cpus-per-task=2" in text and "'" + str(store.path) + "'" in text
    assert cullet.jobs(store, "openjd", stage="simulate", out=tmp_path / "job.yaml") == ""
    assert "specificationVersion" in (tmp_path / "job.yaml").read_text()
    with pytest.raises(cullet.BadInput, match="contains no frame"):
        cullet.jobs(store, "openjd")


def test_keyword_arguments_are_the_options_of_the_command_line():
    program = str(cullet.find_program())
    own = {"threads", "json", "quiet", "progress", "help", "version"}
    python_only = {"base", "on_progress", "on_note", "threads"}
    for name in (
        "run",
        "pack",
        "simulate",
        "stress",
        "reconstruct",
        "export",
        "preview",
        "plot",
        "jobs",
        "check",
        "calibrate",
    ):
        text = subprocess.run([program, name, "--help"], capture_output=True, text=True, check=True).stdout
        options = set(re.findall(r"^\s+(?:-\w, )?--([a-z-]+)", text, re.M)) - own
        function = getattr(cullet, name)
        names = list(function.__annotations__)
        found = {argument.rstrip("_").replace("_", "-") for argument in names}
        if name == "check":
            found |= set(cullet.check_mesh.__annotations__)
        assert options <= found, name
        places = {"pipeline", "store", "target", "mesh", "return"}
        assert found - options - places - {word.replace("_", "-") for word in python_only} == set(), name


def test_program_is_found_in_the_wheel_and_by_the_variable(monkeypatch, tmp_path):
    monkeypatch.delenv("CULLET_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", "")
    own = cullet.find_program()
    version = subprocess.run([str(own), "--version"], capture_output=True, text=True, check=True).stdout
    assert version.split() == ["cullet", cullet.__version__]
    monkeypatch.setenv("CULLET_PROGRAM", str(own))
    assert cullet.find_program() == own
    monkeypatch.setenv("CULLET_PROGRAM", str(tmp_path / "none"))
    with pytest.raises(cullet.ProgramNotFound, match="CULLET_PROGRAM is .*none, where there is no file"):
        cullet.find_program()
