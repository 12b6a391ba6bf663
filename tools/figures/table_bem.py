"""Measurements of boundary elements."""

import re

from .measurement import Figure, Group, column, each, matching, run


def sizes(*triangles, more=""):
    """A process for each size."""
    return "\n".join(f"bench_bem --triangles {size}{more}" for size in triangles)


BALL = run(8, sizes("1e3", "5e3", "1e4", "1e5", "1e6"), sizes("500", "2e3", more=" --points 200"))
FINE = run(0.5, "bench_bem --accuracy 1e-6 --triangles 1e4", "bench_bem --accuracy 1e-6 --triangles 500 --points 200")
BAR = run(1, sizes("1e3", "1e4", "1e5", more=" --body bar"), sizes("500", more=" --body bar --points 200"))
MESH = " --body pipelines/meshes/bunny.obj"
BUNNY = run(1, sizes("4e3", "1.5e4", more=MESH))
QUADRATIC = " --quadratic"
BALL_2 = run(0.5, sizes("1e3", "1e4", more=QUADRATIC), sizes("500", more=f"{QUADRATIC} --points 200"))
BAR_2 = run(1, sizes("1e3", "1e4", more=f" --body bar{QUADRATIC}"))
BUNNY_2 = run(3, sizes("4e3", "1.5e4", more=MESH + QUADRATIC))


def answers(poisson):
    return run(6, f"bench_bem --answers OUT --poisson {poisson}")


ANSWERS = {poisson: answers(poisson) for poisson in ("0.2", "0.49")}
BODIES = (
    "hollow sphere, inner wall",
    "hollow sphere, outer wall",
    "twisted bar",
    "spinning ball",
    "cavity, largest stress",
    "torus",
)


def known(printed):
    """Errors on the surface of bodies with a known answer at the largest size, quadratic displacements, %"""
    found = []
    for body in BODIES:
        pattern = rf"^{re.escape(body)}, on the surface, Quadratic, .*? ([+-]\S+); orders"
        [error] = re.findall(pattern, printed[0].text, re.MULTILINE)
        found.append(100 * abs(float(error)))
    return found


