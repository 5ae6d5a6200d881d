"""EEGNet at one place."""

from fedspd.sklearn._network import NetworkClassifier


class EEGNetClassifier(NetworkClassifier):
    """EEGNet on raw trials: temporal and spatial filters, a separable convolution and a linear layer.

    Parameters
    ----------
    sfreq : float
        Samples per second, from which the lengths of the filters follow.
    dropout : float, optional
        The probability that a number is dropped in training; 0.25 by default.
    z_score : bool
        Whether each channel of a trial is scaled to mean 0 and variance 1 first, in training and in use.
    precision : {"f32", "f64"}, optional
        The numbers of the network; single precision by default.
    optimizer, lr, batch, epochs, scheduler, patience, factor, final_share, early_stop, validation_fraction
        As of :class:`SPDNetClassifier`.
    channels, unit, n_jobs, random_state
        As of :class:`SPDNetClassifier`; the unit is "uV" or "1".

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    model_ : fedspd.Model
        The trained network.

    References
    ----------
    Lawhern et al., "EEGNet: a compact convolutional neural network for EEG-based brain-computer interfaces", J. Neural
    Eng. 15, 2018.
    """

    _kind = "eegnet"
    _shape = "(trials, channels, samples)"
    _settings = {
        **NetworkClassifier._settings,
        "model.dropout": "dropout",
        "model.z_score": "z_score",
        "model.precision": "precision",
        "train.epochs": "epochs",
        "train.early_stop": "early_stop",
    }

    def __init__(
        self,
        sfreq=128.0,
        *,
        dropout=None,
        z_score=True,
        precision=None,
        optimizer="adam",
        lr=1e-3,
        batch=64,
        epochs=300,
        scheduler="plateau",
        patience=20,
        factor=0.5,
        final_share=0.05,
        early_stop=75,
        validation_fraction=0.1,
        channels=None,
        unit=None,
        n_jobs=None,
        random_state=0,
    ):
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

    def fit(self, X, y):
        """Train on raw trials ``(trials, channels, samples)``."""
        return self._train(X, y, None, self.sfreq)
