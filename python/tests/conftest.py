"""Matrices for the tests: generic ones, so that no formula is right by accident."""

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def spd(rng):
    """Forty SPD matrices of 6 x 6 with condition numbers around 100."""
    return random_spd(rng, 40, 6)


@pytest.fixture
def points(rng):
    """Five points of St(7, 3) that are close enough for every average to exist."""
    middle = np.linalg.qr(rng.standard_normal((7, 3)))[0]
    u, _, v = np.linalg.svd(middle + 0.15 * rng.standard_normal((5, 7, 3)), full_matrices=False)
    return u @ v


def random_spd(rng, count, n):
    """Random SPD matrices."""
    factors = rng.standard_normal((count, n, 2 * n))
    scales = np.exp(rng.uniform(-1, 1, (count, n, 1)))
    matrices = scales * (factors @ factors.transpose(0, 2, 1)) * scales.transpose(0, 2, 1) / (2 * n)
    return (matrices + matrices.transpose(0, 2, 1)) / 2
