#!/usr/bin/env bash
# Runs every tool once at a tiny size, so that none breaks unseen: tools/run_all_tiny.sh TARGET PYTHON
# TARGET holds the built `cullet` and `examples/`; PYTHON has the packages of tests/external/requirements.txt. Figures at this size mean nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
target="$(cd "${1:?usage: run_all_tiny.sh TARGET PYTHON}" && pwd)"
python="${2:?usage: run_all_tiny.sh TARGET PYTHON}"
cullet="$target/cullet"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Every tool is named below; what is not a tool of its own is named here.
parts="run_all_tiny.sh README.md FIGURES.md figures.json"
for tool in tools/*; do
    name="$(basename "$tool")"
    case "$name" in
    lawgen | bench_bem | farm | figures | first_shot | __pycache__) continue ;; # parts of a file of that name; what Python left
    python) continue ;; # has tests of its own: python/check.sh
    esac
    if [[ " $parts " != *" $name "* ]] && ! grep -q "^ *tiny $name " tools/run_all_tiny.sh; then
        echo "run_all_tiny: $tool is not run here"
        exit 1
    fi
done

# Runs a tool and prints what it printed and the seconds it took. One that says "skipped" lacks something that the gate must have.
tiny() {
    local name="$1" start="$SECONDS" text
    shift
    echo "== $name"
    if ! text="$("$@" 2>&1)"; then
        echo "$text"
        echo "run_all_tiny: $name failed"
        exit 1
    fi
    echo "$text" | tail -n 4
    echo "   $((SECONDS - start)) s"
    if [[ "$text" == skipped:* && -n "${CULLET_EXTERNAL_REQUIRED:-}" ]]; then
        echo "run_all_tiny: $name must run here"
        exit 1
    fi
}

# A run of a shot at smoke size as far as a stage.
shot() {
    local name="$1" stage="$2"
    shift 2
    "$cullet" run "pipelines/$name.toml" --set scale=smoke --to "$stage" --out "$work/$name" --quiet "$@"
}

tiny beam_bending.py "$python" tools/beam_bending.py --rows 3 --elasticity bond --break --cullet "$cullet"
tiny beam_bending.py "$python" tools/beam_bending.py --rows 3 --elasticity bond --plane --break --cullet "$cullet"
tiny beam_twisting.py "$python" tools/beam_twisting.py --rows 6 --along 4 --ratio 0.4 --simulate --cullet "$cullet"
tiny bench "$target/examples/bench" --elements 1e3 --threads 1 --stage-elements 1e4
tiny bench_bem.rs "$target/examples/bench_bem" --triangles 500,2e3 --points 600
tiny bench_device.rs "$target/examples/bench_device" --adapter llvmpipe --elements 1e3 --steps 20
tiny compare_lammps.py "$python" tools/compare_lammps.py --rows 24 8 8 --steps 10 --rounds 1 --cullet "$cullet"
tiny compare_processors.py "$python" tools/compare_processors.py --cullet "$cullet" --other "$cullet" --set "time.end=1 ms"
tiny compare_splashsurf.py "$python" tools/compare_splashsurf.py --rows 48 12 12 --rounds 1 --voxels 1 --cullet "$cullet"
shot bunny_drop reconstruct
shot suzanne_drop reconstruct --set "time.end=2 ms"
tiny compare_suzanne.py "$python" tools/compare_suzanne.py "$work/bunny_drop" "$work/suzanne_drop" --out "$work/suzanne.png" --frames 0 1 \
    --width 64 --height 48 --samples 4 --cullet "$cullet"
tiny compare_stress.py "$python" tools/compare_stress.py --tiny --cullet "$cullet"
if [[ -n "${CULLET_FARM:-}" ]]; then
    tiny farm.py "$CULLET_FARM" tools/farm.py "$cullet" openjd snakemake --kills 1
else
    echo "== farm.py: skipped, CULLET_FARM names no Python with farm managers"
fi
if command -v sbatch >/dev/null; then
    tiny farm.py "$python" tools/farm.py "$cullet" slurm --kills 1
else
    echo "== farm.py: no Slurm here"
fi
figures() {
    "$python" tools/figures.py "$@" --data "$work/figures.json" --page "$work/FIGURES.md"
}
tiny figures.py figures measure --tiny --only steps,cells,packing,implicit-shots --target "$target"
figures write
figures check
tiny hemisphere.py "$python" tools/hemisphere.py --simulate "$work/hemisphere" --loads 400 --set scale=smoke --set "time.end=4 s" --cullet "$cullet"
shot hertzian_cone simulate --set "time.end=2 ms" --set "time.frames_per_second=1 kHz" --set "collider.ball.position=[0, 0.111, 0]" \
    --set "material.glass.hydrostatic_strength=10 kPa"
tiny cone_angle.py "$python" tools/cone_angle.py "$work/hertzian_cone"
tiny implicit_bending.py "$python" tools/implicit_bending.py --rows 3 --step 0.5 --method explicit manifold --end 0.12 --cullet "$cullet"
tiny rotation_vectors.py "$python" tools/rotation_vectors.py --step 16 --young 1e8 --end 16 --samples 1 --tolerance 1e-3 --cullet "$cullet"
tiny stiffness_sweep.py "$python" tools/stiffness_sweep.py --young 1e8 --rows 2 3 --span 0.03 --steps 20 --cullet "$cullet"
shot lamb simulate
tiny lamb.py "$python" tools/lamb.py "$work/lamb"
tiny implicit_sizes.py "$python" tools/implicit_sizes.py --scale smoke --steps 3 --cullet "$cullet" stretch
tiny kill_and_resume.py "$python" tools/kill_and_resume.py "$cullet" 2 --set body.bunny.packing.elements=500 --set "time.end=1 ms"
tiny lammps_to_store.py "$python" tools/lammps_to_store.py tests/external/lammps/impact.dump --bonds tests/external/lammps/impact.bonds \
    --timestep 1e-7 --out "$work/lammps"
tiny lawgen.rs "$target/examples/lawgen"
tiny make_faulty_balls.py "$python" tools/make_faulty_balls.py "$work/balls" 500
tiny make_bad_meshes.py "$python" tools/make_bad_meshes.py "$work/bad"
# Blender is not among what the gate brings, because of its size.
if "$python" -c "import bpy" 2>/dev/null; then
    tiny make_suzanne.py "$python" tools/make_suzanne.py --out "$work/meshes/suzanne.obj"
else
    echo "== make_suzanne.py: skipped, no bpy here"
fi
tiny make_assets.py "$python" tools/make_assets.py --out "$work/meshes"
tiny pull_bars.rs "$target/examples/pull_bars" 'type = "hexagonal"' 3 0.2 'strength = "material"'
tiny pull_bars.rs "$target/examples/pull_bars" --twist 'type = "hexagonal"' 3 0.2 ''
tiny tear_strips.rs "$target/examples/tear_strips" 'type = "hexagonal"' 8 1 0.2 '' 1
tiny notched_beams.py "$python" tools/notched_beams.py --rows 8 --axis z --zone 1 --cullet "$cullet"
tiny make_meshes.py "$python" tools/make_meshes.py --out "$work/meshes"
for mesh in "$work"/meshes/*; do
    cmp "$mesh" "pipelines/meshes/$(basename "$mesh")"
done
# The program that is already built: to build it for an old glibc takes a quarter of an hour.
strip -o "$work/cullet" "$cullet"
tiny package tools/package/linux.sh --binary "$work/cullet" --out "$work/package"
tiny package tools/package/try.sh "$work"/package/*.tar.gz
tiny paper_sizes.py "$python" tools/paper_sizes.py --scale smoke --cullet "$cullet" chocolate
shot drilling_plaster reconstruct --set "time.end=2 ms" --set "time.frames_per_second=1 kHz"
for name in bunny_drop drilling_plaster; do # the drill is a collider that is a mesh
    tiny render_mitsuba.py "$python" tools/render_mitsuba.py "$work/$name" --out "$work/$name.png" --width 64 --height 48 --samples 4 \
        --cullet "$cullet"
done
shot pinched_cylinder simulate --set "body.tube.packing.rows=[28, 8, 1]" --set "time.end=0.6 s"
tiny compare_sleep.py "$python" tools/compare_sleep.py --cullet "$cullet" --runs 1 --set scale=smoke --set "time.end=2 ms" bunny_drop
tiny compare_sizes.py "$python" tools/compare_sizes.py --cullet "$cullet" --set "time.end=1 ms" --sizes 500 1000
tiny pinched_cylinder.py "$python" tools/pinched_cylinder.py "$work/pinched_cylinder"
tiny write_store.py "$python" tools/write_store.py "$work/written" --cells 6 4 4
for store in lammps written; do
    "$cullet" inspect "$work/$store" --validate
done
if [[ -n "${CULLET_WHEEL:-}" ]]; then
    tiny first_shot.py "$python" tools/first_shot.py "$CULLET_WHEEL"
else
    echo "== first_shot.py: skipped, CULLET_WHEEL names no wheel"
fi
tiny ranks_model.py "$python" tools/ranks_model.py --elements 1e8 --nodes 100
if [[ -n "${CULLET_MPI:-}" ]]; then
    tiny ranks.py "$python" tools/ranks.py --program "$CULLET_MPI" --ranks 2 3 --threads 1
else
    echo "== ranks.py: skipped, CULLET_MPI names no program built with MPI"
fi
# The fuzzer alone needs a nightly toolchain, which the gate does not bring.
if command -v cargo-fuzz >/dev/null && rustup toolchain list 2>/dev/null | grep -q nightly; then
    tiny fuzz tools/fuzz/run 2
else
    echo "== fuzz: skipped, no cargo-fuzz or no nightly toolchain here"
fi
echo "all tools ran"
