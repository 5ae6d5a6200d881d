"""Retractions, geodesics and averages on the Stiefel manifold, by SciPy and textbook formulas.

The code is slow and uses nothing of fedspd. Linear systems are assembled entry by entry. Least
squares find the logarithm.
"""

import numpy as np
import scipy.linalg
import scipy.optimize


def qr_retraction(w, x):
    q, r = scipy.linalg.qr(w + x, mode="economic")
    return q * np.sign(np.diag(r))


def inverse_polar(w, y):
    """Returns ``Y S - W``, where ``S`` solves a Lyapunov equation, so that it is tangent."""
    return y @ scipy.linalg.solve_continuous_lyapunov(w.T @ y, 2 * np.eye(y.shape[1])) - w


def inverse_qr(w, y):
    """Returns ``Y R - W``, where the upper triangular ``R`` makes it tangent.

    ``M R + R^T M^T = 2 I`` is solved as one linear system.
    """
    k = y.shape[1]
    m, places = w.T @ y, list(zip(*np.triu_indices(k)))
    system, triangle = np.zeros((len(places), len(places))), np.zeros((k, k))
    for column, place in enumerate(places):
        unit = np.zeros((k, k))
        unit[place] = 1
        system[:, column] = (m @ unit + unit.T @ m.T)[np.triu_indices(k)]
    triangle[np.triu_indices(k)] = scipy.linalg.solve(system, 2 * np.eye(k)[np.triu_indices(k)])
    return y @ triangle - w


def embedded_exponential(w, x):
    """Edelman, Arias and Smith, 1998, section 2.2.2."""
    a, k = w.T @ x, w.shape[1]
    block = np.block([[a, -x.T @ x], [np.eye(k), a]])
    return np.hstack([w, x]) @ scipy.linalg.expm(block)[:, :k] @ scipy.linalg.expm(-a)


def canonical_exponential(w, x):
    """Applies to the point the rotation of the whole space that the tangent vector generates."""
    return scipy.linalg.expm(x @ w.T - w @ x.T - w @ w.T @ x @ w.T) @ w


RETRACTIONS = {"polar": lambda w, x: scipy.linalg.polar(w + x)[0], "qr": qr_retraction}
INVERSES = {"polar": inverse_polar, "qr": inverse_qr}
EXPONENTIALS = {"embedded": embedded_exponential, "canonical": canonical_exponential}


def logarithm(exponential, w, y):
    """Returns the tangent vector whose geodesic ends at ``y``.

    Least squares start at the difference of the points.
    """
    p, k = w.shape
    normal, below = scipy.linalg.null_space(w.T), np.tril_indices(k, -1)

    def tangent(numbers):
        skew = np.zeros((k, k))
        skew[below] = numbers[: len(below[0])]
        return w @ (skew - skew.T) + normal @ numbers[len(below[0]) :].reshape(p - k, k)

    start = np.concatenate([(w.T @ y - y.T @ w)[below] / 2, (normal.T @ y).ravel()])
    found = scipy.optimize.least_squares(
        lambda numbers: (exponential(w, tangent(numbers)) - y).ravel(), start, method="lm", xtol=1e-15, ftol=1e-15, gtol=1e-15
    )
    assert np.abs(found.fun).max() < 1e-12
    return tangent(found.x)


def fixed_point(step, point):
    """Returns the fixed point of a step."""
    for _ in range(200):
        last, point = point, step(point)
        if np.abs(point - last).max() < 1e-12:
            return point
    raise AssertionError("no fixed point within 200 steps")
