"""Checks of replies from any Flower client: finite values, right shapes, on the manifold."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from math import isfinite

import numpy as np
from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict

from fedspd import _core

log = logging.getLogger("fedspd")

LIMITS = {np.dtype("f8"): 1e-8, np.dtype("f4"): 1e-4}
"""Largest accepted ``|W^T W - I|``, for rounding errors; the limits of the Rust core."""


def fault_of(arrays: ArrayRecord, expected: ArrayRecord, stiefel: Iterable[str], landed: bool = True) -> str | None:
    """Returns the fault in the arrays of a reply, or None.

    With ``landed=False`` the distance from the manifold is not checked.
    """
    if set(arrays) != set(expected):
        return f"it sent arrays {sorted(arrays)} where {sorted(expected)} were expected"
    for name in expected:
        try:
            values = arrays[name].numpy()
        except Exception:  # any: NumPy reads untrusted bytes here
            return f"it sent unreadable data in `{name}`"
        wanted = expected[name].numpy()
        if values.shape != wanted.shape or values.dtype != wanted.dtype:
            return (
                f"it sent `{name}` with shape {list(values.shape)} of {values.dtype}"
                f" where {list(wanted.shape)} of {wanted.dtype} was expected"
            )
        if not np.isfinite(values).all():
            return f"it sent {values[~np.isfinite(values)].flat[0]} in `{name}`"
    for name in stiefel if landed else ():
        values = arrays[name].numpy()
        distance, limit = float(_core.feasibility_error(values)), LIMITS.get(values.dtype, 1e-4)
        if not distance <= limit:
            return (
                "it sent weights off the Stiefel manifold: "
                f"|W^T W - I| = {distance:.1e} in `{name}` (limit {limit:.0e})"
            )
    return None


def checked_replies(
    server_round: int,
    replies: Iterable[Message],
    expected: ArrayRecord,
    stiefel: Iterable[str],
    *,
    landed: bool = True,
    weighted_by: str | None = None,
) -> list[Message]:
    """Returns the valid replies in an order that does not depend on their arrival. Logs the others.

    With ``weighted_by``, each reply must hold its weight and the same metrics as most replies,
    because otherwise Flower ends the run.
    """
    unknown = sorted(set(stiefel) - set(expected))
    if unknown:
        raise ValueError(f"there is no array `{unknown[0]}`; there are {sorted(expected)}")
    sound: list[Message] = []
    for reply in sorted(replies, key=_place):
        fault: str | None
        if reply.has_error():
            fault = _reason(reply)
        elif len(reply.content.array_records) != 1:
            fault = f"it sent {len(reply.content.array_records)} records of arrays where 1 was expected"
        else:
            fault = fault_of(next(iter(reply.content.array_records.values())), expected, stiefel, landed)
            if fault is None and weighted_by is not None:
                fault = _fault_of_metrics(reply.content, weighted_by)
        if fault is None:
            sound.append(reply)
        else:
            _name_and_drop(server_round, reply, fault)
    return sound if weighted_by is None else _alike(server_round, sound)


def checked_metrics(server_round: int, replies: Iterable[Message], weighted_by: str) -> list[Message]:
    """Returns the evaluation replies whose metrics can be averaged. Logs the others."""
    sound: list[Message] = []
    for reply in sorted(replies, key=_place):
        fault = _reason(reply) if reply.has_error() else _fault_of_metrics(reply.content, weighted_by)
        if fault is None:
            sound.append(reply)
        else:
            _name_and_drop(server_round, reply, fault)
    return _alike(server_round, sound)


def averageable(replies: Iterable[Message], weighted_by: str) -> list[RecordDict]:
    """Returns the contents of the replies whose metrics can be averaged.

    For uniform weights, where arrays count without metrics.
    """
    told = [reply.content for reply in replies if _fault_of_metrics(reply.content, weighted_by) is None]
    common = _common(told)
    return [content for content in told if _layout(content) == common]


def _fault_of_metrics(content: RecordDict, weighted_by: str) -> str | None:
    if len(content.metric_records) != 1:
        return f"it sent {len(content.metric_records)} records of metrics where 1 was expected"
    if trials(content, weighted_by) is None:
        return f"it sent no positive number `{weighted_by}`"
    for metrics in content.metric_records.values():
        for name, value in metrics.items():
            strange = [number for number in (value if isinstance(value, list) else [value]) if not isfinite(number)]
            if strange:
                return f"it sent {strange[0]} as `{name}`"
    return None


Layout = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
"""Name of each metric record, with the names and lengths of its metrics; -1 if not a list."""


def _layout(content: RecordDict) -> Layout:
    def lengths(metrics: MetricRecord) -> tuple[tuple[str, int], ...]:
        return tuple(sorted((name, len(value) if isinstance(value, list) else -1) for name, value in metrics.items()))

    return tuple((name, lengths(metrics)) for name, metrics in content.metric_records.items())


def _common(contents: Iterable[RecordDict]) -> Layout | None:
    """Returns the most frequent layout; ties go to the first."""
    layouts = [_layout(content) for content in contents]
    return max(layouts, key=layouts.count, default=None)


def _alike(server_round: int, replies: list[Message]) -> list[Message]:
    """Returns the replies with the most frequent layout of metrics. Logs the others."""
    common = _common(reply.content for reply in replies)
    alike = []
    for reply in replies:
        if _layout(reply.content) == common:
            alike.append(reply)
        else:
            sent = [sorted(metrics) for metrics in reply.content.metric_records.values()]
            _name_and_drop(server_round, reply, f"it sent the metrics {sent}; most clients sent other names or lengths")
    return alike


def _reason(reply: Message) -> str:
    return reply.error.reason or f"Flower error {reply.error.code}"


def _name_and_drop(server_round: int, reply: Message, fault: str) -> None:
    log.warning("round %d: %s does not count: %s", server_round, _name(reply), _core.one_line(fault))


def trials(content: RecordDict, key: str) -> float | None:
    """Returns the number of trials of a reply, or None if it is missing or not positive."""
    records = list(content.metric_records.values())
    value = records[0].get(key) if len(records) == 1 else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value) or value <= 0:
        return None
    return float(value)


def _partition(reply: Message) -> int | None:
    """Returns the ``partition-id`` in the metrics. Node ids change with every deployment."""
    if reply.has_error():
        return None
    for metrics in reply.content.metric_records.values():
        number = metrics.get("partition-id")
        if isinstance(number, int):
            return number
    return None


def _place(reply: Message) -> tuple[int, int]:
    partition = _partition(reply)
    return (-1 if partition is None else partition, reply.metadata.src_node_id)


def _name(reply: Message) -> str:
    partition = _partition(reply)
    if partition is not None:
        return f"the client of partition {partition} (node {reply.metadata.src_node_id})"
    if reply.has_error():
        # Flower makes such replies itself, without a node id.
        return f"a client (the reply to message {reply.metadata.reply_to_message_id[:12]})"
    return f"node {reply.metadata.src_node_id}"
