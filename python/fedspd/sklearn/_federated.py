"""SPDnet across clients that keep their trials."""

from sklearn.utils import check_consistent_length, column_or_1d

from fedspd.sklearn._network import NetworkClassifier
from fedspd.sklearn._spdnet import dimensions


class FederatedSPDNetClassifier(NetworkClassifier):
    """SPDnet trained by clients that keep their trials: each group of trials is a client, as in federated learning.

    In a round, each client trains the common model on its own trials, and the server averages what comes back: Stiefel
    matrices on their manifold, all else as usual. Whose a trial is, ``fit`` is told by ``groups``: in cross-validation by
    ``cross_val_score(..., groups=groups, params={"groups": groups})``, or with metadata routing by
    ``set_fit_request(groups=True)``.

    Parameters
    ----------
    dims, epsilon, head, dropout, precision
        The network, as of :class:`SPDNetClassifier`.
    aggregation : {"proj-avg", "rl-avg", "ret-avg", "qr-avg", "karcher"}
        How the Stiefel matrices of clients become one.
    rounds : int
        How many rounds.
    participation : float
        The share of clients that train in a round, above 0 and at most 1.
    weights : {"uniform", "by-trials"}
        How much a client counts.
    epochs_local : int
        Epochs of a client in a round.
    carry_state : bool
        Whether a client keeps the moments of its optimiser from round to round.
    prox_mu : float
        FedProx: the weight of the term that keeps a client near the model it received.
    server_momentum, server_lr : float
        Momentum and step of the server; other than 0 and 1 only with "rl-avg".
    on_client_failure : {"stop", "skip"}
        What an update that is not finite or off the manifold does.
    optimizer, lr, batch, scheduler, patience, factor, final_share, validation_fraction
        As of :class:`SPDNetClassifier`; the scheduler counts rounds.
    channels, unit, n_jobs, random_state
        As of :class:`SPDNetClassifier`.

    Attributes
    ----------
    classes_ : ndarray
        The classes, sorted.
    model_ : fedspd.Model
        The trained network.
    """

    _mode = "federated"
    _settings = {
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
        dims=None,
        *,
        epsilon=1e-2,
        head="vec",
        dropout=None,
        precision=None,
        aggregation="proj-avg",
        rounds=150,
        participation=1.0,
        weights="uniform",
        epochs_local=2,
        carry_state=False,
        prox_mu=0.0,
        server_momentum=0.0,
        server_lr=1.0,
        on_client_failure="stop",
        optimizer="adam",
        lr=1e-3,
        batch=64,
        scheduler="plateau",
        patience=20,
        factor=0.5,
        final_share=0.05,
        validation_fraction=0.1,
        channels=None,
        unit=None,
        n_jobs=None,
        random_state=0,
    ):
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

    def fit(self, X, y, groups=None):
        """Train on SPD matrices ``(trials, n, n)``, where ``groups`` says which client each trial is with."""
        if groups is None:
            raise ValueError("groups is missing: it says which client each trial is with")
        groups = column_or_1d(groups)
        check_consistent_length(X, groups)
        return self._train(X, y, groups, 1.0)

    def _all_settings(self, trials):
        settings = super()._all_settings(trials)
        return {**settings, "model.dims": dimensions(self.dims, trials.shape[-1]), "federated.subjects_per_client": 1}
