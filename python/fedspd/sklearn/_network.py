"""What all classifiers have in common: from arrays to a trained model, and from the model to predictions."""

import json
import logging

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from fedspd import _core

logger = logging.getLogger("fedspd")


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """A network that is trained by the Rust core. Subclasses say which settings they stand for."""

    # Who trains with whom, and the settings of the network: keys of the configuration and names of parameters.
    _mode = "centralised"
    _kind = "spdnet"
    _shape = "(trials, n, n)"
    _settings = {
        "train.optimizer": "optimizer",
        "train.lr": "lr",
        "train.batch": "batch",
        "train.scheduler": "scheduler",
        "train.patience": "patience",
        "train.factor": "factor",
        "train.final_share": "final_share",
    }

    def _trials(self, X, *, reset):
        """Trials as the core takes them: floating-point numbers in three or four dimensions."""
        X = validate_data(self, X, reset=reset, ensure_2d=False, allow_nd=True, dtype=[np.float64, np.float32], order="C")
        if X.ndim not in (3, 4):
            raise ValueError(f"{type(self).__name__} takes trials of shape {self._shape}; found {X.ndim} dimensions")
        if reset:
            self.n_features_in_ = X.shape[1]
        return X

    def _all_settings(self, trials):
        """The configuration of the run that this training is, as keys and values."""
        settings = {key: getattr(self, name) for key, name in self._settings.items()}
        return {
            "mode": self._mode,
            "model.kind": self._kind,
            **{key: value for key, value in settings.items() if value is not None},
            # What is held out from training is validation: somebody else keeps the test.
            "split.train": 1.0 - self.validation_fraction,
            "split.val": self.validation_fraction,
            "split.test": 0.0,
            "run.seeds": [self._seed()],
            "run.threads": {None: 1, -1: 0}.get(self.n_jobs, self.n_jobs),
        }

    def _seed(self):
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _train(self, X, y, subjects, sfreq):
        X = self._trials(X, reset=True)
        y = column_or_1d(y, warn=True)
        check_consistent_length(X, y)
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs trials of two classes or more; found one class")
        channels = self.channels
        if channels is None:
            channels = [f"channel {number}" for number in range(1, X.shape[-1 if self._kind == "spdnet" else 1] + 1)]
        settings = self._all_settings(X)
        self.model_ = _core.train(
            X,
            labels.tolist(),
            [str(name) for name in self.classes_],
            ["1"] * len(X) if subjects is None else [str(subject) for subject in subjects],
            # A grid of parameters is often an array, whose numbers are NumPy's.
            [f"{key}={json.dumps(value, default=lambda number: number.item())}" for key, value in settings.items()],
            channels=[str(name) for name in channels],
            sfreq=float(sfreq),
            unit=self.unit,
            watch=logger,
        )
        return self

    def predict_proba(self, X):
        """The probability of each class, ``(trials, classes)``, in the order of ``classes_``."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._trials(X, reset=False))

    def predict(self, X):
        """The most probable class of each trial; the first of equals."""
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
