#!/usr/bin/env python3
"""Takes the steps of a new user, in an empty home folder without Rust, and times each.

first_shot.py WHEEL [--blender PYTHON] [--chromium PROGRAM] [--out FOLDER]

Makes a virtual environment, installs the wheel, runs a shot from Python, writes its page and opens it in Chromium, and
renders its cache in Blender by PYTHON, which has the package bpy. Without them the last steps are skipped. FOLDER gets
the pictures; it must not exist.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SMALLEST_PICTURE = 30_000
"""Bytes of a picture in which something is drawn."""
HERE = Path(__file__).resolve().parent
NETWORK = ("pip_", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "ssl_", "requests_")

SHOT = """
import cullet

shot = {
    "time": {"end": "12 ms", "frames_per_second": "1000 Hz"},
    "material": [{"name": "plaster", "density": 1100, "young": "1 GPa", "poisson": 0.2,
                  "tensile_strength": "2.8 MPa", "shear_strength": "3.3 MPa", "weibull_modulus": 8}],
    "body": [{"name": "bunny", "material": "plaster", "position": [0, "2 mm", 0], "velocity": [0, "-5 m/s", 0],
              "shape": {"type": "mesh", "file": "bunny.obj", "height": "10 cm"},
              "packing": {"type": "hexagonal", "elements": 6000}}],
    "collider": [{"name": "floor", "shape": {"type": "half_space", "normal": [0, 1, 0]}}],
    "export": {"formats": ["usd"]},
}
store = cullet.run(shot, out="shot", on_progress=lambda progress: None)
print(len(store.frame_numbers), "frames,", len(set(store.surface(store.frame_numbers[-1]).vertex_fragments)), "fragments")
"""


def step(name, command, folder, environment):
    """Runs a command and prints how long it took."""
    begun = time.monotonic()
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900)
    seconds = time.monotonic() - begun
    if done.returncode != 0:
        sys.exit(f"{name} failed:\n{done.stdout}{done.stderr}")
    lines = done.stdout.strip().splitlines()
    print(f"{name:<28} {seconds:6.1f} s   {lines[-1] if lines else ''}", flush=True)
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--blender", type=Path, metavar="PYTHON", help="a Python with the package bpy")
    parser.add_argument("--chromium", default=shutil.which("chromium"), metavar="PROGRAM")
    parser.add_argument("--out", type=Path, help="folder for the pictures")
    arguments = parser.parse_args()
    wheel = arguments.wheel.resolve(strict=True)
    if arguments.out and arguments.out.exists():
        sys.exit(f"first_shot: {arguments.out} exists; choose another --out")
    with tempfile.TemporaryDirectory() as home:
        total = take_steps(wheel, Path(home), arguments)
        if arguments.out:
            arguments.out.mkdir(parents=True)
            for picture in Path(home).glob("*.png"):
                shutil.copy(picture, arguments.out)
    print(f"{'all':<28} {total:6.1f} s")


def take_steps(wheel, home, arguments):
    """Takes the steps in an empty home folder; returns the sum of their times, s."""
    python = home / "venv/bin/python"
    environment = {"HOME": str(home), "PATH": f"{python.parent}:/usr/bin:/bin", "LANG": "C.UTF-8"}
    # How this machine reaches the network is not the user's affair.
    environment |= {name: value for name, value in os.environ.items() if name.lower().startswith(NETWORK)}
    shutil.copy(HERE.parent / "pipelines/meshes/bunny.obj", home)
    (home / "shot.py").write_text(SHOT)
    total = step("make an environment", [sys.executable, "-m", "venv", "venv"], home, environment)
    total += step("pip install the wheel", [python, "-m", "pip", "install", "-q", wheel], home, environment)
    total += step("run a shot from Python", [python, "shot.py"], home, environment)
    page = home / "shot.html"
    total += step("write its page", ["cullet", "view", "shot", "--export", page], home, environment)
    if arguments.chromium:
        flags = ["--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        flags += ["--window-size=1280,720", "--virtual-time-budget=15000", f"--screenshot={home / 'page.png'}"]
        total += step("open it in Chromium", [arguments.chromium, *flags, f"file://{page}"], home, environment)
        # A page that shows nothing but its background is packed to a few kB.
        if (home / "page.png").stat().st_size < SMALLEST_PICTURE:
            sys.exit("first_shot: the page in Chromium is empty")
    else:
        print("skipped: Chromium: there is no program chromium")
    if arguments.blender:
        script = HERE / "first_shot/render.py"
        command = [arguments.blender, script, home / "shot/exports/shot.usdc", home / "blender.png"]
        total += step("render its cache in Blender", command, home, environment)
    else:
        print("skipped: Blender: --blender names no Python with bpy")
    return total


main()
