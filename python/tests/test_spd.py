"""Geometry of SPD matrices against pyRiemann, or SciPy where pyRiemann lacks the function."""

import numpy as np
import pytest
import scipy.linalg
from pyriemann.geometry import base, distance, geodesic, mean, tangentspace

import fedspd

from oracles import against

close = dict(rtol=1e-10, atol=1e-10)


@pytest.fixture
def symmetric(spd):
    return base.logm(spd)


@against("SciPy", "eigh")
def test_eigh(spd):
    values, vectors = fedspd.eigh(spd)
    np.testing.assert_allclose(values, [scipy.linalg.eigvalsh(matrix) for matrix in spd], **close)
    np.testing.assert_allclose(vectors * values[:, None] @ vectors.transpose(0, 2, 1), spd, **close)
    np.testing.assert_allclose(vectors.transpose(0, 2, 1) @ vectors, np.broadcast_to(np.eye(6), spd.shape), **close)


@pytest.mark.parametrize("name", ["logm", "sqrtm", "invsqrtm"])
@against("pyRiemann", "logm", "sqrtm", "invsqrtm")
def test_spectral_functions(spd, name):
    np.testing.assert_allclose(getattr(fedspd, name)(spd), getattr(base, name)(spd), **close)


@against("pyRiemann", "expm")
def test_expm(symmetric):
    np.testing.assert_allclose(fedspd.expm(symmetric), base.expm(symmetric), **close)
    np.testing.assert_allclose(fedspd.expm(symmetric[0]), scipy.linalg.expm(symmetric[0]), **close)


@pytest.mark.parametrize("exponent", [-1.5, 0.0, 0.3, 2.0])
@against("pyRiemann", "powm")
def test_powm(spd, exponent):
    np.testing.assert_allclose(fedspd.powm(spd, exponent), base.powm(spd, exponent), **close)


@against("SciPy", "reeig")
def test_reeig(symmetric):
    expected = np.array([scipy.linalg.funm(matrix, lambda x: np.maximum(x.real, 0.1)).real for matrix in symmetric])
    np.testing.assert_allclose(fedspd.reeig(symmetric, 0.1), expected, **close)


@pytest.mark.parametrize("ours, theirs", [("riemannian", "riemann"), ("logeuclid", "logeuclid")])
class TestMetric:
    @against("pyRiemann", "distance_riemannian", "distance_logeuclid")
    def test_distance(self, spd, ours, theirs):
        a, b = spd[:20], spd[20:]
        measure = getattr(fedspd, f"distance_{ours}")
        np.testing.assert_allclose(measure(a, b), distance.distance(a, b, metric=theirs), **close)
        one_to_all = [distance.distance(a[0], each, metric=theirs) for each in b]
        np.testing.assert_allclose(measure(a[0], b), one_to_all, **close)
        np.testing.assert_allclose(measure(b, a[0]), one_to_all, **close)
        assert isinstance(measure(a[0], b[0]), float)

    @pytest.mark.parametrize("t", [0.0, 0.3, 1.0, 1.7])
    @against("pyRiemann", "geodesic")
    def test_geodesic(self, spd, ours, theirs, t):
        a, b = spd[:20], spd[20:]
        expected = geodesic.geodesic(a, b, t, metric=theirs)
        np.testing.assert_allclose(fedspd.geodesic(a, b, t, metric=ours), expected, **close)

    @against("pyRiemann", "exp_map", "log_map")
    def test_exp_and_log_map(self, spd, symmetric, ours, theirs):
        at = spd[0]
        # pyRiemann whitens tangent vectors only on request.
        whole = (dict(Cm12=True), dict(C12=True)) if theirs == "riemann" else ({}, {})
        exp_map, log_map = (getattr(tangentspace, f"{way}_map_{theirs}") for way in ("exp", "log"))
        expected = exp_map(0.3 * symmetric, at, **whole[0])
        np.testing.assert_allclose(fedspd.exp_map(at, 0.3 * symmetric, metric=ours), expected, **close)
        expected = log_map(spd, at, **whole[1])
        np.testing.assert_allclose(fedspd.log_map(at, spd, metric=ours), expected, **close)

    @pytest.mark.parametrize("weighted", [False, True])
    @against("pyRiemann", "mean_riemannian", "mean_logeuclid")
    def test_mean(self, spd, rng, ours, theirs, weighted):
        weights = rng.uniform(0.1, 2.0, len(spd)) if weighted else None
        options = dict(tol=1e-13, maxiter=500) if theirs == "riemann" else {}
        expected = mean.gmean(spd, metric=theirs, sample_weight=weights, **options)
        np.testing.assert_allclose(getattr(fedspd, f"mean_{ours}")(spd, weights), expected, **close)


@against("pyRiemann", "whiten")
def test_whiten(spd):
    reference = mean.mean_riemann(spd)
    root = base.invsqrtm(reference)
    np.testing.assert_allclose(fedspd.whiten(spd, reference), root @ spd @ root, **close)


@against("NumPy", "vec", "vech")
@against("pyRiemann", "isometric_vech")
def test_vectors(spd):
    rows, columns = np.tril_indices(6)
    np.testing.assert_array_equal(fedspd.vec(spd), spd.reshape(40, 36))
    np.testing.assert_array_equal(fedspd.vech(spd), spd[:, rows, columns])
    # pyRiemann's order is the upper triangle row by row; ours is the lower triangle row by row.
    upper = np.array([tangentspace.upper(matrix) for matrix in spd])
    order = {pair: place for place, pair in enumerate(zip(*np.triu_indices(6)))}
    reordered = upper[:, [order[column, row] for row, column in zip(rows, columns)]]
    np.testing.assert_allclose(fedspd.isometric_vech(spd), reordered, **close)


def test_leading_axes_and_single_precision(spd):
    stacked = spd.reshape(5, 2, 4, 6, 6)
    np.testing.assert_array_equal(fedspd.logm(stacked), fedspd.logm(spd).reshape(stacked.shape))
    np.testing.assert_array_equal(fedspd.logm(spd[3]), fedspd.logm(spd)[3])
    assert fedspd.eigh(stacked)[0].shape == (5, 2, 4, 6)
    single = fedspd.logm(spd.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, fedspd.logm(spd), rtol=2e-4, atol=2e-4)
    assert fedspd.logm(np.empty((0, 6, 6))).shape == (0, 6, 6)


def test_arrays_that_are_not_contiguous(spd):
    transposed = spd.transpose(1, 0, 2).copy().transpose(1, 0, 2)
    assert not transposed.flags.c_contiguous
    np.testing.assert_array_equal(fedspd.logm(transposed), fedspd.logm(spd))
