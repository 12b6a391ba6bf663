"""Measurements of bending, torsion, implicit steps and the cone crack."""

from .measurement import Figure, Group, column, over, path, run

# ---------------------------------------------------------------- bending and torsion

BENT = run(
    20,
    "python tools/beam_bending.py --rows 8 16 --random --json",
    "python tools/beam_bending.py --rows 3 --elasticity bond material --random --json",
)
BROKEN = run(
    12,
    "python tools/beam_bending.py --rows 5 7 15 --elasticity bond --break --json",
    "python tools/beam_bending.py --rows 3 --elasticity bond --break --json",
)
TWISTED = run(
    10,
    "python tools/beam_twisting.py --rows 6 12 --simulate --json",
    "python tools/beam_twisting.py --rows 6 --along 4 --simulate --json",
)
ENDLESS = run(
    4,
    "python tools/beam_twisting.py --rows 6 12 24 48 --endless --json",
    "python tools/beam_twisting.py --rows 6 --endless --json",
)
YOUNG, STRENGTH = 1e8, 8e6  # Pa, of the bonds in beam_bending
HEXAGONAL = {"random": False, "elasticity": "bond"}
SOLID = {"elasticity": "material"}
SHEARS = {"4": 4e6, "0.4": 0.4e6}  # Pa, by G/E of the bonds

BENDING_GROUP = Group(
    "bending",
    "Bending and torsion",
    """
Three-point bending with a span of 6 heights, of 8 and 16 rows and layers. "Eq. 29" is that of Lu et al. 2021,
which has E and the bending strength from the load on the middle. Torsion is beside a static solution and
Saint-Venant's.
""",
    [
        Figure(
            "static",
            "slope of load over displacement, over that of a static solution of the same bonds",
            BENT,
            over("slope", "static", **HEXAGONAL),
            "{:.3f}",
        ),
        Figure(
            "eq29",
            "E by eq. 29 over the bonds' E (the paper: 1.10 at both resolutions)",
            BENT,
            column("e_eq29", 1 / YOUNG, **HEXAGONAL),
            "{:.3f}",
        ),
        Figure(
            "solid",
            "E and ν those of the solid, E with shear and supports taken off over the E asked for: hexagonal",
            BENT,
            column("e_timoshenko", 1 / YOUNG, random=False, **SOLID),
            "{:.3f}",
        ),
        Figure(
            "random",
            "the same: random, of which the box is emptier towards the skin",
            BENT,
            column("e_timoshenko", 1 / YOUNG, random=True, **SOLID),
            "{:.2f}",
        ),
        Figure(
            "frame",
            "5, 7, 15 rows until they break: frame of the first broken bonds",
            BROKEN,
            column("break_frame"),
            "{:.0f}",
        ),
        Figure(
            "strength",
            "the same: bending strength by eq. 29 over the bonds'",
            BROKEN,
            column("sigma_eq29", 1 / STRENGTH),
            "{:.2f}",
        ),
        *(
            Figure(
                f"slow_{name}",
                f"torsion, 6, 12 rows, G/E of the bonds {name}: slow run over static solution",
                TWISTED,
                over("slope", "static", shear=shear),
                "{:.4f}",
            )
            for name, shear in SHEARS.items()
        ),
        *(
            Figure(
                f"twist_{name}",
                f"the same, G/E {name}: static solution over G J_t / L",
                TWISTED,
                over("static", "saint_venant", shear=shear),
                "{:.3f}",
            )
            for name, shear in SHEARS.items()
        ),
        *(
            Figure(
                f"endless_{name}",
                f"the section far from its ends over G J_t, 6, 12, 24, 48 rows, G/E {name}",
                ENDLESS,
                column("endless", shear=shear),
                "{:.3f}",
            )
            for name, shear in SHEARS.items()
        ),
    ],
    everywhere=True,
)

# ---------------------------------------------------------------- explicit and implicit steps

