"""Replies of any Flower client, before they count: finite, of the right shapes, and on the manifold."""

from __future__ import annotations

import logging
from collections.abc import Iterable

import numpy as np
from flwr.app import ArrayRecord, Message

from fedspd import _core

log = logging.getLogger("fedspd")

LIMITS = {np.dtype("f8"): 1e-8, np.dtype("f4"): 1e-4}
"""As far from orthonormal columns as rounding may take a matrix; the limits of the Rust core."""


def fault_of(arrays: ArrayRecord, expected: ArrayRecord, stiefel: Iterable[str], landed: bool = True) -> str | None:
    """What is wrong with the arrays of a reply, in words; nothing if they may count. Where clients need not land, distance is no fault."""
    if set(arrays) != set(expected):
        return f"it sent arrays {sorted(arrays)} where {sorted(expected)} were expected"
    for name in expected:
        try:
            values = arrays[name].numpy()
        except Exception:  # whatever NumPy makes of a stranger's bytes
            return f"it sent something unreadable in `{name}`"
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


def vet(
    server_round: int, replies: Iterable[Message], expected: ArrayRecord, stiefel: Iterable[str], landed: bool = True
) -> list[Message]:
    """The replies that may count, in an order that does not depend on who was first. The others are named in the log."""
    unknown = sorted(set(stiefel) - set(expected))
    if unknown:
        raise ValueError(f"there is no array `{unknown[0]}`; there are {sorted(expected)}")
    sound = []
    for reply in replies:
        if reply.has_error():
            fault = reply.error.reason or f"error {reply.error.code} of Flower"
        elif len(reply.content.array_records) != 1:
            fault = f"it sent {len(reply.content.array_records)} records of arrays where 1 was expected"
        else:
            fault = fault_of(next(iter(reply.content.array_records.values())), expected, stiefel, landed)
        if fault is None:
            sound.append(reply)
        else:
            log.warning("round %d: %s does not count: %s", server_round, _name(reply), fault)
    return sorted(sound, key=_place)


def _partition(reply: Message) -> int | None:
    """The number that a client may give itself among its metrics: numbers of nodes are drawn anew in every deployment."""
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
        return f"the client of partition {partition}"
    if reply.has_error():
        # Such a reply is made up by Flower, and carries no number of a node.
        return f"a client (the reply to message {reply.metadata.reply_to_message_id[:12]})"
    return f"node {reply.metadata.src_node_id}"
