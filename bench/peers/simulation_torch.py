"""Common code of Flower and pfl in simulation.py: trials, network, projection of the server."""

import os
import sys

import numpy as np
import torch
from contenders import LogOfClamp, TorchSpdNet
from simulation import CHANNELS, CLASSES, DIMENSION, RATE, TRAINING, VALIDATION


def write() -> None:
    """Writes sample covariances of Gaussian noise.

    As in fedspd's generator, a trial has four samples per channel. Each class has more power in its
    own channels. The validation trials of all clients come first, then their training trials, so
    that both are views of the file.
    """
    clients, path = int(sys.argv[1]), sys.argv[2]
    random, samples = np.random.default_rng(0), 4 * CHANNELS
    trials = np.lib.format.open_memmap(path, "w+", np.float64, (clients * (VALIDATION + TRAINING), CHANNELS, CHANNELS))
    own = CHANNELS // CLASSES
    # 4 divides both numbers of trials, so the classes take turns.
    gain = np.ones((CLASSES, CHANNELS, 1))
    for label in range(CLASSES):
        gain[label, label * own : (label + 1) * own] = 1.5
    for first in range(0, len(trials), 1000):
        part = trials[first : first + 1000]
        noise = random.standard_normal((len(part), CHANNELS, samples)) * np.tile(gain, (len(part) // CLASSES, 1, 1))
        part[:] = noise @ noise.transpose(0, 2, 1) / samples
    trials.flush()
    # Flush to disk now, so that no write disturbs the timing.
    os.sync()


def trials(clients: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Maps the file and reads it once. Like fedspd, the process then holds all trials."""
    # Copy on write, because torch does not accept read-only arrays.
    x = torch.from_numpy(np.load(os.environ["SIMULATION_TRIALS"], mmap_mode="c"))
    expected = clients * (VALIDATION + TRAINING)
    if len(x) != expected or not torch.isfinite(x.sum()):
        sys.exit(f"error: {os.environ['SIMULATION_TRIALS']} has {len(x)} trials, expected {expected} finite ones")
    return x, torch.arange(len(x)) % CLASSES


def training_part(clients: int, client: int) -> slice:
    first = clients * VALIDATION + client * TRAINING
    return slice(first, first + TRAINING)


def new_network() -> TorchSpdNet:
    torch.manual_seed(0)
    return TorchSpdNet(LogOfClamp.apply, CHANNELS, DIMENSION, CLASSES, torch.float64)


def optimiser(network: TorchSpdNet, rate: float = RATE) -> torch.optim.Optimizer:
    """Returns Adam, as torch runs it fastest, followed by the retraction of W."""
    adam = torch.optim.Adam(network.parameters(), lr=rate, fused=True)
    adam.register_step_post_hook(lambda *_: network.retract())
    return adam


@torch.no_grad()
def projected(w: torch.Tensor) -> torch.Tensor:
    """Returns the nearest matrix with orthonormal columns."""
    u, _, v = torch.linalg.svd(w, full_matrices=False)
    return u @ v