SMALL = run(
    30,
    "python tools/implicit_bending.py --rows 5 7 --json",
    "python tools/implicit_bending.py --rows 3 --step 0.5 --method explicit manifold --end 0.12 --json",
)
LARGE = run(60, "python tools/implicit_bending.py --rows 15 --step 0.2 --end 0.2401 --method explicit manifold --json")
METHODS = {
    "explicit": ("explicit", "explicit"),
    "manifold": ("manifold", "`manifold`"),
    "cosserat1": ("cosserat, kappa 1", "`cosserat`, κ = 1"),
    "cosserat": ("cosserat", "`cosserat`, κ = 5/6"),
}


def by_method(suffix, what, of, key, names=METHODS, form="{:.3f}"):
    """A figure a method; implicit steps of 0.2 ms."""
    for name in names:
        method, title = METHODS[name]
        where = {"method": method} | ({} if name == "explicit" else {"step": 0.2})
        yield Figure(f"{name}_{suffix}", f"{what}: {title}", of, column(key, **where), form)


STEPS_GROUP = Group(
    "implicit-bending",
    "Bending by explicit and implicit steps",
    """
Three-point bending of 5 and 7 rows, 750 and 2,058 elements; implicit steps of 0.2 ms. E and strength are those
by eq. 29 over the bonds'.
""",
    [
        *by_method("e", "E", SMALL, "e"),
        *by_method("strength", "strength", SMALL, "sigma"),
        *by_method("frame", "frame of the first broken bond", SMALL, "frame", form="{:.0f}"),
        *by_method("large_e", "15 rows, 20,250 elements, E", LARGE, "e", ("explicit", "manifold")),
        *by_method("large_strength", "15 rows, strength", LARGE, "sigma", ("explicit", "manifold")),
        *by_method(
            "large_frame", "15 rows, frame of the first broken bond", LARGE, "frame", ("explicit", "manifold"), "{:.0f}"
        ),
    ],
    level=3,
    everywhere=True,
)

# ---------------------------------------------------------------- rotation vectors

VECTORS = run(
    3,
    "python tools/rotation_vectors.py --json",
    "python tools/rotation_vectors.py --step 16 --young 1e8 --end 16 --samples 1 --tolerance 1e-3 --json",
)
COORDINATES = {
    "newton": "on the manifold",
    "rotation_vectors": "in rotation vectors",
    "rotation_vectors_gauss_newton": "in rotation vectors, Gauss–Newton",
}
VECTORS_GROUP = Group(
    "rotation-vectors",
    "Implicit steps in rotation vectors",
    """
Three-point bending of 384 elements (Lu et al. 2025, Figure 6): mean iterations of an implicit step to a residual of
1e-6, in steps of 1; 4; 16 ms.
""",
    [
        Figure(
            f"{method}_{exponent}",
            f"bonds of 1e{exponent} Pa: {title}",
            VECTORS,
            column(method, young=float(f"1e{exponent}")),
            "{:.2f}",
        )
        for exponent in (7, 8, 9)
        for method, title in COORDINATES.items()
    ],
    level=3,
    everywhere=True,
)

# ---------------------------------------------------------------- stiffness and size

SWEPT = run(
    5,
    "python tools/stiffness_sweep.py --json",
    "python tools/stiffness_sweep.py --young 1e8 --rows 2 3 --span 0.03 --steps 20 --json",
)


def swept(name, what, key, form="{:.3g}"):
    """A figure over stiffness and one over size."""
    yield Figure(f"{name}_young", f"{what}, 1e6; 1e7; 1e8; 1e9 Pa", SWEPT, column(key, over="young"), form)
    yield Figure(f"{name}_rows", f"{what}, 8,640; 20,480 elements, 1e9 Pa", SWEPT, column(key, over="rows"), form)


