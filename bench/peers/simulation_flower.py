"""The workload of simulation.py with Flower's simulation engine.

The arguments of `main` are the number of clients, the clients per round, and a folder for Ray.
"""

import functools
import sys

import torch
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg
from flwr.simulation import run_simulation
from simulation import BATCH, CORES, ENDLESS, EPOCHS, MARK, TRAINING
from simulation_torch import new_network, optimiser, projected, training_part, trials

client_app = ClientApp()
server_app = ServerApp()


@functools.cache
def worker(clients: int):
    """Returns the trials and a network, cached per process, because a worker plays many clients."""
    return *trials(clients), new_network()


@client_app.train()
def train(message: Message, context: Context) -> Message:
    clients, client = context.node_config["num-partitions"], context.node_config["partition-id"]
    x, y, network = worker(clients)
    own = training_part(clients, client)
    network.load_state_dict(message.content["arrays"].to_torch_state_dict())
    adam = optimiser(network)
    for _ in range(EPOCHS):
        for batch in torch.arange(own.start, own.stop).split(BATCH):
            adam.zero_grad()
            torch.nn.functional.cross_entropy(network(x[batch]), y[batch]).backward()
            adam.step()
    content = {"arrays": ArrayRecord(network.state_dict()), "metrics": MetricRecord({"num-examples": TRAINING})}
    return Message(RecordDict(content), reply_to=message)


class ProjectedAverage(FedAvg):
    """The mean of all parameters, with W projected."""

    def aggregate_train(self, server_round, replies):
        arrays, metrics = super().aggregate_train(server_round, replies)
        if arrays is None:
            sys.exit("error: no Flower client replied")
        state = arrays.to_torch_state_dict()
        state["w"] = projected(state["w"])
        return ArrayRecord(state), metrics


@server_app.main()
def serve(grid: Grid, context: Context) -> None:
    clients, cohort = int(sys.argv[1]), int(sys.argv[2])
    network = new_network()

    def report(server_round: int, arrays: ArrayRecord) -> None:
        """Reports the end of a round; Flower calls it to evaluate the new model."""
        if server_round > 0:
            print(MARK, flush=True)

    strategy = ProjectedAverage(fraction_train=cohort / clients, fraction_evaluate=0.0, min_train_nodes=cohort, min_available_nodes=clients)
    strategy.start(grid=grid, initial_arrays=ArrayRecord(network.state_dict()), num_rounds=ENDLESS, train_config=ConfigRecord(), evaluate_fn=report)


def main() -> None:
    # One worker per core. The folder's path is short enough for Ray's sockets.
    backend = {"init_args": {"num_cpus": CORES, "_temp_dir": sys.argv[3]}, "client_resources": {"num_cpus": 1, "num_gpus": 0.0}}
    run_simulation(server_app, client_app, num_supernodes=int(sys.argv[1]), backend_config=backend)
