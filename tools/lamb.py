#!/usr/bin/env python3
"""Compares runs of pipelines/lamb.toml with the exact solution of Lamb's problem in plane strain.

    python tools/lamb.py STORE...                 largest error of each gauge over its largest displacement, and its order from store to store
    python tools/lamb.py STORE... --plot PNG      traces next to the exact ones

Needs numpy and pyarrow, --plot matplotlib too. The half-space is y <= 0, u_z = 0; a vertical force per metre of z acts on the surface at the origin,
    f(t) = A (1 - 2 a) exp(-a),   a = (pi f0 (t - t0))^2.
The Ricker function has no beginning, a run does: with t0 = 1.5/f0 it jumps by 1e-8 A there.

Cells are pushed and measured in their middle. The exact force acts on the surface where the resultant of the forces does; each exact trace is that of
the middle of the gauge's cell.

Method: Cagniard-de Hoop. With p the horizontal slowness, a and b the slownesses of P and S, eta_s = sqrt(s^2 - p^2), depth z = -y,
    u(t) = 1/(pi mu) Im Int G(p) f(t - p x - eta z) dp     summed over P (eta_a) and S (eta_b), and for a force pointing down
    P:  G_x = p g/R,               G_z = eta_a g/R                g = b^2 - 2 p^2
    S:  G_x = -2 p eta_a eta_b/R,  G_z = 2 p^2 eta_a/R            R = g^2 + 4 p^2 eta_a eta_b  (Rayleigh's function)
Cagniard's path makes p x + eta z real. It ends on the singularity of dp/dt, and for a receiver on the surface it runs along the branch
cuts and through the Rayleigh pole. Put p = s sin(alpha), alpha = theta - e + i v, with theta the angle from the vertical: then
    p x + eta z = s r cos(e - i v),    dp = eta d(alpha),
so the end singularity is gone (Cagniard's own path is e = 0). As f is analytic the path may leave it: e(v) > 0 keeps away from cuts and
pole, while the imaginary part of the time stays below a small part of the Ricker's width. The path starts on the real axis with p < a, where
G is real and gives nothing. Composite Gauss-Legendre quadrature then converges to rounding, on the surface as inside.
"""
import argparse, json, sys
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq


def speeds(rho, young, nu):
    """P and S wave speed, shear modulus (plane strain)."""
    mu = young/(2*(1 + nu))
    lam = young*nu/((1 + nu)*(1 - 2*nu))
    return np.sqrt((lam + 2*mu)/rho), np.sqrt(mu/rho), mu


def ricker(f0, t0, amplitude):
    def f(t):
        a = (np.pi*f0*(t - t0))**2
        return amplitude*(1 - 2*a)*np.exp(-a)
    return f


def root(s, p):
    """sqrt(s^2 - p^2), cut along |p| > s on the real axis, with positive real part in the upper half plane."""
    return np.sqrt(s - p)*np.sqrt(s + p)


def kernels(p, a, b):
    """(G_x, G_z) of P and of S for a force pointing down, z down."""
    ea, eb = root(a, p), root(b, p)
    g = b*b - 2*p*p
    R = g*g + 4*p*p*ea*eb
    return (p*g/R, ea*g/R), (-2*p*ea*eb/R, 2*p*p*ea/R)


def panels(ends, order=16):
    """Nodes and weights of Gauss-Legendre on each interval between the ends."""
    n, w = np.polynomial.legendre.leggauss(order)
    h = 0.5*np.diff(ends)
    mid = 0.5*(ends[1:] + ends[:-1])
    return (mid[:, None] + h[:, None]*n).ravel(), (h[:, None]*w).ravel()


def wave(which, x, z, times, f, scale, span, a, b, fine):
    """pi mu u of one wave; scale: time scale of changes of f; f(t) is zero for t < -span scale."""
    s = (a, b)[which]
    r, theta = np.hypot(x, z), np.arctan2(x, z)
    delta = 0.35*scale                                              # largest imaginary time
    e0 = max(0.3, theta - 0.8*np.arcsin(a/s))                       # the start has p < a
    end = np.arccosh(max(1.0, (np.max(times) + span*scale)/(s*r)) + 0.5)
    turn = delta/(s*r*e0)                                           # where e has fallen to half
    count = int(fine*(30 + 3*(np.max(times) + span*scale)/scale))
    grid = np.linspace(0, np.arcsinh(end/turn), count + 1)
    v, weight = panels(turn*np.sinh(grid))
    q = 1 + np.sinh(v)*e0*s*r/delta
    e, slope = e0/q, -e0/q**2*np.cosh(v)*e0*s*r/delta
    alpha = theta - e + 1j*v
    p, eta = s*np.sin(alpha), s*np.cos(alpha)
    gx, gz = kernels(p, a, b)[which]
    tau = s*r*np.cos(e - 1j*v)
    jac = eta*(1j - slope)*weight
    ux, uz = np.empty(len(times)), np.empty(len(times))
    for k in range(0, len(times), 64):                              # in blocks, to keep memory small
        ft = f(times[k:k + 64, None] - tau)
        ux[k:k + 64] = np.imag(ft @ (gx*jac))
        uz[k:k + 64] = np.imag(ft @ (gz*jac))
    return ux, uz


