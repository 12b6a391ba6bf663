#!/usr/bin/env python3
"""Reference values of the laws of a material: softening, Rankine's criterion, restitution, scatter of strengths, static
friction.

    python3 make_material_laws.py [OUT_DIR]

Computed independently of the project in float64, with two seeds, for reading by tests/vectors_materials.rs. Everything
is SI. Where a law is a derivative or an integral, the value comes from a difference or a sum of the quantity that it is
derived from: forces from energies, energies from areas below curves, restitution from stepped contacts."""

import json
import math
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent


def norm(v):
    return math.sqrt(math.fsum(c * c for c in v))


def direction(draw):
    v = [draw.gauss(0, 1) for _ in range(3)]
    return [c / norm(v) for c in v]


# ---- softening: energy g W + (1 - g) k min(l - l0, 0)^2 / 2 of a bond that is only stretched ----


def softened_energy(x, rest, stiffness, left):
    change = norm(x) - rest
    whole = 0.5 * stiffness * change**2
    pressed = 0.5 * stiffness * min(change, 0.0) ** 2
    return left * whole + (1 - left) * pressed


def slope(f, x, k, h):
    """Fourth-order difference of f along axis k."""

    def at(step):
        return f([c + (step * h if axis == k else 0.0) for axis, c in enumerate(x)])

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def softened_bond(draw):
    rest = 10 ** draw.uniform(-3, 0)
    stiffness = 10 ** draw.uniform(3, 7)
    strain = draw.choice([-1, 1]) * 10 ** draw.uniform(-2.5, -1)
    x = [rest * (1 + strain) * c for c in direction(draw)]
    left = draw.uniform(0.02, 0.98)

    def energy(x):
        return softened_energy(x, rest, stiffness, left)

    h = 1e-2 * abs(strain) * rest
    force = [-slope(energy, x, k, h) for k in range(3)]
    hessian = [[slope(lambda at: slope(energy, at, k, h), x, j, h) for j in range(3)] for k in range(3)]
    return {
        "x": x,
        "rest_length": rest,
        "normal": stiffness,
        "left": left,
        "force": force,
        "energy": energy(x),
        "hessian": hessian,
    }


def damage_path(draw):
    """Uses of strength of the undamaged bond in time, and what is left after each: stress falls from 1 at u = 1 to 0 at
    u = end along a line, and returns to the origin when the bond is unloaded."""
    end = draw.uniform(1.5, 40.0)
    uses, left, most = [], [], 1.0
    for _ in range(8):
        use = draw.uniform(0.2, 1.0) * min(1.15 * max(most, 1.0), 0.98 * end)
        most = max(most, use)
        stress = (end - most) / (end - 1)
        uses.append(use)
        left.append([stress / most, stress])
    # Energy over that of the brittle bond: area below the stress, over that of the triangle up to u = 1.
    steps = 20000
    area = 0.5 + math.fsum((end - (1 + (k + 0.5) * (end - 1) / steps)) / (end - 1) for k in range(steps)) * (end - 1) / steps
    return {"end": end, "uses": uses, "left": left, "energy_ratio": area / 0.5}


def softening(draw):
    toughness, young, poisson = 10 ** draw.uniform(4, 6), 10 ** draw.uniform(8, 11), draw.uniform(0, 0.4)
    return {
        "bonds": [softened_bond(draw) for _ in range(16)],
        "paths": [damage_path(draw) for _ in range(8)],
        "toughness": toughness,
        "young": young,
        "poisson": poisson,
        "fracture_energy": toughness**2 / (young / (1 - poisson**2)),
    }


# ---- Rankine: largest principal stress by bisection of the characteristic polynomial ----


def determinant(m):
    return math.fsum(
        sign * m[0][a] * m[1][b] * m[2][c]
        for sign, a, b, c in [(1, 0, 1, 2), (1, 1, 2, 0), (1, 2, 0, 1), (-1, 2, 1, 0), (-1, 1, 0, 2), (-1, 0, 2, 1)]
    )


def largest_principal(m):
    """Largest eigenvalue: above it the matrix v - m is positive definite, by its leading minors."""

    def is_above(v):
        s = [[(v if i == j else 0.0) - m[i][j] for j in range(3)] for i in range(3)]
        return s[0][0] > 0 and s[0][0] * s[1][1] - s[0][1] * s[1][0] > 0 and determinant(s) > 0

    size = math.fsum(abs(c) for row in m for c in row)
    low, high = -size, size
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return 0.5 * (low + high)


def rankine(draw):
    """Stress of an element from the forces of bonds on it, and its largest principal value."""
    entries = []
    for _ in range(16):
        volume, count = 10 ** draw.uniform(-9, -3), draw.randrange(3, 13)
        size = volume ** (1 / 3)
        arms = [[0.6 * size * c for c in direction(draw)] for _ in range(count)]
        force = 10 ** draw.uniform(5, 8) * size**2
        forces = [[force * draw.uniform(-0.3, 1) * a / norm(arm) + 0.2 * force * draw.gauss(0, 1) for a in arm] for arm in arms]
        stress = [
            [math.fsum(0.5 * (a[i] * f[j] + a[j] * f[i]) for a, f in zip(arms, forces)) / volume for j in range(3)]
            for i in range(3)
        ]
        entries.append({"volume": volume, "arms": arms, "forces": forces, "stress": stress, "largest": largest_principal(stress)})
    return {"elements": entries}


