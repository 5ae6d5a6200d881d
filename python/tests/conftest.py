"""Random matrices for the tests: generic, so that no wrong formula passes by accident."""

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
    """Five points of St(7, 3), close enough for every average to exist."""
    middle = np.linalg.qr(rng.standard_normal((7, 3)))[0]
    u, _, v = np.linalg.svd(middle + 0.15 * rng.standard_normal((5, 7, 3)), full_matrices=False)
    return u @ v


def random_spd(rng, count, n):
    """Returns random SPD matrices."""
    factors = rng.standard_normal((count, n, 2 * n))
    scales = np.exp(rng.uniform(-1, 1, (count, n, 1)))
    matrices = scales * (factors @ factors.transpose(0, 2, 1)) * scales.transpose(0, 2, 1) / (2 * n)
    return (matrices + matrices.transpose(0, 2, 1)) / 2


@pytest.fixture
def task(rng):
    """Covariances, class names and subjects: four subjects, three separable classes."""
    directions = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    names, subjects = np.array(["feet", "left", "right"]), np.repeat(np.arange(4), 30)
    labels = np.tile(np.arange(3), 40)
    scales = np.exp(0.4 * rng.standard_normal((120, 5)))
    scales[np.arange(120), labels] *= 4.0
    mixing = np.eye(5) + 0.1 * rng.standard_normal((4, 5, 5))
    factors = mixing[subjects] @ (directions * scales[:, None, :])
    return factors @ factors.transpose(0, 2, 1), names[labels], subjects


@pytest.fixture
def raw(rng):
    """Raw trials of two classes: 10 Hz in one channel or the other."""
    times = np.arange(128) / 64
    labels = np.tile([0, 1], 30)
    trials = rng.standard_normal((60, 3, 128))
    trials[np.arange(60), labels] += 2 * np.sin(2 * np.pi * 10 * times)
    return trials, np.array(["left", "right"])[labels]
