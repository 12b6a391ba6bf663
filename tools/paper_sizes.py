"""Cost of a frame of each shot at the published size: at least 200 steps are measured from the shot's start and extrapolated to a frame.

    cargo build --release && python3 tools/paper_sizes.py [--cullet PROGRAM] [--scale SCALE] [SHOT …]

For each shot, prints a line of the table in pipelines/README.md: elements, time step, steps per frame, element-steps per second, seconds per frame, and as
published: elements, time step, steps per frame, seconds per frame (Lu et al. 2021, Table 2, GTX 1080 Ti, beam bending on a Core i7-8700; the chocolate of
Lu et al. 2025, Table 1, explicit, Core i7-13700K). Frames are the published ones, regardless of the file's own rate. --scale smoke tests the tool on small
shots."""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Elements, seconds per frame, time step and frames per second as published.
PUBLISHED = {
    "beam_bending": ("24K", 68.7, 1.22e-6, 100),
    "beam_twisting": ("69K", 9.3, 3.01e-6, 100),
    "paper_tear": ("46K", 13.4, 1.04e-6, 100),
    "rope_twist": ("78K", 21.6, 6.35e-6, 100),
    "coke_can": ("495K", 297.8, 1.01e-6, 100),
    "bunny_jello": ("1.26M", 284.8, 3.13e-6, 100),
    "drilling_plaster": ("312K", 520.4, 7.24e-7, 100),
    "drilling_wood": ("312K", 520.4, 7.24e-7, 100),
    "textile_tear": ("120K", 132.4, 6.39e-7, 100),
    "hourglass": ("966K", 706.5, 1.01e-7, 480),
    "window_bullet": ("521K", 734.7, 1.01e-7, 480),
    "letters": ("547K", 106.8, 2.02e-6, 100),
    "chocolate": ("58K", 857.8, 4.4e-7, 480),
}
STEPS = 200


def measure(program, shot, scale, folder):
    """Elements, time step and element-steps per second of the first steps of a shot at this scale."""
    file = str(ROOT / "pipelines" / f"{shot}.toml")
    common = [file, "--set", f"scale={scale}", "--set", "simulate.backend=cpu"]

    def run(*words):
        done = subprocess.run([program, *words], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    dt = json.loads(run("check", *common, "--json"))["dt"]
    frame = STEPS * dt
    settings = [f"time.end={1.0001 * frame}", f"time.step={dt}", f"time.frames_per_second={1 / frame}"]
    store = folder / shot
    run("run", *common, *(word for one in settings for word in ("--set", one)), "--out", str(store), "--to", "simulate", "--quiet")
    summary = json.loads(run("inspect", str(store), "--json"))
    shutil.rmtree(store)
    return summary["elements"], dt, summary["element_steps_per_second"]


def number(value):
    """A number with three significant digits."""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cullet", default=str(ROOT / "target/release/cullet"), help="the program; default: target/release/cullet")
    parser.add_argument("--scale", default="paper", help="scale of the pipeline files; default: paper")
    parser.add_argument("shots", nargs="*", metavar="SHOT")
    given = parser.parse_args()
    unknown = [shot for shot in given.shots if shot not in PUBLISHED]
    if unknown:
        parser.error(f"no such shot: {', '.join(unknown)}; there are: {', '.join(PUBLISHED)}")
    with tempfile.TemporaryDirectory() as folder:
        for shot in given.shots or PUBLISHED:
            elements, dt, rate = measure(given.cullet, shot, given.scale, pathlib.Path(folder))
            known, seconds, step, frames = PUBLISHED[shot]
            steps = 1 / (frames * dt)
            columns = [
                f"`{shot}`",
                f"{elements / 1e3:.0f}K" if elements < 1e6 else f"{elements / 1e6:.2f}M",
                f"{dt:.3g} s",
                f"{steps:.0f}",
                f"{rate / 1e6:.1f} M/s",
                f"{number(elements * steps / rate)} s",
                f"{known}, {step:.3g} s, {1 / (frames * step):.0f}, {number(seconds)} s",
            ]
            print("| " + " | ".join(columns) + " |", flush=True)


if __name__ == "__main__":
    main()
