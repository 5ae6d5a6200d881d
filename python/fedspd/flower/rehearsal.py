"""A deployment in one process, to inspect its messages before anything is installed."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from flwr.app import Context, Error, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.proto.node_pb2 import NodeInfo
from flwr.serverapp import Grid
from flwr.supercore.run import Run
from flwr.supercore.task_identity import TaskIdentity

from fedspd.flower.client import client_app
from fedspd.flower.server import Settings, run_rounds

Watch = Callable[[str, Message, Message], None]
"""A function of the node's name, the message to it, and its reply."""


def rehearse(
    source: str | Path,
    nodes: Sequence[Mapping[str, str | int | float | bool]],
    out: str | Path,
    *,
    client: ClientApp | None = None,
    watch: Watch | None = None,
    **settings: str | int | float,
) -> Path:
    """Rehearses a deployed run in one process and returns its folder.

    Server, client and messages are those of a deployment; only the network is missing.

    - ``source``: the experiment, as for ``server_app``.
    - ``nodes``: the ``--node-config`` of each node.
    - ``settings``: the fields of ``Settings``.
    - ``watch``: called with every message and its reply. All data that leave a hospital are in the
      replies.
    - ``client``: a client app with your own mods.
    """
    grid = _LocalGrid(nodes, client or client_app(), watch)
    with _identity():
        run_rounds(grid, source, Settings.of({"clients": len(nodes), "out": str(out), **_hyphened(settings)}))
    return Path(out)


@contextlib.contextmanager
def _identity() -> Iterator[None]:
    """Sets the identity that a SuperLink gives to a server process; messages need it."""
    before = {name: getattr(TaskIdentity, name) for name in ("_task_id", "_run_id", "_node_id")}
    TaskIdentity.task_id = TaskIdentity.run_id = TaskIdentity.node_id = 1
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(TaskIdentity, name, value)


def _hyphened(settings: Mapping[str, str | int | float]) -> dict[str, str | int | float]:
    return {key.replace("_", "-"): value for key, value in settings.items()}


class _LocalGrid(Grid):
    """A grid whose nodes answer at once."""

    def __init__(self, nodes: Sequence[Mapping[str, str | int | float | bool]], client: ClientApp, watch: Watch | None) -> None:
        self._contexts = {
            number: Context(run_id=1, node_id=number, node_config=dict(node), state=RecordDict(), run_config={})
            for number, node in enumerate(nodes, 1)
        }
        self._client = client
        self._watch = watch
        self._replies: dict[str, Message] = {}

    def get_node_ids(self) -> Iterable[int]:
        return list(self._contexts)

    def get_nodes(self) -> Iterable[NodeInfo]:
        return [NodeInfo(node_id=number, name=self._name(number)) for number in self._contexts]

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        names = []
        for message in messages:
            name = str(uuid.uuid4())
            # As in Flower's in-memory grid, a message gets its id when it is sent.
            message.metadata.__dict__["_message_id"] = name
            names.append(name)
            self._replies[name] = self._answer(message)
        return names

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        return [self._replies.pop(name) for name in list(message_ids) if name in self._replies]

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        return self.pull_messages(self.push_messages(messages))

    def _answer(self, message: Message) -> Message:
        number = message.metadata.dst_node_id
        try:
            reply = self._client(message, self._contexts[number])
        except Exception as error:  # a SuperNode replies for an app that fails
            reply = Message(Error(code=0, reason=f"{type(error).__name__}: {error}"), reply_to=message)
        if self._watch is not None:
            self._watch(self._name(number), message, reply)
        return reply

    def _name(self, number: int) -> str:
        return str(self._contexts[number].node_config.get("name", ""))

    def set_run(self, run: Run) -> None:
        raise NotImplementedError("a rehearsal has no SuperLink and no Flower run")

    @property
    def run(self) -> Run:
        raise NotImplementedError("a rehearsal has no SuperLink and no Flower run")

    def create_message(self, *_: Any, **__: Any) -> Message:
        raise NotImplementedError("a rehearsal cannot create messages; call Message(...)")
