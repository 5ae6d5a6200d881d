"""Content of messages: parts as named arrays, the task as readable numbers and text."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

Part = tuple[str, list[int], str, bytes]
"""A part of a message in the Rust core: name, shape, NumPy type name, bytes."""
Place = tuple[int, int]
"""A round and an exchange within it, both counted from 0."""

KINDS = ("<f4", "<f8", "<u8")
"""The types of parts."""
PARTS = "message"
"""The name of the record with the parts of a message."""
NONE = -1
"""The round of a site without a counted reply, because records cannot hold None."""


class InvalidMessage(ValueError):
    """An invalid message, with the reason."""


def pack(parts: list[Part]) -> ArrayRecord:
    """Returns a message of the Rust core as named arrays."""
    return ArrayRecord({name: Array(np.frombuffer(numbers, kind).reshape(shape)) for name, shape, kind, numbers in parts})


def unpack(record: RecordDict) -> list[Part]:
    """Returns named arrays as parts for the Rust core, which checks their names and values."""
    records = record.array_records
    if PARTS not in records:
        raise InvalidMessage("it sent no message")
    left_over = sorted(set(records) - {PARTS})
    if left_over:
        raise InvalidMessage(f"it sent a record of arrays `{left_over[0]}`, which is not part of the message")
    return [_part(name, array) for name, array in records[PARTS].items()]


def _part(name: str, array: Array) -> Part:
    try:
        values = array.numpy()
    except Exception as error:
        raise InvalidMessage(f"it sent unreadable data in `{name}`") from error
    if values.dtype.str not in KINDS:
        raise InvalidMessage(f"it sent `{name}` of type {values.dtype}; expected little-endian float32, float64 or uint64")
    return name, list(values.shape), values.dtype.str, np.ascontiguousarray(values).tobytes()


def task_of(record: RecordDict) -> ConfigRecord:
    """Returns the task record of a message."""
    if "task" not in record.config_records:
        raise InvalidMessage("it sent no task")
    return record.config_records["task"]


T = TypeVar("T", int, float, bool, str)


def entry(task: ConfigRecord, key: str, kind: type[T]) -> T:
    """Returns an entry of the task, after a check of its type."""
    value = task.get(key)
    # Not isinstance: it takes a bool for an int.
    if type(value) is not kind:
        raise InvalidMessage(f"it sent no `{key}`")
    return value


def fault(text: str) -> RecordDict:
    """Returns the reply of a client that could not do its task."""
    return RecordDict({"task": ConfigRecord({"fault": text})})


def refused(record: RecordDict) -> str | None:
    """Returns the fault of a reply, or None."""
    task = record.config_records.get("task")
    return None if task is None or "fault" not in task else str(task["fault"])


def since(place: Place | None) -> dict[str, int]:
    """Returns the last exchange in which a site's reply counted, as entries of a task."""
    round_, exchange = (NONE, 0) if place is None else place
    return {"since": round_, "since-exchange": exchange}


def counted(task: ConfigRecord) -> Place | None:
    """Returns the last exchange in which a site's reply counted, or None."""
    round_ = entry(task, "since", int)
    return None if round_ == NONE else (round_, entry(task, "since-exchange", int))
