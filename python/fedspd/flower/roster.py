"""The mapping from clients to Flower nodes."""

from __future__ import annotations

import logging
import math
import time

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

import fedspd
from fedspd import _core
from fedspd.flower import messages
from fedspd.flower.gather import GRACE, POLL, take_reply

log = logging.getLogger("fedspd")

AGAIN = 60.0
"""Seconds before the server queries a node again that could not introduce itself."""


class Roster:
    """The nodes by their ``partition-id``.

    A node that reconnects with another node id is queried again. A node whose key is registered
    under a name must introduce itself by that name. No node can replace a connected client.
    Rounds do not wait for introductions: a node that is unknown when a round begins takes part in a
    later one.
    """

    def __init__(self, grid: Grid, config: str, clients: int, cutoff: float) -> None:
        self.grid = grid
        self.clients = clients
        self.config = config
        self.cutoff = cutoff
        self.nodes: dict[int, int] = {}
        self.connected: dict[int, str] = {}
        self.introductions: dict[int, str] = {}
        self._asked: dict[str, tuple[int, float]] = {}
        self._again: dict[int, float] = {}
        self._faults: dict[int, str] = {}

    def await_all(self, patience: float) -> list[str]:
        """Waits until all clients have joined and returns their introductions."""
        end = time.monotonic() + patience
        said = None
        while True:
            self.refresh()
            if len(self.introductions) == self.clients:
                return [self.introductions[number] for number in sorted(self.introductions)]
            if said != len(self.introductions):
                said = len(self.introductions)
                log.info("%d of %d clients have joined", said, self.clients)
            if time.monotonic() > end:
                faults = "".join(f"; {text}" for text in self._faults.values())
                raise TimeoutError(
                    f"{said} of {self.clients} clients had joined after {patience:g} seconds{faults}"
                )
            time.sleep(POLL)

    def refresh(self) -> set[int]:
        """Queries unknown nodes, reads introductions, and returns the connected clients."""
        self.connected = {node.node_id: node.name for node in self.grid.get_nodes()}
        now = time.monotonic()
        new = [node for node in self.connected if self._again.get(node, 0.0) <= now]
        content = RecordDict({"task": ConfigRecord({"config": self.config})})
        queries = [Message(content, node, "query", ttl=self.cutoff + GRACE) for node in new]
        for node, query in zip(new, self.grid.push_messages(queries) if queries else ()):
            self._asked[query] = (node, now + self.cutoff)
            self._again[node] = math.inf
        self._listen()
        return {client for client, node in self.nodes.items() if node in self.connected}

    def _listen(self) -> None:
        for reply in self.grid.pull_messages(list(self._asked)) if self._asked else ():
            node, _ = self._asked.pop(reply.metadata.reply_to_message_id, (None, None))
            if node is not None:
                take_reply(node, reply, self._accept, self._reject)
        late = [query for query, (_, end) in self._asked.items() if end <= time.monotonic()]
        for query in late:
            self._reject(self._asked.pop(query)[0], f"it did not reply within {self.cutoff:g} seconds")

    def _accept(self, node: int, content: RecordDict) -> None:
        text = messages.entry(messages.task_of(content), "introduction", str)
        try:
            number, name = _core.introduced(text)
        except fedspd.Error as error:
            raise messages.InvalidMessage(str(error)) from error
        if number >= self.clients:
            raise messages.InvalidMessage(f"its `partition-id` is {number}; it must be from 0 to {self.clients - 1}")
        registered = self.connected.get(node)
        if registered and registered != name:
            raise messages.InvalidMessage(f"its key is registered for {registered!r}, but it calls itself {name!r}")
        if self.introductions.get(number, text) != text or self.nodes.get(number, node) in self.connected.keys() - {node}:
            raise messages.InvalidMessage(f"its `partition-id` {number} belongs to another client")
        self._faults.pop(node, None)
        self.nodes[number], self.introductions[number] = node, text

    def _reject(self, node: int, reason: str) -> None:
        self._again[node] = time.monotonic() + AGAIN
        name = self.connected.get(node) or f"node {node}"
        self._faults[node] = f"{name}: {reason}"
        log.warning("%s could not introduce itself: %s", name, reason)