TIMES_GROUP = Group(
    "bem",
    "Boundary elements",
    """
A ball of 980, 5,120, 9,680, 100,820, 1,003,520 triangles under an uneven load, accuracy 1e-4, ν = 0.3. Seconds
are those of the processor, all threads together.
""",
    [
        Figure("product", "one product", BALL, each("product_cpu_s"), "{:.2g}", "s"),
        Figure("build", "preparing near panels and the tree", BALL, each("build_cpu_s"), "{:.2g}", "s"),
        Figure("solve", "solving to a residual of 1e-6", BALL, each("solve_cpu_s"), "{:.2g}", "s"),
        Figure(
            "matrix",
            "one product by the stored matrix, 980; 5,120 triangles",
            BALL,
            each("matrix_product_cpu_s"),
            "{:.2g}",
            "s",
        ),
        Figure("matrix_build", "preparing that matrix", BALL, each("matrix_build_cpu_s"), "{:.2g}", "s"),
        Figure("inside", "displacement and stress at 10,000 points inside", BALL, each("inside_cpu_s"), "{:.2g}", "s"),
        Figure(
            "inside_exact", "exact sums at 100 points inside", BALL, each("inside_exact_at_100_cpu_s"), "{:.2g}", "s"
        ),
        Figure("fine", "one product at 9,680 triangles, accuracy 1e-6", FINE, each("product_cpu_s"), "{:.2g}", "s"),
        Figure("fine_build", "preparing it", FINE, each("build_cpu_s"), "{:.2g}", "s"),
        Figure(
            "quadratic",
            "one product, quadratic displacements, bunny of 3,674; 14,696 triangles",
            BUNNY_2,
            each("product_cpu_s"),
            "{:.2g}",
            "s",
        ),
        Figure("quadratic_build", "preparing it", BUNNY_2, each("build_cpu_s"), "{:.2g}", "s"),
        Figure("quadratic_solve", "solving it to 1e-6", BUNNY_2, each("solve_cpu_s"), "{:.2g}", "s"),
    ],
)
ERRORS_GROUP = Group(
    "bem-errors",
    "Errors, iterations and memory of boundary elements",
    "As above. The known answers are at 2,700 to 2,900 triangles.",
    [
        Figure(
            "product",
            "error of a product at 100 nodes, against exact integrals over all panels: least; most",
            BALL,
            lambda printed: [pick(each("product_error")(printed)) for pick in (min, max)],
            "{:.1e}",
        ),
        Figure(
            "memory",
            "memory of all that stays between loads, a triangle, 100,820; 1,003,520 triangles",
            BALL,
            lambda printed: each("bytes_a_triangle", 1e-3)(printed)[-2:],
            unit="kB",
        ),
        Figure("ball", "iterations to 1e-6: ball of the five sizes", BALL, each("iterations"), "{:.0f}"),
        Figure("fine", "error of a product at 9,680 triangles, accuracy 1e-6", FINE, each("product_error"), "{:.0e}"),
        Figure("bar", "iterations: bar of 1,008; 10,108; 100,800 triangles", BAR, each("iterations"), "{:.0f}"),
        Figure("bunny", "iterations: bunny of 3,674; 14,696 triangles", BUNNY, each("iterations"), "{:.0f}"),
        Figure(
            "ball_2",
            "iterations, quadratic displacements: ball of 980; 9,680 triangles",
            BALL_2,
            each("iterations"),
            "{:.0f}",
        ),
        Figure("bar_2", "the same: bar of 1,008; 10,108 triangles", BAR_2, each("iterations"), "{:.0f}"),
        Figure("bunny_2", "the same: bunny of 3,674; 14,696 triangles", BUNNY_2, each("iterations"), "{:.0f}"),
        Figure("bunny_2_memory", "memory of it, a triangle", BUNNY_2, each("bytes_a_triangle", 1e-3), "{:.0f}", "kB"),
        *(
            Figure(
                f"answers_{poisson}",
                f"ν = {poisson}, error of quadratic displacements in the stress on the surface: hollow sphere,"
                " inside; outside; twisted bar; spinning ball; at a cavity; torus under point forces",
                run_of,
                known,
                unit="%",
            )
            for poisson, run_of in ANSWERS.items()
        ),
    ],
    level=3,
    everywhere=True,
)

# ---------------------------------------------------------------- finite elements

FEM = run(
    20, "python tools/compare_stress.py --only fem --json", "python tools/compare_stress.py --only fem --tiny --json"
)


def fem(key, what, scale=1.0):
    return column(key, scale, what=what)


def finer(key, where, scale=1.0):
    """Reads the finite elements beside those cut in eight."""
    ends = f" tetrahedra in place of BEM, {where}"
    return lambda printed: [scale * row[key] for row in printed[0].json if row.get("what", "").endswith(ends)]


