#!/usr/bin/env bash
# Builds the wheel, with the program and the extension in it.
# Usage: build_wheel.sh OUT [--manylinux | --quick]. With --manylinux for Linux distributions since 2014, linked by Zig;
# with --quick for tests: it compiles faster.
# CULLET_WHEEL_VENV is where maturin is installed (default: in the user's cache).
set -euo pipefail
out=${1:?usage: build_wheel.sh OUT [--manylinux | --quick]}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
venv=${CULLET_WHEEL_VENV:-${XDG_CACHE_HOME:-$HOME/.cache}/cullet-ci/wheel-venv}
packages=("maturin>=1.9,<2")
if [ "${2:-}" = --manylinux ]; then
    packages+=("cargo-zigbuild>=0.20" "ziglang>=0.13")
fi
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
fi
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}"
# maturin and cargo-zigbuild start each other and Zig by name.
export PATH="$venv/bin:$PATH"
python3 "$here/build_backend.py" "$out" "${@:2}"
ls -l "$out"/cullet-*.whl
