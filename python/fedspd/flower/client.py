"""The client of a hospital: its trials, its state, and its work in a round."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from pathlib import Path

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import Mod

import fedspd
from fedspd import _core
from fedspd.flower import messages

log = logging.getLogger("fedspd")

OWN = {
    "data": "data.name",
    "root": "data.root",
    "subjects": "data.subjects",
    "exclude": "data.exclude",
    "threads": "run.threads",
}
"""Settings that a node may give with ``--node-config``, and their configuration keys."""


def client_app(mods: list[Mod] | None = None) -> ClientApp:
    """Returns a Flower client over the Rust core.

    A node has these settings in ``--node-config``:

    - ``partition-id`` and ``name``: its identity.
    - ``data``: an ``.npz`` file, a definition or the name of a dataset.
    - ``root``: the folder of its recordings.
    - ``subjects`` and ``exclude``: the subjects to use and to leave out.
    - ``state``: the folder for its state.
    """
    app = ClientApp(mods=mods)

    @app.query()
    def introduce(message: Message, context: Context) -> Message:
        return _reply(message, context, _introduce)

    @app.train()
    def train(message: Message, context: Context) -> Message:
        return _reply(message, context, _train)

    @app.evaluate()
    def evaluate(message: Message, context: Context) -> Message:
        return _reply(message, context, _evaluate)

    return app


def _reply(
    message: Message, context: Context, work: Callable[[_core.Site, RecordDict], RecordDict]
) -> Message:
    """Does the work and returns the reply, or a fault.

    The reason why a hospital cannot open its data goes to its own log only.
    """
    try:
        site = _site(message.content, context)
    except Exception as error:  # any: Flower would send its traceback to the server
        log.error("%s", error)
        content = messages.fault("it could not open its data; see the site's own log")
    else:
        content = _work(site, message.content, work)
    return Message(content, reply_to=message)


def _work(site: _core.Site, content: RecordDict, work: Callable[[_core.Site, RecordDict], RecordDict]) -> RecordDict:
    try:
        return work(site, content)
    except messages.InvalidMessage as unfit:
        log.error("invalid message from the server: %s", unfit)
        return messages.fault(f"invalid message from the server: {unfit}")
    except fedspd.Error as error:  # safe to send: a site raises no private details, they are in its log
        return messages.fault(str(error))
    except Exception:
        log.exception("the task failed")
        return messages.fault("the task failed; see the site's own log")


def _site(content: RecordDict, context: Context) -> _core.Site:
    node = context.node_config
    if "partition-id" not in node:
        raise ValueError("the node has no `partition-id`; start it with --node-config 'partition-id=0 ...'")
    number = int(node["partition-id"])
    changes = [f"{key}={_value(name, node[name])}" for name, key in OWN.items() if name in node]
    name = str(node.get("name", f"client {number + 1}"))
    state = Path(str(node.get("state", _default_state()))).expanduser()
    return _core.Site(str(messages.task_of(content)["config"]), changes, name, number, state)


def _value(name: str, value: object) -> str:
    """Returns a setting as configuration text, with ``~`` in paths expanded."""
    text = str(value)
    return str(Path(text).expanduser()) if name in ("data", "root") else text


def _default_state() -> Path:
    root = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(root) / "fedspd"


def _introduce(site: _core.Site, _: RecordDict) -> RecordDict:
    return RecordDict({"task": ConfigRecord({"introduction": site.introduce()})})


def _train(site: _core.Site, content: RecordDict) -> RecordDict:
    task = messages.task_of(content)
    reply = site.train(
        messages.entry(task, "run", str),
        (messages.entry(task, "round", int), messages.entry(task, "exchange", int)),
        messages.entry(task, "epochs", int),
        messages.entry(task, "learning-rate", float),
        messages.counted(task),
        messages.unpack(content),
    )
    return RecordDict({messages.PARTS: messages.pack(reply)})


def _evaluate(site: _core.Site, content: RecordDict) -> RecordDict:
    task = messages.task_of(content)
    scores = site.evaluate(
        messages.entry(task, "run", str),
        messages.unpack(content),
        messages.counted(task),
        messages.entry(task, "validated", bool),
        messages.entry(task, "tested", bool),
    )
    return RecordDict({messages.PARTS: messages.pack(scores)})
