"""SPDnet with centralised training."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.random import RandomState
from numpy.typing import ArrayLike

from fedspd.sklearn._checks import Floats, whole
from fedspd.sklearn._network import NetworkClassifier

if TYPE_CHECKING:
    from typing_extensions import Self


class SPDNetClassifier(NetworkClassifier):
    """SPDnet on SPD matrices: BiMap, ReEig, LogEig and a linear layer.

    BiMap weights stay on the Stiefel manifold.

    Parameters
    ----------
    dims : sequence of int, optional
        Sizes after each BiMap, never increasing. By default one BiMap to 18, as in the paper, or to
        the number of channels if that is less. ``()`` is a logistic regression in the tangent space
        at the identity.
    epsilon : float
        The floor of eigenvalues in ReEig, in the unit of the matrices.
    head : {"vec", "vech", "isometric-vech"}
        The vectorisation before the linear layer.
    dropout : float, optional
        The probability that an entry of a logarithm is dropped in training.
    precision : {"f64", "f32"}, optional
        The floating-point type of the network; double precision by default.
    optimizer : {"adam", "riemannian-adam", "riemannian-sgd", "landing"}
        The optimiser.
    lr, batch, epochs : float, int, int
        The initial learning rate, the trials per batch, and the maximum number of epochs.
    scheduler : {"plateau", "cosine", "constant"}
        The schedule of the learning rate. "plateau" multiplies it by ``factor`` after ``patience``
        epochs without a smaller validation loss. "cosine" lowers it to ``final_share`` of ``lr``.
    early_stop : int
        Training ends with the best model after this number of epochs without a better validation
        macro-F1. 0 disables early stopping.
    validation_fraction : float
        The share of trials of each class for validation. They set the learning rate and stop
        training early.
    channels : sequence of str, optional
        The names of the channels, stored in the model file.
    unit : {"uV^2", "1"}, optional
        The unit of the matrices, stored in the model file; "1" for recentred matrices.
    n_jobs : int, optional
        Threads, counted as in scikit-learn: one by default, -1 for all cores, -2 for all but one.
        No result depends on it.
    random_state : int, RandomState instance or None
        The seed of initial values, batches and the validation split.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    model_ : fedspd.Model
        The trained network; ``bytes(model_)`` is a model file for ``fedspd eval`` and
        ``fedspd export``.

    References
    ----------
    Huang and Van Gool, "A Riemannian network for SPD matrix learning", AAAI 2017.
    """

    _settings: ClassVar[dict[str, str]] = {
        **NetworkClassifier._settings,
        "model.epsilon": "epsilon",
        "model.head": "head",
        "model.dropout": "dropout",
        "model.precision": "precision",
        "train.epochs": "epochs",
        "train.early_stop": "early_stop",
    }

    def __init__(
        self,
        dims: Sequence[int] | None = None,
        *,
        epsilon: float = 1e-2,
        head: str = "vec",
        dropout: float | None = None,
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
        self.dims = dims
        self.epsilon = epsilon
        self.head = head
        self.dropout = dropout
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
        """Trains on SPD matrices ``(trials, n, n)`` or ``(trials, inputs, n, n)``."""
        return self._train(X, y, None, 1.0)

    def _all_settings(self, trials: Floats) -> dict[str, Any]:
        return {**super()._all_settings(trials), "model.dims": dimensions(self.dims, trials.shape[-1])}


def dimensions(dims: Sequence[int] | None, channels: int) -> list[int]:
    """Returns the sizes after each BiMap."""
    if dims is None:
        return [min(18, channels)]
    if not isinstance(dims, Iterable):
        raise ValueError(f"dims is {dims!r}; it must be a sequence of whole numbers")
    return [whole("a size in dims", size) for size in dims]
