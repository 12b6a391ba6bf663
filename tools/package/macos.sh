#!/usr/bin/env bash
# Makes an archive of cullet for macOS, for Intel and Apple processors: tools/package/macos.sh [--out FOLDER]
#
# UNTRIED: no Mac was at hand. Run it on a Mac with Rust, Xcode's command line tools and Python 3.11. The program is not
# signed by a developer's certificate: `xattr -d com.apple.quarantine cullet` lets it start after a browser's download.
set -euo pipefail
cd "$(dirname "$0")/../.."
[[ "$(uname -s)" == Darwin ]] || { echo "macos.sh: run this on a Mac; lipo and codesign are needed" >&2 && exit 2; }
target_folder="${CARGO_TARGET_DIR:-$PWD/target}"
export CARGO_TARGET_DIR="$target_folder"
out="$target_folder/package"
case "${1:-}" in
"") ;;
--out) out="${2:?--out: which folder?}" ;;
*) echo "macos.sh: $1: unknown; allowed: --out FOLDER" >&2 && exit 2 ;;
esac

# The oldest macOS that Rust supports, for each processor.
programs=()
for target in x86_64-apple-darwin:10.12 aarch64-apple-darwin:11.0; do
    name="${target%:*}"
    rustup target add "$name"
    MACOSX_DEPLOYMENT_TARGET="${target#*:}" cargo rustc --release --locked --bin cullet --target "$name" -- -C strip=symbols
    programs+=("$target_folder/$name/release/cullet")
done
mkdir -p "$target_folder/universal-apple-darwin"
program="$target_folder/universal-apple-darwin/cullet"
lipo -create -output "$program" "${programs[@]}"
# Apple processors run signed programs only; this signature names nobody.
codesign --force --sign - "$program"
tools/package/assemble.py universal-apple-darwin "$program" --out "$out"
