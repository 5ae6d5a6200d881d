"""Averages on the Stiefel manifold as Flower strategies, for any client."""

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
from fedspd.flower.reply_checks import averageable, trials, checked_replies, checked_metrics

log = logging.getLogger("fedspd")

Values = NDArray[Any]
"""An array of float64 or float32."""


class _StiefelAvg(FedAvg):
    """FedAvg with the named arrays averaged on the manifold.

    ``weighting`` is ``"uniform"``, as in the paper, or ``"by-trials"``: by ``weighted_by_key``, as
    in FedAvg. With fewer than ``minimum_reporting`` counted replies the run stops. The choice of
    nodes in a round depends on ``seed``, on the round, and on the registered names of the connected
    nodes. Sums run in the order of ``partition-id``, if clients report it among their metrics.
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
        """Calls FedAvg with nodes drawn by the seed."""
        self._sent = arrays
        # FedAvg draws from Python's global generator, so its state is saved and restored.
        before = random.getstate()
        random.seed(f"{self.seed}/{server_round}")
        try:
            return super().configure_train(server_round, arrays, config, cast(Grid, _Sorted(grid)))
        finally:
            random.setstate(before)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Averages the valid replies."""
        weighted_by = None if self.weighting == "uniform" else self.weighted_by_key
        sound = checked_replies(server_round, replies, self._sent, self.stiefel, weighted_by=weighted_by)
        if len(sound) < self.minimum_reporting:
            raise RuntimeError(
                f"round {server_round}: {len(sound)} replies accepted, {self.minimum_reporting} needed"
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
        """Calls FedAvg with the replies whose metrics can be averaged."""
        return super().aggregate_evaluate(server_round, checked_metrics(server_round, replies, self.weighted_by_key))

    def _weight(self, content: RecordDict) -> float:
        # Replies without a weight were dropped before.
        return 1.0 if self.weighting == "uniform" else trials(content, self.weighted_by_key) or 0.0

    def _average(self, name: str, previous: Values, points: Values, weights: Values) -> Values:
        raise NotImplementedError


class ProjAvg(_StiefelAvg):
    """The polar factor of the mean of each named array, or the average of RLAvg if it has none."""

    def _average(self, name: str, previous: Values, points: Values, weights: Values) -> Values:
        try:
            return _core.proj_avg(points, weights)
        except fedspd.Error as error:
            log.warning("the mean of `%s` is rank-deficient; rl-avg is used instead (%s)", name, error)
            return _core.rl_avg(previous, points, weights)


class RLAvg(_StiefelAvg):
    """The retraction of the mean lifting at the previous point, for each named array."""

    def _average(self, name: str, previous: Values, points: Values, weights: Values) -> Values:
        return _core.rl_avg(previous, points, weights)


class _Sorted:
    """A grid with nodes sorted by registered name, because every deployment has new node ids."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __getattr__(self, name: str) -> Any:
        return getattr(self._grid, name)

    def get_node_ids(self) -> list[int]:
        return [node.node_id for node in sorted(self._grid.get_nodes(), key=lambda node: (node.name, node.node_id))]