AWAY, FAR = "at triangles 6 mm from rims of loads", "at triangles"
FEM_GROUP = Group(
    "fem",
    "Boundary elements beside finite elements",
    """
A bunny of 10 cm is squeezed by two even forces in balance, one on its back and one on its base. The finite
elements are quadratic tetrahedra in the same polyhedron under the same tractions. Triangles of 4, 3, 2 mm.
Distances of two places are in radii of the packing's elements; at a rim of a loaded region the traction jumps.
""",
    [
        Figure(
            "away",
            "largest principal stress over that of finite elements, 6 mm and more away from rims",
            FEM,
            fem("ratio", AWAY),
            "{:.3f}",
        ),
        Figure("away_apart", "distance of the places", FEM, fem("apart", AWAY), "{:.1f}"),
        Figure("surface", "the same ratio on the whole surface", FEM, fem("ratio", FAR), "{:.3f}"),
        Figure("surface_apart", "distance of the places", FEM, fem("apart", FAR), "{:.0f}"),
        Figure(
            "surface_rms",
            "rms difference of all components over rms, at the centroids of the triangles",
            FEM,
            fem("rms", FAR, 100),
            unit="%",
        ),
        Figure("inside", "the ratio at about 4,000 points inside", FEM, fem("ratio", "inside"), "{:.3f}"),
        Figure("inside_apart", "distance of the places", FEM, fem("apart", "inside"), "{:.0f}"),
        Figure("inside_rms", "rms difference there", FEM, fem("rms", "inside", 100), unit="%"),
        Figure(
            "alone",
            "finite elements over finer ones, 4; 3 mm: the ratio on the whole surface",
            FEM,
            finer("ratio", "at triangles"),
            "{:.3f}",
        ),
        Figure(
            "alone_rms", "rms difference of these at the centroids", FEM, finer("rms", "at triangles", 100), unit="%"
        ),
        Figure("alone_inside", "the ratio of these inside", FEM, finer("ratio", "inside"), "{:.3f}"),
        Figure("alone_inside_rms", "rms difference of these inside", FEM, finer("rms", "inside", 100), unit="%"),
    ],
    level=3,
    everywhere=True,
)

# ---------------------------------------------------------------- bonded elements

BDEM = run(
    45,
    """
    python tools/compare_stress.py --only bdem --sizes 0.004 --elements 20000 60000 --store OUT --json
    python tools/compare_stress.py --only bdem --sizes 0.004 --elements 20000 60000 --store OUT --reach 6 --json
    """,
    """
    python tools/compare_stress.py --only bdem --tiny --store OUT --json
    python tools/compare_stress.py --only bdem --tiny --store OUT --json
    """,
)
FORCES, GRADIENT = "by forces of bonds", "by fitted gradient"
FORMS = {"ratio": ("{:.3f}", "", 1), "apart": ("{:.1f}", "", 1), "rms": ("{:.1f}", "%", 100)}
NAMES = {
    "ratio": "largest principal stress over that of boundary elements",
    "apart": "distance of the places",
    "rms": "rms difference",
}


def bonded(name, what, packing, label, at=0):
    """The three figures of a comparison; a name that is the same as above is left out."""
    for key, (form, unit, scale) in FORMS.items():
        read = column(key, scale, at=at, packing=packing, what=label)
        yield Figure(f"{name}_{packing}_{key}", f"{packing}, {what}: {NAMES[key]}", BDEM, read, form, unit)


def both(name, what, label, at=0):
    return [figure for packing in ("hexagonal", "random") for figure in bonded(name, what, packing, label, at)]


def stiffness(packing):
    """Young's modulus found within the packing over the one asked for."""
    return lambda printed: [row["stiffness"] for row in matching(printed[0].json, {"packing": packing, "what": None})]


BDEM_GROUP = Group(
    "bonded",
    "Bonded elements beside boundary elements",
    """
The same bunny of about 20 and 60 thousand elements, hexagonal and random. The bonded elements have the same
loads, spread over their outermost layer in proportion to the surface there, and are at rest. Stress is taken
from the forces of bonds and averaged within 3 radii. "Deep" is at least 8 radii below the surface; at 3 radii
the largest stress is at the root of a paw about 8 mm thick, which bends.
""",
    [
        *both("deep", "deep", f"{FORCES}, 8 radii inside"),
        *both("shallow", "at least 3 radii below the surface", f"{FORCES}, 3 radii inside"),
        *both("gradient", "deep, stress from the gradient of displacement", f"{GRADIENT}, 8 radii inside"),
        *both("reach", "deep, averaged within 6 radii (second command)", f"{FORCES}, 8 radii inside", at=1),
        *(
            Figure(
                f"young_{packing}",
                f"{packing}: Young's modulus within the packing over the one asked for",
                BDEM,
                stiffness(packing),
                "{:.3f}",
            )
            for packing in ("hexagonal", "random")
        ),
    ],
    level=3,
    everywhere=True,
)

GROUPS = [TIMES_GROUP, ERRORS_GROUP, FEM_GROUP, BDEM_GROUP]
