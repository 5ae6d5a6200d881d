"""The audit log of a site: who asked what, when, and what was sent."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import datetime, timezone
from pathlib import Path

from flwr.app import Message, RecordDict

from fedspd import _core
from fedspd.flower import messages

NAME = "audit.jsonl"
"""The file in the folder of the site's state. It only grows."""

ASKED = ("study", "run", "round", "exchange", "epochs", "learning-rate", "validated", "tested")
"""The entries of a task that are logged. A site's own texts are not among them."""


def record(state: Path, message: Message, reply: RecordDict) -> None:
    """Adds one line: the time, the node that asked, what it asked, and what is sent."""
    task = dict(message.content.config_records.get("task") or {})
    line = {
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "from": message.metadata.src_node_id,
        "asked": message.metadata.message_type,
        **{key: _short(task[key]) for key in ASKED if key in task},
    }
    if "config" in task:
        line["study"] = _core.study(str(task["config"]))
    state.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(state / NAME, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.write(json.dumps(line | _sent(reply)) + "\n")
        file.flush()
        os.fsync(file.fileno())


def _sent(reply: RecordDict) -> dict[str, object]:
    """Returns the size and the hash of what is sent, or the fault."""
    fault = messages.refused(reply)
    if fault is not None:
        return {"refused": fault}
    parts = [name.encode() + array.data for record in reply.array_records.values() for name, array in record.items()]
    texts = [f"{key}={value!r}".encode() for record in reply.config_records.values() for key, value in record.items()]
    sent = b"".join(parts + texts)
    return {"bytes": len(sent), "sha256": hashlib.sha256(sent).hexdigest()}


def _short(value: object) -> object:
    return _core.one_line(value) if isinstance(value, str) else value
