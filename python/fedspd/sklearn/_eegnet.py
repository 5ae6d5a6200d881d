"""EEGNet with centralised training."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike

from fedspd.sklearn._checks import between
from fedspd.sklearn._network import NetworkClassifier

if TYPE_CHECKING:
    from typing_extensions import Self


class EEGNetClassifier(NetworkClassifier):
    """EEGNet on raw trials: temporal and spatial filters, separable convolution, linear layer.

    Parameters
    ----------
    sfreq : float
        Samples per second. It sets the lengths of the filters.
    dropout : float, optional
        The dropout probability in training; 0.25 by default.
    z_score : bool
        Whether to scale each channel of a trial to mean 0 and variance 1, in training and
        prediction.
    precision : {"f32", "f64"}, optional
        The floating-point type of the network; single precision by default.
    optimizer, lr, batch, epochs, scheduler, patience, factor, final_share, early_stop
        As in :class:`SPDNetClassifier`.
    validation_fraction, channels, unit, n_jobs, random_state
        As in :class:`SPDNetClassifier`; the unit is "uV" or "1".

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    model_ : fedspd.Model
        The trained network.

    References
    ----------
    Lawhern et al., "EEGNet: a compact convolutional neural network for EEG-based brain-computer
    interfaces", J. Neural Eng. 15, 2018.
    """

    _kind: ClassVar[str] = "eegnet"
    _settings: ClassVar[dict[str, str]] = {
        **NetworkClassifier._settings,
        "model.dropout": "dropout",
        "model.z_score": "z_score",
        "model.precision": "precision",
        "train.epochs": "epochs",
        "train.early_stop": "early_stop",
    }

    def __init__(
        self,
        sfreq: float = 128.0,
        *,
        dropout: float | None = None,
        z_score: bool = True,
        precision: str | None = None,
        optimizer: str = "adam",
        lr: float = 1e-3,
        batch: int = 64,
        epochs: int = 300,
        scheduler: str = "plateau",
        patience: int = 20,
        factor: float = 0.5,
        final_share: float = 0.05,
        early_stop: int = 75,
        validation_fraction: float = 0.1,
        channels: Sequence[str] | None = None,
        unit: str | None = None,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = 0,
    ) -> None:
        self.sfreq = sfreq
        self.dropout = dropout
        self.z_score = z_score
        self.precision = precision
        self.optimizer = optimizer
        self.lr = lr
        self.batch = batch
        self.epochs = epochs
        self.scheduler = scheduler
        self.patience = patience
        self.factor = factor
        self.final_share = final_share
        self.early_stop = early_stop
        self.validation_fraction = validation_fraction
        self.channels = channels
        self.unit = unit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> "Self":
        """Trains on raw trials ``(trials, channels, samples)``."""
        return self._train(X, y, None, between("sfreq", self.sfreq, 0.0, np.inf))
