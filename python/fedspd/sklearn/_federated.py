"""SPDnet with federated training."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.random import RandomState
from numpy.typing import ArrayLike

from fedspd.sklearn._checks import Floats
from fedspd.sklearn._network import NetworkClassifier
from fedspd.sklearn._spdnet import dimensions

if TYPE_CHECKING:
    from typing_extensions import Self


class FederatedSPDNetClassifier(NetworkClassifier):
    """SPDnet with federated training: each group of trials is a client.

    In a round, each client trains the common model on its own trials. The server then averages the
    updates: Stiefel matrices on their manifold, all other parameters arithmetically.

    ``fit`` takes the client of each trial as ``groups``. In cross-validation, call
    ``cross_val_score(..., groups=groups, params={"groups": groups})``. With metadata routing, call
    ``set_fit_request(groups=True)``.

    Parameters
    ----------
    dims, epsilon, head, dropout, precision
        The network, as in :class:`SPDNetClassifier`.
    aggregation : {"proj-avg", "rl-avg", "ret-avg", "qr-avg", "karcher"}
        The average of the clients' Stiefel matrices.
    rounds : int
        The number of rounds.
    participation : float
        The share of clients that train in a round, above 0 and at most 1.
    weights : {"uniform", "by-trials"}
        The weight of each client in the average.
    epochs_local : int
        Epochs of a client in a round.
    carry_state : bool
        Whether a client keeps the moments of its optimiser from round to round.
    prox_mu : float
        FedProx: the weight of the term that keeps a client near the model it received.
    server_momentum, server_lr : float
        Momentum and step of the server. Values other than 0 and 1 need "rl-avg".
    on_client_failure : {"stop", "skip"}
        Whether an update that is not finite or off the manifold stops the run or is skipped.
    optimizer, lr, batch, scheduler, patience, factor, final_share, validation_fraction
        As in :class:`SPDNetClassifier`; the scheduler counts rounds.
    channels, unit, n_jobs, random_state
        As in :class:`SPDNetClassifier`.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    model_ : fedspd.Model
        The trained network.
    """

    _mode: ClassVar[str] = "federated"
    _settings: ClassVar[dict[str, str]] = {
        **NetworkClassifier._settings,
        "model.epsilon": "epsilon",
        "model.head": "head",
        "model.dropout": "dropout",
        "model.precision": "precision",
        "federated.aggregation": "aggregation",
        "federated.rounds": "rounds",
        "federated.participation": "participation",
        "federated.weights": "weights",
        "federated.epochs_local": "epochs_local",
        "federated.carry_state": "carry_state",
        "federated.prox_mu": "prox_mu",
        "federated.server_momentum": "server_momentum",
        "federated.server_lr": "server_lr",
        "federated.on_client_failure": "on_client_failure",
    }

    def __init__(
        self,
        dims: Sequence[int] | None = None,
        *,
        epsilon: float = 1e-2,
        head: str = "vec",
        dropout: float | None = None,
        precision: str | None = None,
        aggregation: str = "proj-avg",
        rounds: int = 150,
        participation: float = 1.0,
        weights: str = "uniform",
        epochs_local: int = 2,
        carry_state: bool = False,
        prox_mu: float = 0.0,
        server_momentum: float = 0.0,
        server_lr: float = 1.0,
        on_client_failure: str = "stop",
        optimizer: str = "adam",
        lr: float = 1e-3,
        batch: int = 64,
        scheduler: str = "plateau",
        patience: int = 20,
        factor: float = 0.5,
        final_share: float = 0.05,
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
        self.aggregation = aggregation
        self.rounds = rounds
        self.participation = participation
        self.weights = weights
        self.epochs_local = epochs_local
        self.carry_state = carry_state
        self.prox_mu = prox_mu
        self.server_momentum = server_momentum
        self.server_lr = server_lr
        self.on_client_failure = on_client_failure
        self.optimizer = optimizer
        self.lr = lr
        self.batch = batch
        self.scheduler = scheduler
        self.patience = patience
        self.factor = factor
        self.final_share = final_share
        self.validation_fraction = validation_fraction
        self.channels = channels
        self.unit = unit
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> "Self":
        """Trains on SPD matrices ``(trials, n, n)``; ``groups`` holds the client of each trial."""
        if groups is None:
            raise ValueError("groups is missing; it holds the client of each trial")
        return self._train(X, y, groups, 1.0)

    def _all_settings(self, trials: Floats) -> dict[str, Any]:
        settings = super()._all_settings(trials)
        return {**settings, "model.dims": dimensions(self.dims, trials.shape[-1]), "federated.subjects_per_client": 1}
