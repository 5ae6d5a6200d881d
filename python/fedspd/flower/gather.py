"""Sends messages to clients and collects their replies until a time limit."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

from fedspd import _core
from fedspd.flower import messages

log = logging.getLogger("fedspd")

POLL = 1.0
"""Seconds between two polls for replies."""

GRACE = 60.0
"""Seconds that a message stays valid after the cut-off.

After that no client starts work on it. The margin lets our cut-off report late clients before
Flower does, because Flower's wording differs.
"""


def gather(
    grid: Grid,
    asked: dict[int, Message],
    cutoff: float,
    take: Callable[[int, RecordDict], None],
    give_up: Callable[[int, str], None],
) -> None:
    """Sends each client its message and takes the replies as they arrive.

    After the cut-off, in seconds, the missing clients are given up. An invalid reply is given up
    with its reason: a Flower error, a fault of the client, or unexpected content. The message id
    identifies the client, because Flower's own replies for lost nodes carry no node number.
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
    """Takes a reply, or gives it up with its reason.

    The reason is cut to one line, because clients must not forge log lines.
    """
    try:
        reason = _fault_of(reply)
        if reason is None:
            take(client, reply.content)
    except messages.InvalidMessage as unfit:
        reason = str(unfit)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # any, also a panic of the core: what a site sends costs its reply only
        log.exception("the reply of client %d cannot be read", client)
        reason = "its reply cannot be read"
    if reason is not None:
        give_up(client, _core.one_line(reason))


def _fault_of(reply: Message) -> str | None:
    """Returns the reason why a client did not do its task, or None."""
    if not reply.has_error():
        return messages.refused(reply.content)
    # The last line of a traceback holds the error.
    lines = (reply.error.reason or "").strip().splitlines() or [f"Flower error {reply.error.code}"]
    return lines[-1]
