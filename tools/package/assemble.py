#!/usr/bin/env python3
"""Makes an archive of cullet for one target: tools/package/assemble.py --help

Python 3.11 or newer, cargo, no packages. The same input gives the same bytes: files are sorted, and all have the
time SOURCE_DATE_EPOCH (default: that of the last commit)."""

import argparse
import gzip
import hashlib
import io
import json
import os
import subprocess
import tarfile
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The program, what the README's first command reads, and the pages that the README links to.
PAGES = ["README.md", "CHANGELOG.md", "LICENSE", "CONTRIBUTING.md", "pipelines/*.toml", "pipelines/README.md",
         "pipelines/meshes/*", "src/**/*.md", "tests/README.md", "tools/*.md", "tools/package/*.md"]
COMPLETIONS = {"bash": "cullet.bash", "zsh": "_cullet", "fish": "cullet.fish", "powershell": "_cullet.ps1"}
LICENCE_NAMES = ("license", "licence", "copying", "notice", "unlicense")


def arguments():
    parser = argparse.ArgumentParser(description="Make an archive of cullet for one target.")
    parser.add_argument("target", help="name of the target, for example x86_64-unknown-linux-gnu")
    parser.add_argument("binary", type=Path, help="the program for this target")
    parser.add_argument("--runner", type=Path, help="the same program for this machine, which writes manual pages and "
                        "completions; default: BINARY")
    parser.add_argument("--out", type=Path, required=True, help="folder for the archive")
    parser.add_argument("--zip", action="store_true", help="make a .zip instead of a .tar.gz")
    return parser.parse_args()


def epoch():
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or subprocess.check_output(["git", "log", "-1", "--format=%ct"], cwd=ROOT, text=True))


def metadata(target):
    """Packages that the program for this target is linked with, by name and version."""
    platform = target.replace("universal-apple", "aarch64-apple")
    command = ["cargo", "metadata", "--locked", "--format-version=1", f"--filter-platform={platform}"]
    found = json.loads(subprocess.check_output(command, cwd=ROOT))
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    linked, pending = set(), [found["resolve"]["root"]]
    while pending:
        package = pending.pop()
        if package not in linked:
            linked.add(package)
            pending += [dependency["pkg"] for dependency in nodes[package]["deps"]
                        if any(kind["kind"] is None for kind in dependency["dep_kinds"])]
    linked.remove(found["resolve"]["root"])
    packages = [package for package in found["packages"] if package["id"] in linked]
    return sorted(packages, key=lambda package: (package["name"], package["version"]))


def third_parties(packages):
    """Licences of linked packages: each text once, with the packages that it belongs to."""
    lines = ["cullet is linked with these packages. Their licences follow.", ""]
    texts = {}
    for package in packages:
        title = f"{package['name']} {package['version']}"
        lines.append(f"{title}: {package['license'] or 'see below'}")
        folder = Path(package["manifest_path"]).parent
        # The second pattern finds the licences of C and C++ inside a package.
        for file in sorted([*folder.glob("*"), *folder.glob("*/*")]):
            if file.is_file() and file.name.lower().startswith(LICENCE_NAMES):
                text = file.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip()
                texts.setdefault(text, []).append(title)
    for text, titles in texts.items():
        lines += ["", "=" * 80, ", ".join(titles), "", text]
    return "\n".join(lines) + "\n"


def generated(runner, work):
    """Manual pages and completions."""
    subprocess.run([runner, "--quiet", "man", "--out", work / "man1"], check=True)
    files = {f"man/man1/{page.name}": page.read_bytes() for page in (work / "man1").iterdir()}
    for shell, name in COMPLETIONS.items():
        files[f"completions/{name}"] = subprocess.check_output([runner, "completions", shell])
    return files


def tar_gz(path, folder, files, program, when):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size, entry.mtime, entry.mode = len(content), when, 0o755 if name == program else 0o644
            tar.addfile(entry, io.BytesIO(content))
    path.write_bytes(gzip.compress(packed.getvalue(), 9, mtime=0))


def zipped(path, folder, files, program, when):
    date = time.gmtime(when)[:6]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{folder}/{name}", date)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, (0o755 if name == program else 0o644) << 16
            archive.writestr(entry, content)


def main():
    given = arguments()
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]["version"]
    folder = f"cullet-{version}-{given.target}"
    program = given.binary.name
    files = {program: given.binary.read_bytes()}
    for pattern in PAGES:
        found = [path for path in ROOT.glob(pattern) if path.is_file()]
        if not found:
            raise SystemExit(f"assemble: {pattern}: there is no such file")
        files.update({path.relative_to(ROOT).as_posix(): path.read_bytes() for path in found})
    with tempfile.TemporaryDirectory() as work:
        files.update(generated((given.runner or given.binary).resolve(), Path(work)))
    files["THIRD-PARTY.txt"] = third_parties(metadata(given.target)).encode()

    given.out.mkdir(parents=True, exist_ok=True)
    archive = given.out / (folder + (".zip" if given.zip else ".tar.gz"))
    unfinished = archive.with_name("." + archive.name)
    (zipped if given.zip else tar_gz)(unfinished, folder, files, program, epoch())
    unfinished.replace(archive)
    archives = sorted(path for path in given.out.iterdir() if path.name.startswith("cullet-"))
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in archives]
    (given.out / "SHA256SUMS").write_text("".join(sums), newline="\n")
    print(f"{archive}: {archive.stat().st_size} bytes, {len(files)} files")


main()
