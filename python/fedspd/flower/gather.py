"""Messages to clients and their replies, until all are there or the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

from fedspd import _core
from fedspd.flower import messages

POLL = 1.0
"""Seconds between two looks for replies."""

GRACE = 60.0
"""Seconds that a message lives longer than it is waited for. Nobody should begin with what nobody waits for any more; but who is late is told by the
cut-off, not by Flower, which has other words for it."""


def gather(
    grid: Grid,
    asked: dict[int, Message],
    cutoff: float,
    take: Callable[[int, RecordDict], None],
    give_up: Callable[[int, str], None],
) -> None:
    """Sends each client its message and takes the replies as they come. After the cut-off, in seconds, the rest is given up.

    A reply that is none (an error of Flower, a fault of the client, something else than was asked for) is given up with its reason. The reply to a
    message is told by the message that it answers: replies that Flower makes up for a lost node do not carry its number.
    """
    clients = list(asked)
    waiting = dict(zip(grid.push_messages([asked[client] for client in clients]), clients))
    end = time.monotonic() + cutoff
    while waiting:
        for reply in grid.pull_messages(list(waiting)):
            client = waiting.pop(reply.metadata.reply_to_message_id, None)
            if client is not None:
                take_reply(client, reply, take, give_up)
        left = end - time.monotonic()
        if not waiting or left <= 0:
            break
        time.sleep(min(POLL, left))
    for client in waiting.values():
        give_up(client, f"it did not reply within {cutoff:g} seconds")


def take_reply(
    client: int, reply: Message, take: Callable[[int, RecordDict], None], give_up: Callable[[int, str], None]
) -> None:
    """Takes a reply, or gives it up with its reason, as one line: what a client says is no more than a part of a sentence."""
    if reply.has_error():
        # The last line is what happened; what is above it is where.
        lines = (reply.error.reason or "").strip().splitlines() or [f"error {reply.error.code} of Flower"]
        give_up(client, _core.one_line(lines[-1]))
        return
    refused = messages.refused(reply.content)
    if refused is not None:
        give_up(client, _core.one_line(refused))
        return
    try:
        take(client, reply.content)
    except messages.Unfit as unfit:
        give_up(client, _core.one_line(str(unfit)))
