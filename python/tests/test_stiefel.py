"""Geometry of matrices with orthonormal columns against geoopt and SciPy."""

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

import fedspd

from oracles import against
from stiefel_by_scipy import EXPONENTIALS, INVERSES, RETRACTIONS, fixed_point, logarithm

close = dict(rtol=1e-10, atol=1e-10)


@pytest.fixture
def tangents(points, rng):
    return fedspd.tangent_project(points[0], 0.3 * rng.standard_normal(points.shape))


@pytest.fixture
def geoopt():
    """Results of geoopt on random matrices, see golden/stiefel."""
    folder = Path(__file__).parents[2] / "golden" / "stiefel"
    return {path.stem: np.load(path) for path in folder.glob("*.npy")}


@against("SciPy", "polar")
def test_polar(rng):
    matrices = rng.standard_normal((20, 7, 3))
    expected = np.array([scipy.linalg.polar(matrix)[0] for matrix in matrices])
    np.testing.assert_allclose(fedspd.polar(matrices), expected, **close)


@against("geoopt", "polar", "tangent_project", "retract", "transport", "lift", "stiefel_exp", "stiefel_log")
def test_geoopt(geoopt):
    points = geoopt["projx"]
    np.testing.assert_allclose(fedspd.polar(geoopt["matrices"]), points, **close)
    np.testing.assert_allclose(fedspd.tangent_project(points, geoopt["directions"]), geoopt["proju"], **close)
    np.testing.assert_allclose(fedspd.retract(points, geoopt["tangents"], kind="qr"), geoopt["retr"], **close)
    np.testing.assert_allclose(fedspd.transport(points, geoopt["tangents"][::-1]), geoopt["transp"], **close)
    np.testing.assert_allclose(fedspd.lift(points, points[::-1]), geoopt["lifted"], **close)
    np.testing.assert_allclose(fedspd.stiefel_exp(points, geoopt["tangents"]), geoopt["expmap"], **close)
    np.testing.assert_allclose(fedspd.stiefel_log(points, geoopt["expmap"]), geoopt["tangents"], **close)


@against("SciPy", "qr_factor")
def test_qr_factor(rng):
    matrices = rng.standard_normal((20, 7, 3))
    for matrix, factor in zip(matrices, fedspd.qr_factor(matrices)):
        q, r = scipy.linalg.qr(matrix, mode="economic")
        np.testing.assert_allclose(factor, q * np.sign(np.diag(r)), **close)


@against("SciPy", "feasibility_error")
def test_feasibility_error(points, rng):
    matrices = rng.standard_normal((4, 7, 3))
    expected = scipy.linalg.norm(matrices.transpose(0, 2, 1) @ matrices - np.eye(3), axis=(1, 2))
    np.testing.assert_allclose(fedspd.feasibility_error(matrices), expected, **close)
    assert fedspd.feasibility_error(points).max() < 1e-14


@pytest.mark.parametrize("kind", ["polar", "qr"])
@against("SciPy", "retract")
def test_retract(points, tangents, kind):
    w = points[0]
    expected = np.array([RETRACTIONS[kind](w, x) for x in tangents])
    np.testing.assert_allclose(fedspd.retract(w, tangents, kind=kind), expected, **close)


@pytest.mark.parametrize("kind", ["polar", "qr"])
@against("SciPy", "inverse_retract")
def test_inverse_retract(points, tangents, kind):
    w = points[0]
    expected = np.array([INVERSES[kind](w, y) for y in points])
    np.testing.assert_allclose(fedspd.inverse_retract(w, points, kind=kind), expected, **close)
    reached = fedspd.retract(w, tangents, kind=kind)
    np.testing.assert_allclose(fedspd.inverse_retract(w, reached, kind=kind), tangents, **close)


@pytest.mark.parametrize("metric", ["embedded", "canonical"])
@against("SciPy", "stiefel_exp", "stiefel_log")
def test_stiefel_exp_and_log(points, tangents, metric):
    w = points[0]
    expected = np.array([EXPONENTIALS[metric](w, x) for x in tangents])
    reached = fedspd.stiefel_exp(w, tangents, metric=metric)
    np.testing.assert_allclose(reached, expected, **close)
    np.testing.assert_allclose(fedspd.stiefel_log(w, reached, metric=metric), tangents, **close)
    expected = np.array([logarithm(EXPONENTIALS[metric], w, y) for y in points])
    np.testing.assert_allclose(fedspd.stiefel_log(w, points, metric=metric), expected, **close)


