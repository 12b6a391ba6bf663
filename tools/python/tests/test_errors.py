"""Exceptions for the ways in which the program ends."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import threading
import time

import pytest

import cullet
from conftest import BUNNY


def test_messages_are_those_of_the_program(tmp_path):
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[time]\nend = 1\nfoo = 2\n")
    printed = subprocess.run([str(cullet.find_program()), "check", str(wrong)], capture_output=True, text=True)
    with pytest.raises(cullet.BadInput) as raised:
        cullet.check(wrong)
    assert printed.stderr == f"cullet: {raised.value}\n"
    assert (raised.value.exit_code, printed.returncode) == (2, 2)


def test_errors_of_options_are_the_text_of_the_program(shot):
    with pytest.raises(cullet.BadInput, match=r"^invalid value '5\.\.2' for '--frames <RANGE>': 5\.\.2 ends before"):
        cullet.reconstruct(shot, frames=range(5, 2))
    with pytest.raises(cullet.BadInput, match="^frames: .* leaves frames out"):
        cullet.reconstruct(shot, frames=range(0, 5, 2))


def test_a_folder_that_is_no_store_is_refused_alike(tmp_path):
    with pytest.raises(cullet.BadInput) as read:
        cullet.Store(tmp_path)
    with pytest.raises(cullet.BadInput) as ran:
        cullet.simulate(tmp_path)
    assert str(read.value) == str(ran.value)
    assert "no frame store here (store.json is missing)" in str(read.value)


def test_a_damaged_file_is_reported_as_the_program_does(shot, tmp_path):
    folder = tmp_path / "shot"
    shutil.copytree(shot.path, folder)
    frame = folder / "frames" / "000001.parquet"
    with frame.open("r+b") as file:
        file.seek(100)
        byte = file.read(1)
        file.seek(100)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(cullet.Failed) as ran:
        cullet.reconstruct(folder, frames=1)
    store = cullet.Store(folder)
    with pytest.raises(cullet.Failed) as read:
        store.frames(1).__arrow_c_stream__()
    assert str(read.value) == str(ran.value) and str(frame) in str(read.value)
    faults = cullet.validate(folder)
    assert faults and {fault["file"] for fault in faults} == {"frames/000001.parquet"}
    mesh = folder / "meshes" / "000002.rkyv"
    mesh.write_bytes(mesh.read_bytes()[:-50])
    with pytest.raises(cullet.Failed, match="meshes/000002.rkyv"):
        store.surface(2)
    frame.unlink()
    with pytest.raises(cullet.BadInput, match=r"000001\.parquet: missing"):
        len(store.frames(1))


def test_a_program_that_is_killed_leaves_python_alive(tmp_path):
    events = []

    def kill(event):
        events.append(event)
        if event.stage == "simulate" and event.done == 1 and not event.finished:
            from cullet._program import _running

            for program in list(_running):
                os.kill(program.pid, signal.SIGKILL)

    with pytest.raises(
        cullet.Failed, match="^cullet was ended by SIGKILL: the system may have run out of memory"
    ) as raised:
        cullet.run(BUNNY, out=tmp_path / "s", set={"scale": "smoke"}, to="simulate", on_progress=kill)
    assert raised.value.exit_code == -signal.SIGKILL
    assert cullet.simulate(tmp_path / "s", resume=True).frame_numbers == list(range(7))


def test_a_program_that_cannot_start_is_named(tmp_path, monkeypatch):
    program = tmp_path / "cullet"
    program.write_text("#!/nowhere\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CULLET_PROGRAM", str(program))
    with pytest.raises(cullet.Error, match=f"^{program}: "):
        cullet.adapters()


def test_other_threads_are_interrupted(tmp_path):
    began = threading.Event()
    raised = []

    def work():
        try:
            cullet.run(
                BUNNY,
                out=tmp_path / "s",
                set={"scale": "smoke", "time.end": "300 ms"},
                to="simulate",
                on_progress=lambda event: event.stage == "simulate" and event.done > 0 and began.set(),
            )
        except cullet.Error as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert began.wait(60)
    assert cullet.interrupt() == 1
    thread.join(60)
    [error] = raised
    assert isinstance(error, cullet.Interrupted) and str(error) == "interrupted; continue with --resume"
    assert cullet.interrupt() == 0


def test_an_exception_of_a_callback_stops_the_program(tmp_path):
    class Enough(Exception):
        pass

    def stop(event):
        if event.stage == "simulate" and event.done == 2:
            raise Enough

    began = time.monotonic()
    with pytest.raises(Enough):
        cullet.run(
            BUNNY, out=tmp_path / "s", set={"scale": "smoke", "time.end": "1 s"}, to="simulate", on_progress=stop
        )
    assert time.monotonic() - began < 60
    store = cullet.Store(tmp_path / "s")
    assert store.state_numbers[-1] == store.frame_numbers[-1] >= 2
    # Nothing holds the lock of the store any more.
    assert cullet.simulate(store, resume=True, until=f"{store.times[store.frame_numbers[-1]]} s").frame_numbers
