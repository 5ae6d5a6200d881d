"""What travels: the parts of a message as named arrays, the task as numbers and text that anyone can read on the way."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

Part = tuple[str, list[int], str, bytes]
"""Name, shape, NumPy's name of the type, bytes: a part of a message, as the Rust core has it."""
Place = tuple[int, int]
"""A round and an exchange within it, both counted from 0."""

KINDS = ("<f4", "<f8", "<u8")
"""The types that a part may have."""
PARTS = "message"
"""The name of the record with the parts of a message."""
NONE = -1
"""Before the first round that counts; records have no word for nothing."""


class Unfit(ValueError):
    """A message that is not what was asked for; says what is wrong with it."""


def pack(parts: list[Part]) -> ArrayRecord:
    """A message of the Rust core as named arrays."""
    return ArrayRecord({name: Array(np.frombuffer(numbers, kind).reshape(shape)) for name, shape, kind, numbers in parts})


def unpack(record: RecordDict) -> list[Part]:
    """Named arrays as the Rust core takes them. Which parts there must be, and what their numbers may be, is checked there."""
    records = record.array_records
    if PARTS not in records:
        raise Unfit("it sent no message")
    left_over = sorted(set(records) - {PARTS})
    if left_over:
        raise Unfit(f"it sent a record of arrays `{left_over[0]}`, which is not part of the message")
    return [_part(name, array) for name, array in records[PARTS].items()]


def _part(name: str, array: Array) -> Part:
    try:
        values = array.numpy()
    except Exception as error:
        raise Unfit(f"it sent something unreadable in `{name}`") from error
    if values.dtype.str not in KINDS:
        raise Unfit(f"it sent `{name}` of type {values.dtype}, which no part of a message has")
    return name, list(values.shape), values.dtype.str, np.ascontiguousarray(values).tobytes()


def told(record: RecordDict) -> ConfigRecord:
    """What is asked for, or said, in words."""
    if "task" not in record.config_records:
        raise Unfit("it sent no task")
    return record.config_records["task"]


T = TypeVar("T", int, float, bool, str)


def entry(task: ConfigRecord, key: str, kind: type[T]) -> T:
    """One thing that is said, of the type that it must have."""
    value = task.get(key)
    # A truth value passes for a number with Python's own question.
    if type(value) is not kind:
        raise Unfit(f"it sent no `{key}`")
    return value


def fault(text: str) -> RecordDict:
    """A reply of someone who could not do what was asked."""
    return RecordDict({"task": ConfigRecord({"fault": text})})


def refused(record: RecordDict) -> str | None:
    """Why nothing was done, if nothing was."""
    task = record.config_records.get("task")
    return None if task is None or "fault" not in task else str(task["fault"])


def since(place: Place | None) -> dict[str, int]:
    """The last exchange in which a site's reply counted, as entries of a task."""
    round_, exchange = (NONE, 0) if place is None else place
    return {"since": round_, "since-exchange": exchange}


def counted(task: ConfigRecord) -> Place | None:
    """The last exchange in which a site's reply counted, if there is one."""
    round_ = entry(task, "since", int)
    return None if round_ == NONE else (round_, entry(task, "since-exchange", int))
