"""Averages on the Stiefel manifold as Flower strategies, for clients of any kind."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable
from math import isfinite

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

import fedspd
from fedspd import _core
from fedspd.flower.vetting import vet

log = logging.getLogger("fedspd")


class _StiefelAvg(FedAvg):
    """FedAvg whose named arrays are averaged on the manifold.

    ``weighting`` is ``"uniform"``, as in the paper, or ``"by-trials"``: by ``weighted_by_key``, as FedAvg does. With fewer than
    ``minimum_reporting`` replies that count, the run stops. ``seed`` makes who takes part in a round depend on nothing else than the seed, the round and
    the nodes that are there. Sums run in the order of ``partition-id``, if clients put it among their metrics.
    """

    def __init__(
        self,
        stiefel: Iterable[str],
        *,
        weighting: str = "uniform",
        minimum_reporting: int = 1,
        seed: int = 0,
        **settings,
    ) -> None:
        super().__init__(**settings)
        if weighting not in ("uniform", "by-trials"):
            raise ValueError(f"`weighting` is {weighting!r}; it must be 'uniform' or 'by-trials'")
        self.stiefel = tuple(stiefel)
        self.weighting = weighting
        self.minimum_reporting = minimum_reporting
        self.seed = seed
        self._sent: ArrayRecord | None = None

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """FedAvg's, of nodes that are drawn by the seed."""
        self._sent = arrays
        random.seed(f"{self.seed}/{server_round}")
        return super().configure_train(server_round, arrays, config, _Sorted(grid))

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The average of the replies that may count."""
        sound = [reply for reply in vet(server_round, replies, self._sent, self.stiefel) if self._weighs(server_round, reply)]
        if len(sound) < self.minimum_reporting:
            raise RuntimeError(
                f"round {server_round}: {len(sound)} replies count, {self.minimum_reporting} are needed"
            )
        if not sound:
            return None, None
        contents = [reply.content for reply in sound]
        weights = np.array([self._weight(content) for content in contents])
        records = [next(iter(content.array_records.values())) for content in contents]
        made = {}
        for name, sent in self._sent.items():
            points = np.stack([record[name].numpy() for record in records])
            if name in self.stiefel:
                made[name] = self._average(name, sent.numpy(), points, weights)
            else:
                mean = np.tensordot(weights / weights.sum(), points.astype(float), 1)
                made[name] = mean.astype(points.dtype)
        arrays = ArrayRecord({name: Array(np.asarray(values)) for name, values in made.items()})
        counted = all(_trials(content, self.weighted_by_key) is not None for content in contents)
        return arrays, self.train_metrics_aggr_fn(contents, self.weighted_by_key) if counted else None

    def _weighs(self, server_round: int, reply: Message) -> bool:
        if self.weighting == "uniform" or _trials(reply.content, self.weighted_by_key) is not None:
            return True
        node = reply.metadata.src_node_id
        log.warning("round %d: node %d does not count: it sent no number `%s`", server_round, node, self.weighted_by_key)
        return False

    def _weight(self, content: RecordDict) -> float:
        return 1.0 if self.weighting == "uniform" else _trials(content, self.weighted_by_key)

    def _average(self, name: str, previous, points, weights):
        raise NotImplementedError


class ProjAvg(_StiefelAvg):
    """The polar factor of the mean, for the arrays that are named; where it does not exist, RLAvg's."""

    def _average(self, name, previous, points, weights):
        try:
            return _core.proj_avg(points, weights)
        except fedspd.Error as error:
            log.warning("the mean of `%s` has lost its rank; rl-avg stepped in (%s)", name, error)
            return _core.rl_avg(previous, points, weights)


class RLAvg(_StiefelAvg):
    """The retraction of the mean of the liftings at the previous point, for the arrays that are named."""

    def _average(self, name, previous, points, weights):
        return _core.rl_avg(previous, points, weights)


def _trials(content: RecordDict, key: str) -> float | None:
    """How many trials a reply stands for, if it says so with a number that can be one."""
    records = list(content.metric_records.values())
    value = records[0].get(key) if len(records) == 1 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or value <= 0:
        return None
    return float(value)


class _Sorted:
    """A grid whose nodes come in the order of their numbers."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __getattr__(self, name: str):
        return getattr(self._grid, name)

    def get_node_ids(self) -> list[int]:
        return sorted(self._grid.get_node_ids())
