"""Averages on the Stiefel manifold as Flower strategies, for clients of any kind."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.serverapp import Grid
from flwr.serverapp.strategy import FedAvg

import fedspd
from fedspd import _core
from fedspd.flower.vetting import averageable, trials, vet, vet_metrics

log = logging.getLogger("fedspd")

Values = NDArray[Any]
"""Numbers of either floating-point type."""


class _StiefelAvg(FedAvg):
    """FedAvg whose named arrays are averaged on the manifold.

    ``weighting`` is ``"uniform"``, as in the paper, or ``"by-trials"``: by ``weighted_by_key``, as FedAvg does. With fewer than
    ``minimum_reporting`` replies that count, the run stops. Who takes part in a round depends on ``seed``, on the round, and on the nodes that are there, by the
    names that they are registered under. Sums run in the order of ``partition-id``, if clients put it among their metrics.
    """

    def __init__(
        self,
        stiefel: Iterable[str],
        *,
        weighting: str = "uniform",
        minimum_reporting: int = 1,
        seed: int = 0,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        if weighting not in ("uniform", "by-trials"):
            raise ValueError(f"`weighting` is {weighting!r}; it must be 'uniform' or 'by-trials'")
        self.stiefel = tuple(stiefel)
        self.weighting = weighting
        self.minimum_reporting = minimum_reporting
        self.seed = seed
        self._sent = ArrayRecord()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """FedAvg's, of nodes that are drawn by the seed."""
        self._sent = arrays
        # FedAvg draws with the generator that all of Python shares: it is lent for the draw, and given back as it was.
        before = random.getstate()
        random.seed(f"{self.seed}/{server_round}")
        try:
            return super().configure_train(server_round, arrays, config, cast(Grid, _Sorted(grid)))
        finally:
            random.setstate(before)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """The average of the replies that may count."""
        weighted_by = None if self.weighting == "uniform" else self.weighted_by_key
        sound = vet(server_round, replies, self._sent, self.stiefel, weighted_by=weighted_by)
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
        told = averageable(sound, self.weighted_by_key)
        return arrays, self.train_metrics_aggr_fn(told, self.weighted_by_key) if told else None

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """FedAvg's, of the replies whose metrics can be averaged."""
        return super().aggregate_evaluate(server_round, vet_metrics(server_round, replies, self.weighted_by_key))

    def _weight(self, content: RecordDict) -> float:
        # Who says none is not among those who count.
        return 1.0 if self.weighting == "uniform" else trials(content, self.weighted_by_key) or 0.0

    def _average(self, name: str, previous: Values, points: Values, weights: Values) -> Values:
        raise NotImplementedError


class ProjAvg(_StiefelAvg):
    """The polar factor of the mean, for the arrays that are named; where it does not exist, RLAvg's."""

    def _average(self, name: str, previous: Values, points: Values, weights: Values) -> Values:
        try:
            return _core.proj_avg(points, weights)
        except fedspd.Error as error:
            log.warning("the mean of `%s` has lost its rank; rl-avg stepped in (%s)", name, error)
            return _core.rl_avg(previous, points, weights)


class RLAvg(_StiefelAvg):
    """The retraction of the mean of the liftings at the previous point, for the arrays that are named."""

    def _average(self, name: str, previous: Values, points: Values, weights: Values) -> Values:
        return _core.rl_avg(previous, points, weights)


class _Sorted:
    """A grid whose nodes come in the order of the names they are registered under: their numbers are drawn anew in every deployment."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grid, name)

    def get_node_ids(self) -> list[int]:
        return [node.node_id for node in sorted(self._grid.get_nodes(), key=lambda node: (node.name, node.node_id))]
