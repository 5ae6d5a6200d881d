"""Messages of geometry functions: expected value, value found, and its place."""

import pickle
import re

import numpy as np
import pytest

import fedspd

from conftest import random_spd


def test_types():
    with pytest.raises(TypeError, match="expected a NumPy array, found list"):
        fedspd.logm([[1.0, 0.0], [0.0, 1.0]])
    with pytest.raises(TypeError, match="float64 or float32, found int64"):
        fedspd.logm(np.eye(2, dtype=np.int64))
    with pytest.raises(TypeError, match="one array is of float64 and another of float32"):
        fedspd.distance_riemannian(np.eye(2), np.eye(2, dtype=np.float32))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: fedspd.logm(np.ones(3)), "expected shape (..., rows, columns), found (3,)"),
        (lambda: fedspd.logm(np.ones((2, 3))), "expected square matrices, found 2 x 3"),
        (lambda: fedspd.logm(np.ones((0, 0))), "expected matrices with at least one row and one column, found (0, 0)"),
        (lambda: fedspd.geodesic(np.eye(2), np.eye(2), metric="flat"), "unknown metric `flat`; it must be `riemannian` or `logeuclid`"),
        (lambda: fedspd.distance_riemannian(np.eye(2), np.eye(3)), "matrices of different shapes: 2 x 2 and 3 x 3"),
        (lambda: fedspd.distance_riemannian(np.ones((2, 2, 2)), np.ones((3, 2, 2))), "stacks of different shapes: (2,) and (3,)"),
        (lambda: fedspd.whiten(np.ones((2, 2, 2)), np.eye(3)), "expected a reference of shape (2, 2), found (3, 3)"),
        (lambda: fedspd.whiten(np.ones((2, 2, 2)), np.ones((2, 2, 2))), "expected a reference of shape (2, 2), found (2, 2, 2)"),
        (lambda: fedspd.mean_riemannian(np.eye(3)), "expected SPD matrices of shape (m, n, n), found (3, 3)"),
        (lambda: fedspd.mean_logeuclid(np.ones((2, 2, 3, 3))), "expected SPD matrices of shape (m, n, n), found (2, 2, 3, 3)"),
        (lambda: fedspd.proj_avg(np.eye(3)), "expected points of shape (m, p, k), found (3, 3)"),
        (lambda: fedspd.rl_avg(np.ones((1, 3, 2)), np.ones((2, 3, 2))), "expected a previous point of shape (p, k), found (1, 3, 2)"),
        (lambda: fedspd.proj_avg(np.ones((2, 3, 2)), np.ones(3)), "the weights has 3 numbers where 2 were expected"),
        (lambda: fedspd.proj_avg(np.ones((2, 3, 2)), np.ones((2, 1))), "expected weights of shape (m,), found (2, 1)"),
        (lambda: fedspd.polar(np.ones((2, 3))), "cannot have more columns (3) than rows (2)"),
        (lambda: fedspd.random_stiefel(-1, 2, seed=0), "p is -1; it must be a whole number from 0 to 18446744073709551615"),
        (lambda: fedspd.random_stiefel(3, 2, 2**64, seed=0), "size is 18446744073709551616; it must be a whole number"),
        (lambda: fedspd.random_stiefel(3, 2, seed=-7), "seed is -7; it must be a whole number"),
        (lambda: fedspd.karcher_mean(np.ones((2, 3, 2)), max_iterations=-1), "max_iterations is -1; it must be a whole number"),
        (lambda: fedspd.r_barycenter(np.ones((2, 3, 2)), max_iterations=2**64), "max_iterations is 18446744073709551616; it must"),
        (lambda: fedspd.mean_riemannian(np.ones((2, 3, 3)), max_iterations=-1), "max_iterations is -1; it must be a whole number"),
        (lambda: fedspd.mean_riemannian(np.ones((2, 3, 3)), tolerance=float("nan")), "tolerance is NaN; it must be a finite number of 0 or more"),
        (lambda: fedspd.r_barycenter(np.ones((2, 3, 2)), tolerance=-1.0), "tolerance is -1; it must be a finite number of 0 or more"),
        (lambda: fedspd.Model(b"none"), "the model"),
    ],
)
def test_values(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()


def test_sizes_beyond_all_memory():
    with pytest.raises(MemoryError, match="no memory for 1152921504606846976 matrices of 3 x 3"):
        fedspd.random_stiefel(3, 3, 2**60, seed=0)
    with pytest.raises(OverflowError):
        fedspd.random_stiefel(3, 3, seed=2**200)


@pytest.mark.parametrize("weights", [[1, 2], (1.0, 2.0), np.array([1, 2]), np.array([1, 2], np.float32), np.array([9, 1, 9, 2])[1::2]])
def test_weights_are_real_numbers_of_any_type(weights, rng):
    matrices = random_spd(rng, 2, 3)
    np.testing.assert_array_equal(fedspd.mean_logeuclid(matrices, weights), fedspd.mean_logeuclid(matrices, np.array([1.0, 2.0])))


@pytest.mark.parametrize("weights, found", [(["a", "b"], "<U1"), ([1j, 2], "complex128")])
def test_weights_that_are_none(weights, found, rng):
    with pytest.raises(TypeError, match=f"expected weights that are real numbers, found {found}"):
        fedspd.mean_riemannian(random_spd(rng, 2, 3), weights)


@pytest.mark.parametrize("name", ["logm", "mean_riemannian", "mean_logeuclid"])
def test_the_matrix_at_fault_is_named(name, rng):
    matrices = random_spd(rng, 9, 3)
    matrices[7] *= -1
    smallest = np.linalg.eigvalsh(matrices[7])[0]
    with pytest.raises(fedspd.NotPositiveDefiniteError, match="^matrix 7 is not positive definite: its smallest eigenvalue is ") as caught:
        getattr(fedspd, name)(matrices)
    assert float(str(caught.value).split()[-1]) == pytest.approx(smallest, rel=1e-9)


@pytest.mark.parametrize("name", ["distance_riemannian", "distance_logeuclid", "geodesic", "log_map"])
def test_the_array_at_fault_is_named(name, rng):
    good, bad = random_spd(rng, 9, 3), random_spd(rng, 9, 3)
    bad[7] *= -1
    for pair, which in (((bad, good), "first"), ((good, bad), "second"), ((good[0], bad), "second")):
        with pytest.raises(fedspd.NotPositiveDefiniteError, match=f"^in the {which} array, matrix 7 is not positive definite"):
            getattr(fedspd, name)(*pair)


@pytest.mark.parametrize("name", ["lift", "retract", "inverse_retract", "stiefel_exp", "stiefel_log", "tangent_project", "exp_map"])
def test_the_array_that_is_not_finite_is_named(name):
    good = np.tile(np.eye(3), (9, 1, 1))
    bad = good.copy()
    bad[7, 1, 2] = np.nan
    for pair, which in (((bad, good), "first"), ((good, bad), "second")):
        with pytest.raises(fedspd.Error, match=rf"^in the {which} array, entry \(1, 2\) of matrix 7 is NaN"):
            getattr(fedspd, name)(*pair)


def test_geometry():
    with pytest.raises(fedspd.NotPositiveDefiniteError, match="matrix 1 is not positive definite: its smallest eigenvalue is -1e0"):
        fedspd.logm(np.stack([np.eye(2), np.diag([-1.0, 1.0])]))
    with pytest.raises(fedspd.ConvergenceError, match="index 1 of the stack: the Stiefel logarithm"):
        fedspd.stiefel_log(np.eye(3)[:, :2], np.stack([np.eye(3)[:, :2], -np.eye(3)[:, :2]]))
    assert issubclass(fedspd.NotPositiveDefiniteError, fedspd.Error) and issubclass(fedspd.Error, ValueError)
    error = pickle.loads(pickle.dumps(fedspd.Error("why")))
    assert str(error) == "why" and type(error) is fedspd.Error
