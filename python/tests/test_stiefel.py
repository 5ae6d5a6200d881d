"""Geometry of matrices with orthonormal columns against geoopt, SciPy, and the equations that define each function."""

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg

import fedspd

close = dict(rtol=1e-10, atol=1e-10)


@pytest.fixture
def tangents(points, rng):
    return fedspd.tangent_project(points[0], 0.3 * rng.standard_normal(points.shape))


@pytest.fixture
def geoopt():
    """What geoopt makes of random matrices, see golden/stiefel."""
    folder = Path(__file__).parents[2] / "golden" / "stiefel"
    return {path.stem: np.load(path) for path in folder.glob("*.npy")}


def test_polar(rng):
    matrices = rng.standard_normal((20, 7, 3))
    expected = np.array([scipy.linalg.polar(matrix)[0] for matrix in matrices])
    np.testing.assert_allclose(fedspd.polar(matrices), expected, **close)


def test_geoopt(geoopt):
    points = geoopt["projx"]
    np.testing.assert_allclose(fedspd.polar(geoopt["matrices"]), points, **close)
    np.testing.assert_allclose(fedspd.tangent_project(points, geoopt["directions"]), geoopt["proju"], **close)
    np.testing.assert_allclose(fedspd.retract(points, geoopt["tangents"], kind="qr"), geoopt["retr"], **close)
    np.testing.assert_allclose(fedspd.transport(points, geoopt["tangents"][::-1]), geoopt["transp"], **close)


def test_qr_factor(rng):
    matrices = rng.standard_normal((20, 7, 3))
    for matrix, factor in zip(matrices, fedspd.qr_factor(matrices)):
        q, r = scipy.linalg.qr(matrix, mode="economic")
        np.testing.assert_allclose(factor, q * np.sign(np.diag(r)), **close)


def test_lift(points):
    w = points[0]
    difference = points - w
    inner = w.T @ difference
    expected = difference - w @ (inner + inner.transpose(0, 2, 1)) / 2
    np.testing.assert_allclose(fedspd.lift(w, points), expected, **close)


def test_feasibility_error(points, rng):
    matrices = rng.standard_normal((4, 7, 3))
    expected = np.linalg.norm(matrices.transpose(0, 2, 1) @ matrices - np.eye(3), axis=(1, 2))
    np.testing.assert_allclose(fedspd.feasibility_error(matrices), expected, **close)
    assert fedspd.feasibility_error(points).max() < 1e-14


def test_retract(points, tangents):
    w = points[0]
    expected = np.array([scipy.linalg.polar(w + x)[0] for x in tangents])
    np.testing.assert_allclose(fedspd.retract(w, tangents), expected, **close)


@pytest.mark.parametrize("kind", ["polar", "qr"])
def test_inverse_retract(points, tangents, kind):
    w = points[0]
    reached = fedspd.retract(w, tangents, kind=kind)
    np.testing.assert_allclose(fedspd.inverse_retract(w, reached, kind=kind), tangents, **close)


def test_inverse_polar_retraction_solves_a_lyapunov_equation(points):
    w = points[0]
    for y, found in zip(points, fedspd.inverse_retract(w, points)):
        factor = scipy.linalg.solve_continuous_lyapunov(w.T @ y, 2 * np.eye(3))
        np.testing.assert_allclose(found, y @ factor - w, **close)


def exponential(w, x, metric):
    """The formula with the n x n matrices that it is usually written with (Edelman, Arias and Smith, 1998; Wald, Tapp for the canonical metric)."""
    a = w.T @ x
    if metric == "canonical":
        generator = x @ w.T - w @ x.T - w @ a @ w.T
        return scipy.linalg.expm(generator) @ w
    block = np.block([[a, -x.T @ x], [np.eye(3), a]])
    return np.hstack([w, x]) @ scipy.linalg.expm(block)[:, :3] @ scipy.linalg.expm(-a)


@pytest.mark.parametrize("metric", ["embedded", "canonical"])
def test_stiefel_exp_and_log(points, tangents, metric):
    w = points[0]
    expected = np.array([exponential(w, x, metric) for x in tangents])
    reached = fedspd.stiefel_exp(w, tangents, metric=metric)
    np.testing.assert_allclose(reached, expected, **close)
    np.testing.assert_allclose(fedspd.stiefel_log(w, reached, metric=metric), tangents, **close)


def test_random_stiefel():
    drawn = fedspd.random_stiefel(7, 3, 4000, seed=1)
    assert drawn.shape == (4000, 7, 3) and fedspd.feasibility_error(drawn).max() < 1e-13
    np.testing.assert_array_equal(fedspd.random_stiefel(7, 3, seed=1), drawn[0])
    assert not np.array_equal(fedspd.random_stiefel(7, 3, seed=2), drawn[0])
    # E[w w^T] = I/p for every column of a uniform point; the entries have a standard deviation of about 0.002 here.
    np.testing.assert_allclose(np.einsum("mik,mjk->kij", drawn, drawn) / 4000, np.broadcast_to(np.eye(7) / 7, (3, 7, 7)), atol=0.015)


class TestAverages:
    weights = np.array([1.0, 0.5, 2.0, 0.25, 1.25])

    def mean(self, points):
        return np.tensordot(self.weights / self.weights.sum(), points, 1)

    def test_proj_avg(self, points):
        expected = scipy.linalg.polar(self.mean(points))[0]
        np.testing.assert_allclose(fedspd.proj_avg(points, self.weights), expected, **close)
        np.testing.assert_allclose(fedspd.proj_avg(points), scipy.linalg.polar(points.mean(0))[0], **close)

    def test_rl_avg(self, points):
        w, mean = points[0], self.mean(points)
        lifted = mean - w @ (w.T @ mean + mean.T @ w) / 2
        expected = scipy.linalg.polar(w + lifted)[0]
        np.testing.assert_allclose(fedspd.rl_avg(w, points, self.weights), expected, **close)

    def test_qr_avg(self, points):
        q, r = scipy.linalg.qr(self.mean(points), mode="economic")
        np.testing.assert_allclose(fedspd.qr_avg(points, self.weights), q * np.sign(np.diag(r)), **close)

    @pytest.mark.parametrize("kind", ["polar", "qr"])
    def test_ret_avg_and_its_fixed_point(self, points, kind):
        w = points[0]
        vectors = fedspd.inverse_retract(w, points, kind=kind)
        expected = fedspd.retract(w, self.mean(vectors), kind=kind)
        np.testing.assert_allclose(fedspd.ret_avg(w, points, self.weights, kind=kind), expected, **close)
        fixed = fedspd.r_barycenter(points, self.weights, kind=kind)
        assert np.linalg.norm(self.mean(fedspd.inverse_retract(fixed, points, kind=kind))) < 1e-10

    @pytest.mark.parametrize("metric", ["embedded", "canonical"])
    def test_karcher_mean(self, points, metric):
        mean = fedspd.karcher_mean(points, self.weights, metric=metric)
        # The gradient of the sum of squared distances is minus the sum of the logarithms.
        assert np.linalg.norm(self.mean(fedspd.stiefel_log(mean, points, metric=metric))) < 1e-10

    def test_consensus(self, points):
        expected = np.linalg.svd(self.mean(points), compute_uv=False).min()
        assert fedspd.consensus(points, self.weights) == pytest.approx(expected, abs=1e-12)

    def test_single_precision(self, points):
        single = fedspd.proj_avg(points.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, fedspd.proj_avg(points), atol=1e-6)
