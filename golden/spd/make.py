# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "mpmath==1.4.1", "numpy==2.4.6", "scipy==1.17.1", "pyriemann==0.12", "scikit-learn==1.9.1",
# ]
# ///
"""Makes the golden values of SPD geometry (see README.md).

mpmath computes every stored value at 50 digits from the stored f64 inputs, then rounds it to f64.
pyRiemann and SciPy compute the same in f64. The script stops if they disagree by more than
TOLERANCE (relative, Frobenius). It reads no data: the inputs come from a seeded generator.
"""

import argparse
from pathlib import Path

import mpmath as mp
import numpy as np
import scipy.linalg as sl
from pyriemann.geometry.distance import distance_logeuclid, distance_riemann
from pyriemann.geometry.geodesic import geodesic_logeuclid, geodesic_riemann
from pyriemann.geometry.mean import mean_logeuclid, mean_riemann

mp.mp.dps = 50
SEED = 20261115
COUNT, SIZE = 12, 6
T = 0.3  # position on the geodesics, as the f64 nearest 0.3
POWER = 0.37  # fractional power, as the f64 nearest 0.37
TOLERANCE = 1e-10


# --- conversion between f64 and 50 digits -------------------------------------


def to_mp(a):
    """Returns an exact copy of an f64 matrix."""
    return mp.matrix([[mp.mpf(float(v)) for v in row] for row in a])


def to_f64(m):
    """Returns the nearest f64 of a matrix, or of a scalar (as one element)."""
    if not isinstance(m, mp.matrix):
        return np.array([float(m)])
    return np.array([[float(m[i, j]) for j in range(m.cols)] for i in range(m.rows)])


# --- symmetric matrices at 50 digits ------------------------------------------


def sym(m):
    return (m + m.T) / 2


def norm(m):
    return mp.mnorm(m, "f")


def fun(f, m):
    """Applies f to a symmetric matrix, by its eigenvalues."""
    w, q = mp.eigsy(m)
    return sym(q * mp.diag([f(v) for v in w]) * q.T)


def power(p):
    return lambda v: v**p


def frechet(f, df, m, e):
    """Returns the derivative of f at m along e, by divided differences in m's eigenbasis."""
    w, q = mp.eigsy(m)
    h = q.T * e * q
    for i in range(m.rows):
        for j in range(m.rows):
            apart = abs(w[i] - w[j]) > mp.mpf(10) ** -20
            h[i, j] *= (f(w[i]) - f(w[j])) / (w[i] - w[j]) if apart else df(w[i])
    return sym(q * h * q.T)


def roots(m):
    """Returns square root and inverse square root."""
    w, q = mp.eigsy(m)
    r = [mp.sqrt(v) for v in w]
    return sym(q * mp.diag(r) * q.T), sym(q * mp.diag([1 / v for v in r]) * q.T)


def ai_distance(a, b):
    _, i = roots(a)
    return mp.sqrt(sum(mp.log(v) ** 2 for v in mp.eigsy(sym(i * b * i), eigvals_only=True)))


def ai_geodesic(a, b, t):
    r, i = roots(a)
    return sym(r * fun(power(t), sym(i * b * i)) * r)


def le_mean(xs, weights):
    total = sum(weights)
    s = mp.zeros(SIZE)
    for x, w in zip(xs, weights):
        s += w / total * fun(mp.log, x)
    return fun(mp.exp, s)


def ai_mean(xs, weights):
    """Returns the weighted Karcher mean by gradient descent to a gradient below 1e-40.

    The Hessian's eigenvalues lie between 1 and the weighted mean of (l/2) coth(l/2), where l is the
    log condition number of a whitened matrix. The step is the best one for these bounds.
    """
    total = sum(weights)
    m = le_mean(xs, weights)
    for iteration in range(2000):
        r, i = roots(m)
        gradient, bound = mp.zeros(SIZE), mp.mpf(0)
        for x, w in zip(xs, weights):
            v, q = mp.eigsy(sym(i * x * i))
            logs = [mp.log(u) for u in v]
            half = (max(logs) - min(logs)) / 2
            gradient += w / total * (q * mp.diag(logs) * q.T)
            bound += w / total * (half * mp.coth(half) if half > 1e-9 else 1)
        size = norm(gradient)
        if size < mp.mpf(10) ** -40:
            print(f"mean: {iteration} iterations, gradient norm {mp.nstr(size, 3)}")
            return m
        m = sym(r * fun(mp.exp, sym(gradient) * (2 / (1 + bound))) * r)
    raise SystemExit("the mean did not converge")


