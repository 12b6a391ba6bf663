"""What machine this is, and what runs on it."""

import datetime
import os
import platform
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("AVX-512", "AVX2", "NEON")
EVERYWHERE = "everywhere"  # in place of a kind: figures that do not depend on the machine


def processor():
    """Model of the processor and the names of what it can do."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    told = {}
    for line in lines:
        key, _, value = line.partition(":")
        told.setdefault(key.strip(), value.strip())
    model = told.get("model name") or told.get("Model") or platform.processor() or platform.machine()
    return model, (told.get("flags") or told.get("Features") or "").split()


def kind():
    """The widest vector instructions of this machine."""
    flags = processor()[1]
    if "avx512f" in flags:
        return "AVX-512"
    if "avx2" in flags:
        return "AVX2"
    if platform.machine().lower() in ("aarch64", "arm64"):
        return "NEON"
    raise SystemExit("figures: this machine has neither AVX-512, AVX2 nor NEON")


def cores():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def git(*words):
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def commit():
    """The commit, with "+" where a file differs from it; figures and their page do not count."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ":!tools/figures.json", ":!tools/FIGURES.md")
    return git("rev-parse", "--short=7", "HEAD") + ("+" if changed else "")


def origin():
    """What stands with a figure measured here and now."""
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "processor": processor()[0],
        "cores": cores(),
    }
