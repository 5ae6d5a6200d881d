"""SPDnet at one place."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.random import RandomState
from numpy.typing import ArrayLike

from fedspd.sklearn._checks import Floats, whole
from fedspd.sklearn._network import NetworkClassifier

if TYPE_CHECKING:
    from typing_extensions import Self


class SPDNetClassifier(NetworkClassifier):
    """SPDnet on SPD matrices: BiMap, ReEig, LogEig and a linear layer, with BiMap weights on the Stiefel manifold.

    Parameters
    ----------
    dims : sequence of int, optional
        Sizes after each BiMap, never increasing; ``()`` is a logistic regression in the tangent space at the identity.
        One BiMap to 18, the paper's, or to the number of channels if that is less, by default.
    epsilon : float
        The floor of eigenvalues in ReEig, in the unit of the matrices.
    head : {"vec", "vech", "isometric-vech"}
        What the linear layer takes.
    dropout : float, optional
        The probability that an entry of a logarithm is dropped in training.
    precision : {"f64", "f32"}, optional
        The numbers of the network; double precision by default.
    optimizer : {"adam", "riemannian-adam", "riemannian-sgd", "landing"}
        How parameters move.
    lr, batch, epochs : float, int, int
        The first learning rate, trials of a batch, and epochs at most.
    scheduler : {"plateau", "cosine", "constant"}
        How the learning rate changes: after ``patience`` epochs without a smaller validation loss it is multiplied by
        ``factor``, or it goes down to ``final_share`` of the first.
    early_stop : int
        Epochs without a better validation macro-F1 before training ends with the best model; 0 never ends it early.
    validation_fraction : float
        The share of the trials, of each class, that steers the learning rate and early stopping.
    channels : sequence of str, optional
        The names of the channels, which the model file keeps.
    unit : {"uV^2", "1"}, optional
        The unit of the matrices; "1" for recentred ones. The model file keeps it.
    n_jobs : int, optional
        Threads, as scikit-learn counts them: one by default, -1 for all cores, -2 for all but one. No result depends on it.
    random_state : int, RandomState instance or None
        The seed of first values, batches and the validation split.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    model_ : fedspd.Model
        The trained network; ``bytes(model_)`` is a model file that ``fedspd eval`` and ``fedspd export`` take.

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
        """Train on SPD matrices ``(trials, n, n)``, or several for each trial, ``(trials, inputs, n, n)``."""
        return self._train(X, y, None, 1.0)

    def _all_settings(self, trials: Floats) -> dict[str, Any]:
        return {**super()._all_settings(trials), "model.dims": dimensions(self.dims, trials.shape[-1])}


def dimensions(dims: Sequence[int] | None, channels: int) -> list[int]:
    """The sizes after each BiMap."""
    if dims is None:
        return [min(18, channels)]
    if not isinstance(dims, Iterable):
        raise ValueError(f"dims is {dims!r}; it must be a sequence of whole numbers")
    return [whole("a size in dims", size) for size in dims]