@against("SciPy", "random_stiefel")
def test_random_stiefel():
    drawn = fedspd.random_stiefel(7, 3, 4000, seed=1)
    assert drawn.shape == (4000, 7, 3) and fedspd.feasibility_error(drawn).max() < 1e-13
    np.testing.assert_array_equal(fedspd.random_stiefel(7, 3, seed=1), drawn[0])
    assert not np.array_equal(fedspd.random_stiefel(7, 3, seed=2), drawn[0])
    # The square of an entry of a uniform point is Beta(1/2, (p - 1)/2) distributed. Entries of
    # different points are independent.
    for entries in drawn.reshape(4000, 21).T:
        assert scipy.stats.kstest(entries**2, scipy.stats.beta(0.5, 3.0).cdf).pvalue > 1e-4
    # E[w w^T] = I/p for every column of a uniform point. Here the entries have a standard deviation
    # of about 0.002.
    np.testing.assert_allclose(np.einsum("mik,mjk->kij", drawn, drawn) / 4000, np.broadcast_to(np.eye(7) / 7, (3, 7, 7)), atol=0.015)


class TestAverages:
    weights = np.array([1.0, 0.5, 2.0, 0.25, 1.25])

    def mean(self, points):
        return np.tensordot(self.weights / self.weights.sum(), points, 1)

    @against("SciPy", "proj_avg")
    def test_proj_avg(self, points):
        expected = scipy.linalg.polar(self.mean(points))[0]
        np.testing.assert_allclose(fedspd.proj_avg(points, self.weights), expected, **close)
        np.testing.assert_allclose(fedspd.proj_avg(points), scipy.linalg.polar(points.mean(0))[0], **close)

    @against("SciPy", "rl_avg")
    def test_rl_avg(self, points):
        w, mean = points[0], self.mean(points)
        lifted = mean - w @ (w.T @ mean + mean.T @ w) / 2
        expected = scipy.linalg.polar(w + lifted)[0]
        np.testing.assert_allclose(fedspd.rl_avg(w, points, self.weights), expected, **close)

    @against("SciPy", "qr_avg")
    def test_qr_avg(self, points):
        q, r = scipy.linalg.qr(self.mean(points), mode="economic")
        np.testing.assert_allclose(fedspd.qr_avg(points, self.weights), q * np.sign(np.diag(r)), **close)

    @pytest.mark.parametrize("kind", ["polar", "qr"])
    @against("SciPy", "ret_avg", "r_barycenter")
    def test_ret_avg_and_its_fixed_point(self, points, kind):
        def step(w):
            return RETRACTIONS[kind](w, self.mean([INVERSES[kind](w, y) for y in points]))

        np.testing.assert_allclose(fedspd.ret_avg(points[0], points, self.weights, kind=kind), step(points[0]), **close)
        np.testing.assert_allclose(fedspd.r_barycenter(points, self.weights, kind=kind), fixed_point(step, points[1]), **close)

    @pytest.mark.parametrize("metric", ["embedded", "canonical"])
    @against("SciPy", "karcher_mean")
    def test_karcher_mean(self, points, metric):
        mean = fedspd.karcher_mean(points, self.weights, metric=metric)
        # At the minimum of the sum of squared distances its gradient is zero. The gradient is minus
        # twice the sum of the logarithms.
        gradient = self.mean([logarithm(EXPONENTIALS[metric], mean, y) for y in points])
        np.testing.assert_allclose(EXPONENTIALS[metric](mean, gradient), mean, **close)

    @against("SciPy", "consensus")
    def test_consensus(self, points):
        expected = scipy.linalg.svdvals(self.mean(points)).min()
        assert fedspd.consensus(points, self.weights) == pytest.approx(expected, abs=1e-12)

    def test_single_precision(self, points):
        single = fedspd.proj_avg(points.astype(np.float32))
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, fedspd.proj_avg(points), atol=1e-6)
