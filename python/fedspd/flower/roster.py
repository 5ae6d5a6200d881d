"""Which node of Flower is which client."""

from __future__ import annotations

import json
import logging
import math
import time

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.serverapp import Grid

from fedspd.flower import messages
from fedspd.flower.gather import GRACE, POLL, gather

log = logging.getLogger("fedspd")

AGAIN = 60.0
"""Seconds after which a node that could not introduce itself is asked once more."""


class Roster:
    """The nodes by the numbers they give themselves. A node that comes back under another identity is asked again who it is.

    A node whose key was registered under a name is nobody else: it must introduce itself by that name, and nobody takes the place of a client that is there.
    """

    def __init__(self, grid: Grid, config: str, clients: int, cutoff: float) -> None:
        self.grid = grid
        self.clients = clients
        self.config = config
        self.cutoff = cutoff
        self.nodes: dict[int, int] = {}
        self.connected: dict[int, str] = {}
        self.introductions: dict[int, str] = {}
        self._again: dict[int, float] = {}
        self._faults: dict[int, str] = {}

    def await_all(self, patience: float) -> list[str]:
        """Waits until all clients are there, and gives their introductions."""
        end = time.monotonic() + patience
        said = None
        while True:
            self.refresh()
            if len(self.introductions) == self.clients:
                return [self.introductions[number] for number in sorted(self.introductions)]
            if said != len(self.introductions):
                said = len(self.introductions)
                log.info("%d of %d clients are there", said, self.clients)
            if time.monotonic() > end:
                faults = "".join(f"; {text}" for text in self._faults.values())
                raise TimeoutError(
                    f"{said} of {self.clients} clients were there after {patience:g} seconds{faults}"
                )
            time.sleep(POLL)

    def refresh(self) -> set[int]:
        """Asks nodes that are not known yet who they are; gives the clients that are connected."""
        self.connected = {node.node_id: node.name for node in self.grid.get_nodes()}
        new = [node for node in self.connected if self._again.get(node, 0.0) <= time.monotonic()]
        content = RecordDict({"task": ConfigRecord({"config": self.config})})
        asked = {node: Message(content, node, "query", ttl=self.cutoff + GRACE) for node in new}
        gather(self.grid, asked, self.cutoff, self._meet, self._miss)
        return {client for client, node in self.nodes.items() if node in self.connected}

    def _meet(self, node: int, content: RecordDict) -> None:
        try:
            text = str(messages.told(content)["introduction"])
            said = json.loads(text)
            number, name = said["number"], str(said["name"])
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise messages.Unfit("it introduced itself with something else") from error
        if type(number) is not int or not 0 <= number < self.clients:
            raise messages.Unfit(f"it says that it is client number {number!r} of {self.clients}, counted from 0")
        registered = self.connected.get(node)
        if registered and registered != name:
            raise messages.Unfit(f"its key is registered for {registered!r}, and it says that it is {name!r}")
        if self.introductions.get(number, text) != text or self.nodes.get(number, node) in self.connected.keys() - {node}:
            raise messages.Unfit(f"it says that it is client number {number}, who is someone else")
        self._again[node] = math.inf
        self._faults.pop(node, None)
        self.nodes[number], self.introductions[number] = node, text

    def _miss(self, node: int, reason: str) -> None:
        self._again[node] = time.monotonic() + AGAIN
        self._faults[node] = reason
        log.warning("a node could not introduce itself: %s", reason)
