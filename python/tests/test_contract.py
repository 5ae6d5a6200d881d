"""scikit-learn's own checks.

The checks use 2-D tables and skip estimators that do not read tables. So each estimator gets a step
that turns rows into trials and changes nothing else.
"""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import validate_data

from fedspd.sklearn import EEGNetClassifier, FederatedSPDNetClassifier, Recenter, SPDNetClassifier


class Rows:
    """Reads 2-D tables, as its tags declare."""

    def _rows(self, X, reset):
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = True, False
        return tags


def matrices(X):
    """Turns each row into an SPD matrix of its bounded numbers, on and beside the diagonal."""
    X = np.tanh(X / 4)
    rows = np.concatenate([X, np.ones((len(X), 1), X.dtype)], axis=1)
    return rows[:, :, None] * rows[:, None, :] + np.einsum("ti,ij->tij", np.exp(rows), np.eye(rows.shape[1], dtype=X.dtype))


class SPDNetOnRows(Rows, SPDNetClassifier):
    def _trials(self, X, *, reset):
        return matrices(self._rows(X, reset))


class FederatedOnRows(Rows, FederatedSPDNetClassifier):
    def fit(self, X, y, groups=None):
        rows = X.shape[0] if hasattr(X, "shape") else len(np.asarray(X))
        return super().fit(X, y, np.arange(rows) % 2 if groups is None else groups)

    def _trials(self, X, *, reset):
        return matrices(self._rows(X, reset))


class EEGNetOnRows(Rows, EEGNetClassifier):
    def _trials(self, X, *, reset):
        X = self._rows(X, reset)
        times = np.arange(64) / 64
        return np.sin(2 * np.pi * (4 + 8 * np.tanh(X / 4)[:, :, None]) * times + X[:, :, None]) + 0.1 * np.cos(9 * times)


class RecenterOnRows(Rows, Recenter):
    def _matrices(self, X, *, reset):
        return matrices(self._rows(X, reset))


@parametrize_with_checks(
    [
        SPDNetOnRows(epochs=100, lr=1e-2, early_stop=0),
        FederatedOnRows(rounds=50, lr=1e-2),
        EEGNetOnRows(64.0, epochs=30, lr=1e-2, early_stop=0),
        RecenterOnRows(),
    ]
)
def test_contract(estimator, check):
    check(estimator)
