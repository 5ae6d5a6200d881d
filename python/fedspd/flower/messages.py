"""What travels: parameters as named arrays, everything else as numbers and text that anyone can read on the way."""

from __future__ import annotations

from math import isfinite, prod
from typing import Optional, TypeVar

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, MetricRecord, RecordDict

Layout = list[tuple[str, list[int]]]
"""Names and shapes of the arrays, in their order."""
Seen = Optional[tuple[float, list[int]]]
"""The mean loss of a split, and its confusion matrix row by row."""

NONE = -1
"""Before the first round that counts; records have no word for nothing."""


class Unfit(ValueError):
    """A message that is not what was asked for; says what is wrong with it."""


def pack(numbers: bytes, layout: Layout, dtype: str) -> ArrayRecord:
    """Parameters as they leave the Rust core, as named arrays."""
    values = np.frombuffer(numbers, dtype)
    arrays, start = {}, 0
    for name, shape in layout:
        arrays[name] = Array(values[start : start + prod(shape)].reshape(shape))
        start += prod(shape)
    return ArrayRecord(arrays)


def unpack(record: RecordDict, layout: Layout, dtype: str) -> bytes:
    """Named arrays as the Rust core takes them. Names, types and shapes must be those that are expected; what the numbers are is checked there."""
    arrays = record.array_records.get("parameters")
    if arrays is None:
        raise Unfit("it sent no parameters")
    expected = [name for name, _ in layout]
    if sorted(arrays) != sorted(expected):
        raise Unfit(f"it sent arrays {sorted(arrays)} where {sorted(expected)} were expected")
    parts = []
    for name, shape in layout:
        try:
            values = arrays[name].numpy()
        except Exception as error:
            raise Unfit(f"it sent something unreadable in `{name}`") from error
        if list(values.shape) != shape or values.dtype != np.dtype(dtype):
            raise Unfit(
                f"it sent `{name}` with shape {list(values.shape)} of {values.dtype}"
                f" where {shape} of {np.dtype(dtype)} was expected"
            )
        parts.append(np.ascontiguousarray(values).tobytes())
    return b"".join(parts)


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


def measured(record: RecordDict, name: str) -> MetricRecord:
    """Numbers by name."""
    if name not in record.metric_records:
        raise Unfit(f"it sent no record `{name}`")
    return record.metric_records[name]


def number(record: MetricRecord, key: str) -> float:
    """One number, finite."""
    value = record.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Unfit(f"it sent no number `{key}`")
    if not isfinite(value):
        raise Unfit(f"it sent {value} as `{key}`")
    return value


def verdicts(validation: Seen, test: Seen) -> RecordDict:
    """What a model made of a site's trials."""
    seen = {"validation": validation, "test": test}
    records = {
        split: MetricRecord({"loss": verdict[0], "confusion": verdict[1]})
        for split, verdict in seen.items()
        if verdict is not None
    }
    return RecordDict({**records, "task": ConfigRecord({"judged": list(records)})})


def verdict(record: RecordDict, split: str) -> Seen:
    """What a model made of the trials of a split, if there was something to make of."""
    told(record)
    if split not in record.metric_records:
        return None
    metrics = record.metric_records[split]
    confusion = metrics.get("confusion")
    counts = [count for count in confusion if type(count) is int and count >= 0] if isinstance(confusion, list) else None
    if counts is None or counts != confusion:
        raise Unfit("it sent no confusion matrix")
    return float(number(metrics, "loss")), counts
