"""Projection to the Stiefel manifold after any Flower strategy."""

from __future__ import annotations

from collections.abc import Iterable

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord
from flwr.serverapp import Grid
from flwr.serverapp.strategy import Strategy

from fedspd import _core
from fedspd.flower.reply_checks import checked_replies, checked_metrics


class Projected(Strategy):
    """Any strategy, followed by projection of the named arrays to the Stiefel manifold.

    Each named array is replaced by its polar factor. Robust means, adaptive servers and privacy
    noise leave the manifold, so the projection must come last: ``Projected`` goes outermost.
    Example: ``Projected(DifferentialPrivacyServerSideFixedClipping(FedAvg(...), ...),
    stiefel=["bimap.0"])``.

    Replies do not count if they are not finite, have other shapes, or are off the manifold. With
    ``landed=False``, replies off the manifold count.
    """

    def __init__(self, strategy: Strategy, stiefel: Iterable[str], *, landed: bool = True) -> None:
        self.strategy = strategy
        self.stiefel = tuple(stiefel)
        self.landed = landed
        self._sent = ArrayRecord()

    def configure_train(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Calls the strategy."""
        self._sent = arrays
        return self.strategy.configure_train(server_round, arrays, config, grid)

    def aggregate_train(
        self, server_round: int, replies: Iterable[Message]
    ) -> tuple[ArrayRecord | None, MetricRecord | None]:
        """Calls the strategy with the valid replies, then projects."""
        weighted_by = _weighted_by(self.strategy)
        sound = checked_replies(server_round, replies, self._sent, self.stiefel, landed=self.landed, weighted_by=weighted_by)
        arrays, metrics = self.strategy.aggregate_train(server_round, sound)
        if arrays is not None:
            made = {name: array.numpy() for name, array in arrays.items()}
            made.update({name: _core.polar(made[name]) for name in self.stiefel})
            arrays = ArrayRecord({name: Array(values) for name, values in made.items()})
        return arrays, metrics

    def configure_evaluate(
        self, server_round: int, arrays: ArrayRecord, config: ConfigRecord, grid: Grid
    ) -> Iterable[Message]:
        """Calls the strategy."""
        return self.strategy.configure_evaluate(server_round, arrays, config, grid)

    def aggregate_evaluate(self, server_round: int, replies: Iterable[Message]) -> MetricRecord | None:
        """Calls the strategy with the replies whose metrics can be averaged."""
        weighted_by = _weighted_by(self.strategy)
        sound = replies if weighted_by is None else checked_metrics(server_round, replies, weighted_by)
        return self.strategy.aggregate_evaluate(server_round, sound)

    def summary(self) -> None:
        """Calls the strategy."""
        self.strategy.summary()


def _weighted_by(strategy: Strategy) -> str | None:
    """Returns the name of the weighting metric, also if it belongs to a wrapped strategy."""
    while not hasattr(strategy, "weighted_by_key") and hasattr(strategy, "strategy"):
        strategy = strategy.strategy
    return getattr(strategy, "weighted_by_key", None)
