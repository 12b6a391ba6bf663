"""Ctrl-C in a program of Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import cullet
from conftest import BUNNY

SCRIPT = textwrap.dedent(
    """
    import sys
    import cullet

    def progress(event):
        if event.stage == "simulate" and event.done == 1:
            print("running", flush=True)

    try:
        cullet.run(sys.argv[1], out=sys.argv[2], set={"scale": "smoke"}, to="simulate", on_progress=progress)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        sys.exit(77)
    """
)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("whole_group", [False, True], ids=["python", "group"])
def test_the_store_can_be_resumed_after_ctrl_c(tmp_path, shot, whole_group):
    """A terminal signals the whole group of processes, `kill` one; the simulation finishes its frame either way."""
    folder = tmp_path / "s"
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(BUNNY), str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "running\n"
    if whole_group:
        os.killpg(process.pid, signal.SIGINT)
    else:
        process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert (rest, process.returncode) == ("interrupted\n", 77)
    store = cullet.Store(folder)
    last = store.frame_numbers[-1]
    assert 1 <= last < shot.frame_numbers[-1], "the signal came too late to test anything"
    assert store.state_numbers[-1] == last
    store = cullet.simulate(store, resume=True)
    assert store.frame_numbers == shot.frame_numbers
    for frame in shot.frame_numbers:
        name = f"frames/{frame:06}.parquet"
        assert (store.path / name).read_bytes() == (shot.path / name).read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_second_ctrl_c_is_passed_on(tmp_path):
    """The program of the test ignores the first interrupt, as a simulation does within a frame."""
    program = tmp_path / "cullet"
    program.write_text(
        "#!/bin/sh\n"
        "trap 'n=$((n+1)); echo $n > \"$COUNT\"; [ $n -ge 2 ] && exit 130' INT\n"
        'echo \'{"stage": "simulate", "done": 1, "total": 9, "message": "x"}\' >&2\n'
        "while :; do sleep 0.05; done\n"
    )
    program.chmod(0o755)
    script = SCRIPT.replace('to="simulate"', 'to="simulate", force=True')
    count = tmp_path / "count"
    environment = {**os.environ, "CULLET_PROGRAM": str(program), "COUNT": str(count)}
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(BUNNY), str(tmp_path / "s")],
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    deadline = 200
    while not (count.exists() and count.read_text().strip() == "1"):
        deadline -= 1
        assert deadline > 0 and process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert (rest, process.returncode, count.read_text().strip()) == ("interrupted\n", 77, "2")