# --- inputs -------------------------------------------------------------------


def spd_matrices(rng):
    """Returns COUNT matrices of condition 2 to 1e4, shuffled.

    Each is Q diag(d) Q', with Q from the QR of a normal matrix. d is log-uniform between its ends,
    scale / sqrt(c) and scale * sqrt(c). Products use 50 digits, so that the last bits do not depend
    on a LAPACK.
    """
    out = []
    for k in rng.permutation(COUNT):
        c = 2 * mp.mpf(5000) ** (mp.mpf(int(k)) / (COUNT - 1))
        scale = mp.mpf(3) ** mp.mpf(rng.uniform(-1, 1))
        inner = [mp.mpf(u) for u in rng.uniform(-0.5, 0.5, SIZE - 2)]
        d = [scale * c**u for u in [mp.mpf(-0.5), *inner, mp.mpf(0.5)]]
        q, _ = mp.qr(to_mp(rng.standard_normal((SIZE, SIZE))))
        out.append(to_f64(sym(q * mp.diag(d) * q.T)))
    return np.stack(out)


def symmetric(rng):
    """Returns a matrix with entries near 1, exactly symmetric in f64."""
    a = rng.standard_normal((SIZE, SIZE))
    return (a + a.T) / 2


# --- checks and files ---------------------------------------------------------


