"""The workload of simulation.py with pfl.

The arguments are the number of clients and the clients per round. Under torchrun the processes
share the clients of a round.
"""

import sys

import numpy as np
import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.callback.base import TrainingProcessCallback
from pfl.data.dataset import Dataset
from pfl.data.federated_dataset import FederatedDataset
from pfl.data.sampling import get_user_sampler
from pfl.hyperparam import NNEvalHyperParams, NNTrainHyperParams
from pfl.internal.ops.selector import get_default_framework_module
from pfl.metrics import Metrics, Weighted
from pfl.model.pytorch import PyTorchModel
from simulation import BATCH, ENDLESS, EPOCHS, MARK, RATE
from simulation_torch import new_network, optimiser, projected, training_part, trials

clients, cohort = int(sys.argv[1]), int(sys.argv[2])
# All processes draw the same users.
np.random.seed(0)
network = new_network()
x, y = trials(clients)


def loss(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(network(x), y)


@torch.inference_mode()
def metrics(x: torch.Tensor, y: torch.Tensor) -> dict[str, Weighted]:
    return {"accuracy": Weighted((network(x).argmax(1) == y).sum().item(), len(y))}


network.loss, network.metrics = loss, metrics


class ProjectedAveraging(FederatedAveraging):
    """The mean of all parameters, with W projected."""

    def process_aggregated_statistics(self, *arguments, **named):
        model, found = super().process_aggregated_statistics(*arguments, **named)
        network.w.data.copy_(projected(network.w.data))
        return model, found


class Report(TrainingProcessCallback):
    """Tells the script that a round is done."""

    def after_central_iteration(self, aggregate_metrics, model, *, central_iteration):
        if get_default_framework_module().distributed.global_rank == 0:
            print(MARK, flush=True)
        return False, Metrics()


def user(client: int) -> Dataset:
    own = training_part(clients, client)
    return Dataset((x[own], y[own]), user_id=str(client))


users = FederatedDataset(user, get_user_sampler("minimize_reuse", list(range(clients))))
model = PyTorchModel(
    network,
    local_optimizer_create=lambda parameters, lr: optimiser(network, lr),
    central_optimizer=torch.optim.SGD(network.parameters(), lr=1.0),
)
ProjectedAveraging().run(
    # pfl evaluates users in the first round only, which is not timed.
    algorithm_params=NNAlgorithmParams(
        central_num_iterations=ENDLESS, evaluation_frequency=ENDLESS, train_cohort_size=cohort, val_cohort_size=None
    ),
    backend=SimulatedBackend(training_data=users, val_data=users),
    model=model,
    model_train_params=NNTrainHyperParams(local_num_epochs=EPOCHS, local_learning_rate=RATE, local_batch_size=BATCH),
    model_eval_params=NNEvalHyperParams(local_batch_size=BATCH),
    callbacks=[Report()],
)
