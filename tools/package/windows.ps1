# Makes an archive of cullet for Windows: tools\package\windows.ps1 [-Out FOLDER]
#
# UNTRIED: no Windows machine was at hand. Run it in PowerShell with Rust (MSVC), the C++ build tools of Visual Studio
# and Python 3.11. The C library is linked in, so that users need no redistributable.
param([string]$Out)
$ErrorActionPreference = "Stop"
Set-Location (Join-Path $PSScriptRoot "..\..")
$target = "x86_64-pc-windows-msvc"
$folder = if ($env:CARGO_TARGET_DIR) { $env:CARGO_TARGET_DIR } else { Join-Path (Get-Location) "target" }
if (-not $Out) { $Out = Join-Path $folder "package" }

rustup target add $target
if ($LASTEXITCODE -ne 0) { exit 1 }
$env:RUSTFLAGS = "-C target-feature=+crt-static"
cargo rustc --release --locked --bin cullet --target $target --target-dir $folder -- -C strip=symbols
if ($LASTEXITCODE -ne 0) { exit 1 }
python tools\package\assemble.py $target (Join-Path $folder "$target\release\cullet.exe") --zip --out $Out
exit $LASTEXITCODE
