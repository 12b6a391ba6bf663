#!/bin/sh
# Puts the readers that the checks beside this file use into a folder: a Python environment and an npm prefix.
# Usage: setup.sh DIR. Run again, it installs only what changed.
set -eu
dir=${1:?usage: setup.sh DIR}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir"
if [ ! -x "$dir/venv/bin/python" ]; then
    python3 -m venv "$dir/venv"
fi
if ! cmp -s "$here/requirements.txt" "$dir/requirements.txt"; then
    "$dir/venv/bin/pip" install --quiet -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$dir/requirements.txt"
fi
if ! cmp -s "$here/packages.txt" "$dir/packages.txt" && command -v npm >/dev/null; then
    xargs npm install --silent --no-fund --no-audit --prefix "$dir" <"$here/packages.txt"
    cp "$here/packages.txt" "$dir/packages.txt"
fi
echo "python: $dir/venv/bin/python; node: NODE_PATH=$dir/node_modules"