# ---- restitution: a contact of unit mass and stiffness, stepped by Runge and Kutta until its force would pull ----


def rebound(ratio, h=1e-4):
    def rate(x, v):
        return v, -x - 2 * ratio * v

    def step(x, v, h):
        a = rate(x, v)
        b = rate(x + h / 2 * a[0], v + h / 2 * a[1])
        c = rate(x + h / 2 * b[0], v + h / 2 * b[1])
        d = rate(x + h * c[0], v + h * c[1])
        return [p + h / 6 * (a[k] + 2 * b[k] + 2 * c[k] + d[k]) for k, p in enumerate((x, v))]

    x, v = 0.0, 1.0
    while True:
        after = step(x, v, h)
        if after[0] + 2 * ratio * after[1] < 0:
            break
        x, v = after
    # The moment of zero force within the step.
    low, high = 0.0, h
    for _ in range(60):
        middle = 0.5 * (low + high)
        there = step(x, v, middle)
        low, high = (middle, high) if there[0] + 2 * ratio * there[1] > 0 else (low, middle)
    return -step(x, v, low)[1]


def restitution(draw):
    ratios = [draw.uniform(0.01, 0.95) for _ in range(6)] + [draw.uniform(1.05, 2.0) for _ in range(2)]
    return {"contacts": [{"damping_ratio": ratio, "restitution": rebound(ratio)} for ratio in ratios]}


# ---- scatter of strengths: mean and deviation of the quantile function over (0, 1) ----


def scatter(draw):
    entries = []
    for _ in range(8):
        modulus = draw.uniform(1.5, 30.0)
        gamma = [math.gamma(1 + k / modulus) for k in (1, 2)]
        u = [draw.random() for _ in range(6)]
        factor = [(-math.log1p(-p)) ** (1 / modulus) / gamma[0] for p in u]
        deviation = math.sqrt(gamma[1] / gamma[0] ** 2 - 1)
        entries.append({"modulus": modulus, "u": u, "factor": factor, "deviation": deviation})
    return {"moduli": entries}


# ---- static friction: a contact that is pushed about, in the plane of contact and by components ----


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def frictional_path(draw):
    """Steps of one contact: motion, and the load after each. The centre of j is the origin. The spring is followed by its
    components along two directions of the plane of contact, which is possible as the normal stays."""
    normal, tangential = 10 ** draw.uniform(3, 6), 10 ** draw.uniform(3, 6)
    kinetic = draw.uniform(0.1, 0.6)
    static = kinetic * draw.uniform(1.2, 2.5)
    n = direction(draw)
    e1 = cross(n, direction(draw))
    e1 = [c / norm(e1) for c in e1]
    e2 = cross(n, e1)
    touch = 10 ** draw.uniform(-3, -1)
    overlap = 10 ** draw.uniform(-3, -1.5) * touch
    dt = 1e-5
    # The speed that stretches the spring to the limit in six to twenty steps.
    scale = static * normal * overlap / tangential / (6 * dt)
    spring, slides, steps = [0.0, 0.0], False, []
    push = draw.uniform(0, 2 * math.pi)
    for step in range(50):
        if step % 17 == 16:
            push += math.pi * draw.uniform(0.8, 1.2)
        speed = scale * draw.uniform(0.3, 1.0)
        plane = [speed * math.cos(push), speed * math.sin(push)]
        delta = overlap * draw.uniform(0.95, 1.05)
        x = [(touch - delta) * c for c in n]
        v = [plane[0] * a + plane[1] * b for a, b in zip(e1, e2)]
        spring = [s + p * dt for s, p in zip(spring, plane)]
        pressed = normal * delta
        pull = tangential * math.hypot(*spring)
        slides = pull > (kinetic if slides else static) * pressed
        if slides:
            spring = [s * kinetic * pressed / pull for s in spring]
        force = [pressed * c - tangential * (spring[0] * a + spring[1] * b) for c, a, b in zip(n, e1, e2)]
        steps.append({"x": x, "v": v, "force": force, "slides": slides})
    return {
        "normal": normal,
        "tangential": tangential,
        "friction": kinetic,
        "static_friction": static,
        "touch": touch,
        "dt": dt,
        "steps": steps,
    }


def static_friction(draw):
    return {"contacts": [frictional_path(draw) for _ in range(3)]}


if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for law in (softening, rankine, restitution, scatter, static_friction):
        seeds = [{"seed": seed, **law(random.Random(seed))} for seed in (1, 2)]
        (out / f"{law.__name__}.json").write_text(json.dumps(seeds, indent=1) + "\n")
        print(law.__name__)