def traces(x, y, times, ground, f0, t0, amplitude=1.0, width=0.0, span=9.0, fine=1.0):
    """ux, uy (m) at (x, y), y <= 0, at the given times, for a vertical force per metre, positive upwards, on the surface at the origin.

    ground   density, Young's modulus, Poisson's ratio
    width    the force is spread evenly over |x| <= width/2 (receivers on the surface must lie well outside)
    fine     factor on the number of panels
    """
    times = np.atleast_1d(np.asarray(times, float))
    if y > 0: raise ValueError("y > 0 is outside the body")
    if width > 0:
        if y > -width and abs(x) < 1.5*width: raise ValueError("receiver too near the loaded strip")
        n, w = np.polynomial.legendre.leggauss(8)
        parts = [traces(x - 0.5*width*s, y, times, ground, f0, t0, amplitude, 0.0, span, fine) for s in n]
        return tuple(sum(0.5*wk*u[d] for wk, u in zip(w, parts)) for d in (0, 1))
    if x == 0 and y == 0: raise ValueError("the displacement under a line force is infinite")
    cp, cs, mu = speeds(*ground)
    source, scale = ricker(f0, t0, amplitude), 1/(np.pi*f0)
    z, a, b = -y, 1/cp, 1/cs
    (px, pz), (sx, sz) = (wave(k, abs(x), z, times, source, scale, span, a, b, fine) for k in (0, 1))
    # down to up: both the force and u_z change sign, u_x does not; and u_x is odd in x
    return -np.sign(x)*(px + sx)/(np.pi*mu), (pz + sz)/(np.pi*mu)


def read(store):
    """Time, displacement and position of each gauge, and the exact displacement."""
    store = Path(store)
    shot = json.loads((store/"store.json").read_text())["pipeline"]
    material, (body,) = shot["material"][0], shot["body"]
    pushes = [one for one in shot["attach"] if one["action"]["type"] == "force"]
    signal = pushes[0]["action"]["signal"]
    width, thickness = body["packing"]["size"][0], body["shape"]["size"][2]
    rows = [row for path in sorted((store/"loads").glob("*.parquet")) for row in pq.read_table(path).to_pylist()]
    # The resultant of the forces: its point of action and its size.
    force = np.array([one["action"]["force"][1] for one in pushes])
    at = np.array([next([row["x"], row["y"]] for row in rows if row["name"] == one["name"]) for one in pushes])
    push = force.sum()
    source, depth = force @ at/push
    if abs(depth) > 1e-6*width: print(f"{store}: the force acts {-depth:.3g} m below the surface")
    ground = (material["density"], material["young"], material["poisson"])
    found = {}
    for name in [one["name"] for one in shot["attach"] if one["action"]["type"] == "gauge"]:
        own = [row for row in rows if row["name"] == name]
        times = np.array([row["time"] for row in own])
        moved = np.array([[row["dx"], row["dy"]] for row in own])
        x, y = own[0]["x"] - source, own[0]["y"]
        exact = traces(x, y, times, ground, signal["frequency"], signal["delay"], push/thickness, width)
        found[name] = times, moved, np.array(exact).T, (x, y)
    return width, found


def plot(runs, path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    names = list(runs[0][1])
    figure, axes = pyplot.subplots(len(names), 2, figsize=(12, 4*len(names)), squeeze=False)
    for row, name in zip(axes, names):
        for axis, part in zip(row, (0, 1)):
            for width, found in runs:
                times, moved, exact, place = found[name]
                axis.plot(times*1e3, moved[:, part]*1e6, label=f"cells of {width:g} m")
            axis.plot(times*1e3, exact[:, part]*1e6, "k--", linewidth=1, label="exact")
            axis.set(title=f"{name}: ({place[0]:.1f}, {place[1]:.1f}) m, u_{'xy'[part]}", xlabel="ms", ylabel="um")
            axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=100)


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("stores", nargs="+", help="stores of runs, from large cells to small ones")
    options.add_argument("--plot", help="a PNG to write")
    o = options.parse_args()
    runs = [read(store) for store in o.stores]
    for name in runs[0][1]:
        last = None
        for width, found in runs:
            times, moved, exact, place = found[name]
            error = np.abs(moved - exact).max()/np.abs(exact).max()
            order = "" if last is None else f", order {np.log(last[1]/error)/np.log(last[0]/width):.2f}"
            print(f"{name} ({place[0]:.1f}, {place[1]:.1f}) m, cells of {width:g} m: largest error {error:.4f} of the largest displacement{order}")
            last = width, error
    if o.plot: plot(runs, o.plot)


if __name__ == "__main__":
    main()