SWEEP_GROUP = Group(
    "stiffness",
    "Explicit and implicit steps over stiffness and size",
    """
A beam that sags (`drape`; Lu et al. 2025, Figures 11 and 12), 2,560 elements unless given. Implicit steps of 8.334 ms
are timed over the first 0.5 s, explicit ones over 300 steps and extrapolated.
""",
    [
        *swept("explicit", "seconds per simulated second by explicit steps", "explicit"),
        *swept("implicit", "the same by implicit steps", "implicit"),
        *swept("ratio", "implicit over explicit", "ratio"),
        *swept("newton", "Newton iterations a step", "newton", "{:.1f}"),
    ],
    level=3,
)

# ---------------------------------------------------------------- implicit steps in whole shots


def implicit(shot, law, step, minutes, more="", tiny=None):
    """A shot at smoke size by midpoint steps of this many microseconds."""

    def lines(end):
        sets = f"--set scale=smoke --set simulate.integrator=midpoint --set simulate.law={law}{step}{more}{end}"
        return f"""
        cullet run pipelines/{shot}.toml {sets} --to simulate --out OUT/{shot}
        python tools/figures/newton.py OUT/{shot}
        """

    return run(minutes, lines(""), lines(tiny) if tiny else None)


def micro(step):
    return f" --set 'time.step=\"{step} us\"'"


SHORT = " --set 'time.end=\"0.2 ms\"' --set 'time.frames_per_second=\"10 kHz\"'"
STIFF = " --set 'material.cotton.young=\"1 GPa\"' --set 'material.cotton.tensile_strength=\"100 MPa\"'"
SHOTS = {
    "chocolate": (
        "`chocolate`, `manifold`, steps of 40 µs",
        implicit("chocolate", "manifold", micro(40), 2, tiny=SHORT),
    ),
    "plate_drop": ("`plate_drop`, `manifold`, 35 µs", implicit("plate_drop", "manifold", micro(35), 2)),
    "bunny_wall": ("`bunny_wall`, `cosserat`, 100 µs", implicit("bunny_wall", "cosserat", micro(100), 2)),
    "thin_plate": ("`thin_plate`, `cosserat`, 100 µs", implicit("thin_plate", "cosserat", micro(100), 2)),
    "thick_plate": ("`thick_plate`, `cosserat`, 50 µs", implicit("thick_plate", "cosserat", micro(50), 2)),
    "hertzian_cone": ("`hertzian_cone`, `cosserat`, 30 µs", implicit("hertzian_cone", "cosserat", micro(30), 2)),
    "textile_stiff": (
        "`textile_tear` with a Young's modulus of 1 GPa and a strength of 100 MPa, `cosserat`, 20 µs",
        implicit("textile_tear", "cosserat", micro(20), 4, STIFF),
    ),
    "textile_tear": (
        "`textile_tear` as it stands, `cosserat`, 100 critical steps",
        implicit("textile_tear", "cosserat", "", 4),
    ),
}
IMPLICIT_GROUP = Group(
    "implicit-shots",
    "Implicit steps in whole shots",
    "Newton iterations a solve over whole runs at smoke size, midpoint steps.",
    [Figure(name, what, of, path("iterations")) for name, (what, of) in SHOTS.items()],
    everywhere=True,
)

# ---------------------------------------------------------------- the cone crack

CONE = run(
    20,
    """
    cullet run pipelines/hertzian_cone.toml --to simulate --out OUT/cone
    python tools/cone_angle.py OUT/cone --json
    """,
)
CONE_GROUP = Group(
    "cone",
    "The cone crack",
    "The median of twelve sectors, once the crack of `hertzian_cone` has stopped.",
    [
        Figure("angle", "angle of the crack from the surface", CONE, path("angle"), "{:.0f}", "°"),
        Figure(
            "range",
            "sectors: the least; the most",
            CONE,
            lambda printed: [*path("least")(printed), *path("most")(printed)],
            "{:.0f}",
            "°",
        ),
    ],
    everywhere=True,
)

GROUPS = [BENDING_GROUP, STEPS_GROUP, VECTORS_GROUP, SWEEP_GROUP, IMPLICIT_GROUP, CONE_GROUP]
