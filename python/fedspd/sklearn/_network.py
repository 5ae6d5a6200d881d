"""The common base of all classifiers: training on arrays, and prediction."""

import json
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from fedspd import Model, _core
from fedspd.sklearn._checks import Floats, between, check_finite, floats, names, owners, per_trial, plain, threads

if TYPE_CHECKING:
    from typing_extensions import Self

logger = logging.getLogger("fedspd")

#: The largest seed of a configuration.
LARGEST_SEED = 2**63 - 1


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """A network trained by the Rust core. Subclasses define their settings."""

    # The mode, the kind of network, and its settings: configuration keys and parameter names.
    _mode: ClassVar[str] = "centralised"
    _kind: ClassVar[str] = "spdnet"
    _settings: ClassVar[dict[str, str]] = {
        "train.optimizer": "optimizer",
        "train.lr": "lr",
        "train.batch": "batch",
        "train.scheduler": "scheduler",
        "train.patience": "patience",
        "train.factor": "factor",
        "train.final_share": "final_share",
    }

    channels: Sequence[str] | None
    validation_fraction: float
    unit: str | None
    n_jobs: int | None
    random_state: int | np.random.RandomState | None

    def _trials(self, X: ArrayLike, *, reset: bool) -> Floats:
        """Returns trials for the core: floating-point numbers in three or four dimensions."""
        trials = floats(self, X, reset=reset)
        shape = trials.shape
        if self._kind == "eegnet":
            fits, expected, axes = len(shape) == 3, "(trials, channels, samples)", ["trial", "channel", "sample"]
        else:
            fits = len(shape) in (3, 4) and shape[-1] == shape[-2]
            expected, axes = "(trials, n, n)", ["trial", *["input"][: len(shape) - 3], "row", "column"]
        if not fits or 0 in shape:
            raise ValueError(f"{type(self).__name__} takes X of shape {expected}, found {shape}")
        check_finite(trials, axes)
        if reset:
            self.n_features_in_ = shape[1]
        return trials

    def _all_settings(self, trials: Floats) -> dict[str, Any]:
        """Returns the configuration of the equivalent run, as keys and values."""
        settings = {key: (name, getattr(self, name)) for key, name in self._settings.items()}
        held_out = between("validation_fraction", self.validation_fraction, 0.0, 1.0)
        return {
            "mode": self._mode,
            "model.kind": self._kind,
            **{key: plain(name, value) for key, (name, value) in settings.items() if value is not None},
            # All held-out trials are validation trials, because the caller keeps the test trials.
            "split.train": 1.0 - held_out,
            "split.val": held_out,
            "split.test": 0.0,
            "run.seeds": [self._seed()],
            "run.threads": threads(self.n_jobs),
        }

    def _seed(self) -> int:
        if not isinstance(self.random_state, (int, np.integer)):
            return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        if not 0 <= self.random_state <= LARGEST_SEED:
            raise ValueError(f"random_state is {self.random_state}; it must be a whole number from 0 to {LARGEST_SEED}")
        return int(self.random_state)

    def _train(self, X: ArrayLike, y: ArrayLike, subjects: ArrayLike | None, sfreq: float) -> "Self":
        trials = self._trials(X, reset=True)
        y = per_trial("y", column_or_1d(y, warn=True), len(trials))
        check_classification_targets(y)
        self.classes_, labels = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs trials of two classes or more; found one class")
        whose = ["1"] * len(trials) if subjects is None else owners(subjects, len(trials))
        if self.channels is None:
            channels = [f"channel {number}" for number in range(1, trials.shape[-2] + 1)]
        else:
            channels = names("channels", self.channels)
        self.model_: Model = _core.train(
            trials,
            labels.tolist(),
            [str(name) for name in self.classes_],
            [str(owner) for owner in whose],
            [f"{key}={json.dumps(value)}" for key, value in self._all_settings(trials).items()],
            channels=channels,
            sfreq=sfreq,
            unit=self.unit,
            watch=logger,
        )
        return self

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Returns class probabilities ``(trials, classes)``, in the order of ``classes_``."""
        check_is_fitted(self)
        return self.model_.predict_proba(self._trials(X, reset=False))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Returns the most probable class of each trial; ties go to the first class."""
        places = np.argmax(self.predict_proba(X), axis=1)
        predicted: NDArray[Any] = self.classes_[places]
        return predicted

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
