#!/usr/bin/env bash
# Installs the wheel into an environment of its own, and runs ruff, mypy and the tests of the package.
# Usage: check.sh FOLDER [WHEEL]. FOLDER keeps the environment and the wheel from run to run. Without WHEEL, one is
# built.
set -euo pipefail
folder=${1:?usage: check.sh FOLDER [WHEEL]}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
wheel=${2:-}
if [ -z "$wheel" ]; then
    rm -f "$folder"/wheels/cullet-*.whl
    CULLET_WHEEL_VENV="$folder/build" "$here/build_wheel.sh" "$folder/wheels" --quick
    wheel=$(ls "$folder"/wheels/cullet-*.whl)
fi
python="$folder/venv/bin/python"
if [ ! -x "$python" ]; then
    python3 -m venv "$folder/venv"
fi
"$python" -m pip install --quiet --disable-pip-version-check "$wheel[test]"
# The version stays the same from wheel to wheel.
"$python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"

cd "$here"
"$python" -m ruff check --no-cache .
"$python" -m ruff format --no-cache --check .
"$python" -m mypy --cache-dir "$folder/mypy"
# The environment's program, not another one that the caller may have named.
env -u CULLET_PROGRAM "$python" -m pytest -q -p no:cacheprovider tests
