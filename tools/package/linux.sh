#!/usr/bin/env bash
# Makes archives of cullet for Linux: tools/package/linux.sh [--binary FILE] [--out FOLDER] [TARGET…]
#
# TARGETs are x86_64-unknown-linux-gnu and aarch64-unknown-linux-gnu; default: both. They are linked against an old
# glibc (2.17, of 2012) by cargo-zigbuild. Not against musl: a static program cannot load the drivers of graphics
# processors. With --binary this program is packed, which was built for TARGET and this machine, and nothing is built.
#
# Needs Rust, Python 3.11 with venv, and readelf. What else it needs it installs: cargo-zigbuild and zig into the target
# folder, rustup's parts for TARGET.
set -euo pipefail
shopt -s inherit_errexit # a build that fails ends the script
cd "$(dirname "$0")/../.."

glibc=2.17
zigbuild_version=0.24.1
zig_version=0.17.1
target_folder="$(realpath -m "${CARGO_TARGET_DIR:-target}")"
export CARGO_TARGET_DIR="$target_folder"
out="$target_folder/package"
binary=""
targets=()
while [[ $# -gt 0 ]]; do
    case "$1" in
    --binary) binary="$(realpath "${2:?--binary: which file?}")" && shift ;;
    --out) out="$(realpath -m "${2:?--out: which folder?}")" && shift ;;
    -*) echo "linux.sh: $1: unknown; allowed: --binary FILE, --out FOLDER, TARGET" >&2 && exit 2 ;;
    x86_64-unknown-linux-gnu | aarch64-unknown-linux-gnu) targets+=("$1") ;;
    *) echo "linux.sh: $1: allowed: x86_64-unknown-linux-gnu, aarch64-unknown-linux-gnu" >&2 && exit 2 ;;
    esac
    shift
done
host="$(rustc -vV | sed -n 's/^host: //p')"
if [[ -n "$binary" ]]; then
    tools/package/assemble.py "${targets[0]:-$host}" "$binary" --out "$out"
    exit
fi
[[ ${#targets[@]} -gt 0 ]] || targets=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu)

for program in cargo rustup python3 readelf; do
    command -v "$program" >/dev/null || { echo "linux.sh: $program is missing; install it first" >&2 && exit 1; }
done
tools="$target_folder/package-tools-$zigbuild_version-$zig_version"
if [[ ! -x "$tools/bin/cargo-zigbuild" ]]; then
    rm -rf "$tools"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet "cargo-zigbuild==$zigbuild_version" "ziglang==$zig_version"
fi
export PATH="$tools/bin:$PATH"

# Builds for a target; prints the path of the program.
build() {
    rustup target add "$1" >&2
    # Symbols are stripped from the program alone, so that the libraries are those of other release builds.
    cargo-zigbuild rustc --release --locked --bin cullet --target "$1.$glibc" -- -C strip=symbols >&2
    echo "$target_folder/$1/release/cullet"
}

# Fails if a program needs a newer glibc.
check_glibc() {
    local newest
    newest="$(readelf --wide --version-info "$1" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -uV | tail -1)"
    if [[ "$(printf '%s\n' "$newest" "$glibc" | sort -V | tail -1)" != "$glibc" ]]; then
        echo "linux.sh: $1 needs glibc $newest; $glibc is allowed" >&2 && exit 1
    fi
    echo "$1 needs glibc $newest"
}

# Manual pages and completions are written by the program for this machine.
runner="$(build "${host/-musl/-gnu}")"
for target in "${targets[@]}"; do
    program="$(build "$target")"
    check_glibc "$program"
    tools/package/assemble.py "$target" "$program" --runner "$runner" --out "$out"
done
