"""The client of a hospital: its trials, its state, and its work in a round."""

from __future__ import annotations

import difflib
import json
import logging
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.clientapp.typing import Mod

import fedspd
from fedspd import _core
from fedspd.flower import audit, messages

log = logging.getLogger("fedspd")

OWN = ("data", "root", "subjects", "exclude")
"""Settings of a node's data, in ``--node-config`` or in the table ``data`` of its policy."""
KNOWN = ("partition-id", "num-partitions", "name", "state", "threads", "policy", *OWN)
"""All settings that a node may give with ``--node-config``."""


def client_app(mods: list[Mod] | None = None) -> ClientApp:
    """Returns a Flower client over the Rust core.

    A node has its policy in ``--node-config``:

    - ``policy``: the file ``site.toml``. Everything else is in it.

    Without a policy, for rehearsals, it has these settings:

    - ``partition-id`` and ``name``: its identity.
    - ``data``: an ``.npz`` file, a definition or the name of a dataset.
    - ``root``: the folder of its recordings.
    - ``subjects`` and ``exclude``: the subjects to use and to leave out.
    - ``state``: the folder for its state.

    Its policy then has the limits of ``Limits`` in the core, and no person approves a study.
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
        content = _work(_site(message, context), message.content, work)
    except messages.InvalidMessage as unfit:
        log.error("invalid message from the server: %s", unfit)
        content = messages.fault(f"invalid message from the server: {unfit}")
    except fedspd.Error as error:  # safe to send: a site raises no private details, they are in its log
        content = messages.fault(str(error))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # any, also a panic: Flower would send its traceback to the server
        log.error("%s", error)
        content = messages.fault("it could not open its data; see the site's own log")
    _audit(message, context, content)
    return Message(content, reply_to=message)


def _audit(message: Message, context: Context, content: RecordDict) -> None:
    """Writes what was asked and what is sent to the audit log of the site.

    Nothing is sent without its line: an error of the disk ends the task.
    """
    try:
        text, file, state = _policy(context.node_config)
        folder = _core.policy(text, file) or state
    except (OSError, ValueError):
        return  # the site has no valid policy, so it refused the message
    audit.record(folder, message, content)


def _work(site: _core.Site, content: RecordDict, work: Callable[[_core.Site, RecordDict], RecordDict]) -> RecordDict:
    try:
        return work(site, content)
    except messages.InvalidMessage as unfit:
        log.error("invalid message from the server: %s", unfit)
        return messages.fault(f"invalid message from the server: {unfit}")
    except fedspd.Error as error:  # safe to send: a site raises no private details, they are in its log
        return messages.fault(str(error))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # also a panic of the core
        log.exception("the task failed")
        return messages.fault("the task failed; see the site's own log")


def _site(message: Message, context: Context) -> _core.Site:
    """Opens the site: for a study that asks for it, or for a message of a run."""
    policy, file, state = _policy(context.node_config)
    task = messages.task_of(message.content)
    if message.metadata.message_type == "query":
        return _core.Site.asked(policy, file, state, messages.entry(task, "config", str))
    study, run = messages.entry(task, "study", str), messages.entry(task, "run", str)
    return _core.Site.of_run(policy, file, state, study, run)


def _policy(node: Mapping[str, object]) -> tuple[str, Path, Path]:
    """Returns the text of the node's policy, its file, and the default folder for its state.

    Refuses unknown settings before anything is opened, because a typing error could select other
    subjects.
    """
    for key in node:
        if key not in KNOWN:
            near = difflib.get_close_matches(key, KNOWN, 1)
            hint = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(KNOWN)}"
            raise ValueError(f"unknown setting `{key}` in --node-config{hint}")
    if "policy" in node:
        file = Path(str(node["policy"])).expanduser()
        more = sorted(set(node) - {"policy", "partition-id", "num-partitions"})
        if more:
            raise ValueError(f"--node-config has `policy` and `{more[0]}`; `{more[0]}` belongs into {file}")
        return file.read_text(), file, default_state()
    if "partition-id" not in node:
        raise ValueError("the node has no `policy` and no `partition-id`; start it with --node-config 'policy=\"site.toml\"'")
    number = int(str(node["partition-id"]))
    lines = [
        f"name = {json.dumps(str(node.get('name', f'client {number + 1}')))}",
        f"number = {number}",
        'approval = "automatic"',
        *([f"limits.threads = {int(str(node['threads']))}"] if "threads" in node else []),
        *(f"data.{'name' if key == 'data' else key} = {json.dumps(_value(key, node[key]))}" for key in OWN if key in node),
    ]
    state = Path(str(node.get("state", default_state()))).expanduser()
    return "\n".join(lines), Path("--node-config"), state


def _value(name: str, value: object) -> str:
    """Returns a setting as text, with ``~`` in paths expanded."""
    text = str(value)
    return str(Path(text).expanduser()) if name in ("data", "root") else text


def default_state() -> Path:
    """Returns the folder for the state of a site that names none."""
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
