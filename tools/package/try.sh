#!/usr/bin/env bash
# Tries an archive as a user who has nothing else: tools/package/try.sh ARCHIVE.tar.gz
#
# Unpacks it into an empty home folder and runs the README's first command at smoke size. A program for another
# processor runs under qemu (Debian: qemu-user-static), where it checks the pipeline alone.
set -euo pipefail
archive="$(realpath "${1:?usage: try.sh ARCHIVE.tar.gz}")"
home="$(mktemp -d)"
trap 'rm -rf "$home"' EXIT
tar -xzf "$archive" -C "$home"
cd "$home"/cullet-*
alone() { env -i HOME="$home" PATH=/usr/bin:/bin LANG=C.UTF-8 "$@"; }

machine="$(basename "$PWD" | sed 's/^cullet-[^-]*-\([^-]*\)-.*/\1/')"
if [[ "$machine" != "$(uname -m)" ]]; then
    qemu="$(command -v "qemu-$machine-static" || command -v "qemu-$machine")" ||
        { echo "try.sh: skipped: a program for $machine needs qemu-user-static here" && exit 0; }
    # The loader and libc for that processor (Debian: libc6-arm64-cross), if this machine keeps them apart.
    export QEMU_LD_PREFIX="${QEMU_LD_PREFIX:-/usr/$machine-linux-gnu}"
    alone QEMU_LD_PREFIX="$QEMU_LD_PREFIX" "$qemu" ./cullet --version
    alone QEMU_LD_PREFIX="$QEMU_LD_PREFIX" "$qemu" ./cullet check pipelines/bunny_drop.toml --set scale=smoke
    exit
fi
alone ./cullet --version
alone ./cullet adapters
alone ./cullet run pipelines/bunny_drop.toml --set scale=smoke
alone ./cullet inspect out/bunny_drop --validate
if command -v man >/dev/null; then
    alone man -l man/man1/cullet-run.1 >/dev/null
fi
alone bash -n completions/cullet.bash
