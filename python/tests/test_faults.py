"""Messages of the estimators: expected value, value found, and its place."""

import numpy as np
import pytest
from sklearn.base import clone

from fedspd.sklearn import EEGNetClassifier, FederatedSPDNetClassifier, Recenter, SPDNetClassifier

quick = SPDNetClassifier((4,), epochs=2, lr=1e-2, unit="1")
federated = FederatedSPDNetClassifier((4,), rounds=2, lr=1e-2, unit="1")


def refused(call, message):
    """Asserts that a call raises a ValueError of one line that contains the message."""
    with pytest.raises(ValueError) as caught:
        call()
    text = str(caught.value)
    assert message in text and "\n" not in text, text


class TestFaults:
    @pytest.mark.parametrize(
        "parameters, message",
        [
            ({"lr": -1.0}, "`train.lr` is -1"),
            ({"lr": np.array([1.0])}, "lr is array([1.]); it must be a number or a string"),
            ({"dims": (9,)}, "`model.dims` begins with 9, but `the array` has 5 channels"),
            ({"dims": (2.5,)}, "a size in dims is 2.5; it must be a whole number"),
            ({"dims": ("3",)}, "a size in dims is '3'; it must be a whole number"),
            ({"dims": (-1,)}, "`model.dims[0]` is -1"),
            ({"dims": (2**64,)}, "`model.dims[0]` is 18446744073709551616"),
            ({"dims": 3}, "dims is 3; it must be a sequence of whole numbers"),
            ({"epochs": -1}, "`train.epochs` is -1"),
            ({"epochs": 2**32 + 1}, "`train.epochs` is 4294967297"),
            ({"epochs": 2**64}, "`train.epochs` is 18446744073709551616"),
            ({"epochs": 1.5}, "`train.epochs` is 1.5"),
            ({"batch": 10**40}, "`train.batch` is 1000000000000"),
            ({"random_state": -1}, "random_state is -1; it must be a whole number from 0 to 9223372036854775807"),
            ({"random_state": 2**64}, "random_state is 18446744073709551616; it must be"),
            ({"head": "vecs"}, "vecs"),
            ({"validation_fraction": 0.0}, "validation_fraction is 0.0; it must be a number above 0 and below 1"),
            ({"validation_fraction": "a"}, "validation_fraction is 'a'; it must be"),
            ({"unit": "V^2"}, 'unit is "V^2"; for covariances it must be "uV^2", or "1" for none'),
            ({"unit": "uV"}, 'unit is "uV"; for covariances it must be'),
            ({"channels": ["C3", "C4", "Cz", "C4", "Fz"]}, 'the channel name "C4" occurs twice'),
            ({"channels": ["C3", "C4"]}, "channels has 2 names for 5 channels"),
            ({"channels": "abcde"}, "channels is 'abcde'; it must be a sequence of names"),
            ({"channels": 5}, "channels is 5; it must be a sequence of names"),
        ],
    )
    def test_of_settings(self, task, parameters, message):
        refused(lambda: clone(quick).set_params(**parameters).fit(*task[:2]), message)

    @pytest.mark.parametrize(
        "parameters, message",
        [
            ({"sfreq": -1.0}, "sfreq is -1.0; it must be a number above 0"),
            ({"sfreq": float("nan")}, "sfreq is nan; it must be a number above 0"),
            ({"sfreq": None}, "sfreq is None; it must be a number above 0"),
            ({"unit": "uV^2"}, 'unit is "uV^2"; for raw trials it must be "uV", or "1" for none'),
            ({"channels": ["C3", "C4", "C3"]}, 'the channel name "C3" occurs twice'),
        ],
    )
    def test_of_settings_of_eegnet(self, raw, parameters, message):
        refused(lambda: EEGNetClassifier(64.0, epochs=1).set_params(**parameters).fit(*raw), message)

    def test_of_shapes(self, task):
        X, y, subjects = task
        takes = "Classifier takes X of shape (trials, n, n), found "
        for wrong in (X[:, 0], X[:, :, :4], X[None, None], X[:, :0, :0]):
            refused(lambda: clone(quick).fit(wrong, y), f"{takes}{wrong.shape}")
            refused(lambda: Recenter().fit(wrong), f"Recenter takes X of shape (trials, n, n), found {wrong.shape}")
        refused(lambda: clone(quick).fit(X[:0], y[:0]), "Found array with 0 sample(s) (shape=(0, 5, 5))")
        refused(lambda: clone(quick).fit(X * 1j, y), "X holds complex numbers; expected real ones")
        refused(lambda: clone(quick).fit(X, y[:-1]), "expected y of shape (120,), one for each trial of X, found (119,)")
        for groups in (subjects[:-1], np.ones((120, 2))):
            found = f"expected groups of shape (120,), one for each trial of X, found {groups.shape}"
            refused(lambda: clone(federated).fit(X, y, groups=groups), found)
            refused(lambda: Recenter().fit(X, groups=groups), found)
        unknown = np.where(np.arange(120) == 7, np.nan, subjects)
        refused(lambda: clone(federated).fit(X, y, groups=unknown), "groups is NaN at trial 7")
        refused(lambda: Recenter().fit(X, groups=unknown), "groups is NaN at trial 7")
        refused(lambda: clone(quick).fit(X, np.zeros(120)), "found one class")

    def test_of_shapes_that_are_not_those_of_training(self, task, raw):
        X, y, _ = task
        classifier = clone(quick).fit(X, y)
        expected = "expected trials of shape (trials, 5, 5), as in training, found (120, 4, 4)"
        refused(lambda: classifier.predict(X[:, :4, :4]), expected)
        refused(lambda: classifier.model_.predict_proba(X[:, 0]), "found (120, 5)")
        refused(lambda: Recenter().fit(X).transform(X[:, :4, :4]), "of shape (trials, 5, 5), as in fit, found (120, 4, 4)")
        X, y = raw
        classifier = EEGNetClassifier(64.0, epochs=1).fit(X, y)
        refused(lambda: classifier.predict(X[:, :2]), "expected trials of shape (trials, 3, 128), as in training, found (60, 2, 128)")
        refused(lambda: classifier.fit(X[:, None], y), "takes X of shape (trials, channels, samples), found (60, 1, 3, 128)")

    def test_of_numbers(self, task, raw):
        X, y, subjects = task
        classifier = clone(quick).fit(X, y)

        def changed(trial, row, column, value):
            wrong = X.copy()
            wrong[trial, row, column] = value
            return wrong

        calls = [lambda wrong: clone(quick).fit(wrong, y), classifier.predict, Recenter().fit, Recenter().fit(X).transform]
        for call in calls:
            refused(lambda: call(changed(100, 2, 3, np.nan)), "X is NaN at trial 100, row 2, column 3")
            refused(lambda: call(changed(100, 0, 1, -np.inf)), "X is -inf at trial 100, row 0, column 1")
        for call in calls[:2]:
            refused(lambda: call(changed(100, 2, 2, -9.0)), "the matrix of trial 100")
            refused(lambda: call(changed(100, 2, 2, -9.0)), "is not a covariance: its eigenvalues range from -9.")
        smallest = np.linalg.eigvalsh(changed(100, 2, 2, -9.0)[100])[0]
        for call in [*calls[2:], lambda wrong: Recenter().fit(wrong, groups=subjects)]:
            refused(lambda: call(changed(100, 2, 2, -9.0)), f"matrix 100 is not positive definite: its smallest eigenvalue is {smallest:.3e}")
            refused(lambda: call(changed(100, 2, 3, 9.0)), "matrix 100 is not symmetric: entries (3, 2) and (2, 3) differ by")
        refused(lambda: classifier.predict(changed(100, 2, 3, 9.0)), "trial 100, input 0: matrix 0 is not symmetric")

    def test_of_samples(self, raw):
        X, y = raw
        classifier = EEGNetClassifier(64.0, epochs=1).fit(X, y)
        many = np.concatenate([X, X])
        many[100, 1] = 0.5
        refused(lambda: classifier.predict(many), "trial 100: channel channel 2 does not vary")
        many[100, 1, 7] = np.nan
        refused(lambda: classifier.predict(many), "X is NaN at trial 100, channel 1, sample 7")