class Store:
    """Writes the files and compares each value with an f64 library."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, array):
        """Writes NumPy format 1.0, C order, little-endian f64, no pickle."""
        array = np.ascontiguousarray(array, dtype="<f8")
        assert np.isfinite(array).all()
        if array.ndim >= 2:
            assert np.array_equal(array, array.swapaxes(-1, -2)), name
        with open(self.folder / f"{name}.npy", "wb") as f:
            np.lib.format.write_array(f, array, version=(1, 0), allow_pickle=False)
        print(f"{name}.npy {array.shape}", flush=True)

    def value(self, name, golden, **others):
        """Compares golden (one value or a list) with the others, then stores it."""
        if isinstance(golden, list):
            array = np.stack([to_f64(g) for g in golden])
            pairs = {k: list(zip(array, v)) for k, v in others.items()}
        else:
            array = to_f64(golden)
            pairs = {k: [(array, v)] for k, v in others.items()}
        for library, rows in pairs.items():
            worst = max(np.linalg.norm(o - g) / np.linalg.norm(g) for g, o in rows)
            print(f"  {name}: {library} differs by {worst:.1e}")
            assert worst < TOLERANCE, (name, library, worst)
        self.write(name, array)


def small(residual, what):
    """Asserts that a 50-digit identity holds to 1e-40."""
    assert residual < mp.mpf(10) ** -40, (what, mp.nstr(residual, 3))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="output folder")
    store = Store(parser.parse_args().out)

    # Inputs.
    rng = np.random.default_rng(SEED)
    xs = spd_matrices(rng)
    direction = symmetric(rng)
    base = symmetric(rng)
    scaled = 0.01 * xs
    weights = np.arange(1.0, COUNT + 1)
    store.write("matrices", xs)
    store.write("matrices_times_0.01", scaled)
    store.write("weights", weights)
    store.write("frechet_direction", direction)
    store.write("frechet_exp_base", base)
    mxs = [to_mp(x) for x in xs]
    for k, x in enumerate(mxs):
        w = mp.eigsy(x, eigvals_only=True)
        low, high = min(w), max(w)
        print(f"  matrix {k:2d}: eigenvalues {mp.nstr(low, 4)} to {mp.nstr(high, 4)}, cond {mp.nstr(high / low, 4)}")
    w = mp.eigsy(to_mp(base), eigvals_only=True)
    print(f"  frechet_exp_base: eigenvalues {mp.nstr(min(w), 4)} to {mp.nstr(max(w), 4)}")

    # Functions of one matrix.
    logs = [fun(mp.log, x) for x in mxs]
    both = [roots(x) for x in mxs]
    for x, g, (r, i) in zip(mxs, logs, both):
        small(norm(fun(mp.exp, g) - x) / norm(x), "exp log")
        small(norm(r * r - x) / norm(x), "square root")
        small(norm(r * i - mp.eye(SIZE)), "inverse square root")
    store.value("matrices_log", logs, scipy=[sl.logm(x) for x in xs])
    store.value("matrices_sqrt", [r for r, _ in both], scipy=[sl.sqrtm(x) for x in xs])
    store.value("matrices_inv_sqrt", [i for _, i in both], scipy=[sl.inv(sl.sqrtm(x)) for x in xs])
    store.value(
        "matrices_power_0.37",
        [fun(power(mp.mpf(POWER)), x) for x in mxs],
        scipy=[sl.fractional_matrix_power(x, POWER) for x in xs],
    )
    store.value(
        "matrices_times_0.01_exp",
        [fun(mp.exp, to_mp(x)) for x in scaled],
        scipy=[sl.expm(x) for x in scaled],
    )

    # Two matrices: A, B, at t.
    a, b = xs[:2]
    ma, mb, t = mxs[0], mxs[1], mp.mpf(T)
    point = ai_geodesic(ma, mb, t)
    distance = ai_distance(ma, mb)
    small(abs(ai_distance(ma, point) - t * distance), "distance along the geodesic")
    store.value("ai_distance", distance, pyriemann=distance_riemann(a, b))
    store.value("le_distance", norm(logs[0] - logs[1]), pyriemann=distance_logeuclid(a, b))
    store.value("ai_geodesic_0.3", point, pyriemann=geodesic_riemann(a, b, T))
    store.value(
        "le_geodesic_0.3",
        fun(mp.exp, (1 - t) * logs[0] + t * logs[1]),
        pyriemann=geodesic_logeuclid(a, b, T),
    )

    # Means.
    ones = [mp.mpf(1)] * COUNT
    mweights = [mp.mpf(float(w)) for w in weights]
    tight = {"tol": 1e-14, "maxiter": 1000}
    store.value("ai_mean", ai_mean(mxs, ones), pyriemann=mean_riemann(xs, **tight))
    store.value(
        "ai_mean_weighted",
        ai_mean(mxs, mweights),
        pyriemann=mean_riemann(xs, sample_weight=weights, **tight),
    )
    store.value("le_mean", le_mean(mxs, ones), pyriemann=mean_logeuclid(xs))

    # Frechet derivatives. At 50 digits a central difference of step 1e-15 is accurate to about
    # 1e-30, enough to check the divided differences.
    me, ms = to_mp(direction), to_mp(base)
    step = mp.mpf(10) ** -15
    found = {}
    for name, f, df, m in [("log", mp.log, lambda v: 1 / v, ma), ("exp", mp.exp, mp.exp, ms)]:
        found[name] = frechet(f, df, m, me)
        central = (fun(f, m + step * me) - fun(f, m - step * me)) / (2 * step)
        gap = norm(central - found[name]) / norm(found[name])
        print(f"  frechet_{name}: central difference at 50 digits differs by {mp.nstr(gap, 2)}")
        assert gap < mp.mpf(10) ** -22
    # The derivative of exp at log a inverts the derivative of log at a.
    back = sl.expm_frechet(sl.logm(a), to_f64(found["log"]), compute_expm=False)
    gap = np.linalg.norm(back - direction) / np.linalg.norm(direction)
    print(f"  frechet_log: scipy's expm_frechet gives the direction back to {gap:.1e}")
    assert gap < TOLERANCE
    block = sl.logm(np.block([[a, direction], [np.zeros_like(a), a]]))[:SIZE, SIZE:]
    store.value("frechet_log", found["log"], scipy=block)
    store.value("frechet_exp", found["exp"], scipy=sl.expm_frechet(base, direction, compute_expm=False))


if __name__ == "__main__":
    main()
