"""Methods with parts of their own and with two exchanges a round, over Flower's messages.

The methods are in ``crates/federated/tests/toys``. ``./test`` builds them into the wheel.
"""

import os

import pytest

pytest.importorskip("flwr")

import numpy as np
from flwr.app import Array, ArrayRecord

from fedspd.flower import client_app, messages, rehearse

from . import loop
from .test_rehearsal import events, nodes, same, warnings

pytestmark = pytest.mark.skipif(os.environ.get("FEDSPD_TOYS") != "1", reason="needs a wheel with the feature `toys`")

PARTS = {
    "control": ({"control"}, {"control.change", "loss"}),
    "two-exchanges": ({"sizes"}, {"size", "loss"}),
}
"""The parts that a method sends beside the weights: down, and up."""


@pytest.fixture(params=PARTS)
def toy(request, monkeypatch):
    monkeypatch.setenv("FEDSPD_TOY", request.param)
    return request.param


def sent(content):
    return set(content.array_records[messages.PARTS])


def test_same_bytes_as_in_one_process(tmp_path, toy):
    changes = loop.settings()
    loop.run_in_process(changes, tmp_path / "one")
    down, up, trained = set(), set(), 0

    def watch(name, asked, reply):
        nonlocal trained
        if asked.metadata.message_type == "train":
            trained += 1
            down.update(sent(asked.content))
            up.update(sent(reply.content))

    rehearse("sample", nodes(tmp_path), tmp_path / "many", changes="; ".join(changes), watch=watch)
    same(tmp_path / "one", tmp_path / "many")
    metrics = [event.get("metrics") for event in events(tmp_path / "many") if event["event"] == "round"]
    assert [set(each or {}) for each in metrics] == [{"control"} if toy == "control" else set()] * 3
    weights = {"block0.weight", "head.weight", "head.bias"}
    assert (down - weights, up - weights) == PARTS[toy]
    exchanges = 2 if toy == "two-exchanges" else 1
    assert trained == 4 * exchanges * 3  # clients, exchanges, rounds


class Killed(BaseException):
    pass


@pytest.mark.parametrize("after", [1, 6, 11])
def test_killed_and_resumed_with_the_same_bytes(tmp_path, toy, after):
    changes = loop.settings()
    loop.run_in_process(changes, tmp_path / "one")
    seen = 0

    def kill(name, asked, reply):
        nonlocal seen
        seen += asked.metadata.message_type == "train"
        if seen == after:
            raise Killed

    with pytest.raises(Killed):
        rehearse("sample", nodes(tmp_path), tmp_path / "many", changes="; ".join(changes), watch=kill)
    rehearse("sample", nodes(tmp_path), tmp_path / "many", changes="; ".join(changes))
    one, many = tmp_path / "one", tmp_path / "many"
    model = "models/seed-0.safetensors"
    assert (one / model).read_bytes() == (many / model).read_bytes()
    assert (one / "results.csv").read_text() == (many / "results.csv").read_text()


def test_a_number_that_is_not_finite_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("FEDSPD_TOY", "control")

    def fault(message, context, call_next):
        reply = call_next(message, context)
        if message.metadata.message_type == "train" and context.node_config["name"] == "c":
            arrays = dict(reply.content.array_records[messages.PARTS])
            arrays["control.change"] = Array(np.array([np.nan]))
            reply.content[messages.PARTS] = ArrayRecord(arrays)
        return reply

    rehearse("sample", nodes(tmp_path), tmp_path / "run", changes="; ".join(loop.settings(rounds=1)), client=client_app(mods=[fault]))
    assert "round 1: c does not count: it sent NaN in `control.change`" in warnings(tmp_path / "run")


@pytest.mark.parametrize("kind", ["dropped", "renamed", "left over"])
def test_a_wrong_part_is_refused_with_the_name_of_the_client(tmp_path, toy, kind):
    part = "control.change" if toy == "control" else "size"

    def fault(message, context, call_next):
        reply = call_next(message, context)
        if message.metadata.message_type != "train" or context.node_config["name"] != "c":
            return reply
        arrays = dict(reply.content.array_records[messages.PARTS])
        if part in arrays:
            array = arrays[part] if kind == "left over" else arrays.pop(part)
            if kind != "dropped":
                arrays["other"] = array
            reply.content[messages.PARTS] = ArrayRecord(arrays)
        return reply

    rehearse("sample", nodes(tmp_path), tmp_path / "run", changes="; ".join(loop.settings(rounds=1)), client=client_app(mods=[fault]))
    expected = f"it sent no `{part}`" if kind == "dropped" else "it sent `other`, which is not part of the message"
    assert f"round 1: c does not count: {expected}" in warnings(tmp_path / "run")


def test_a_part_that_the_server_drops_is_refused_by_the_site(tmp_path, toy):
    part = "control" if toy == "control" else "sizes"

    def lose(message, context, call_next):
        if message.metadata.message_type == "train" and context.node_config["name"] == "b":
            arrays = dict(message.content.array_records[messages.PARTS])
            arrays.pop(part, None)
            message.content[messages.PARTS] = ArrayRecord(arrays)
        return call_next(message, context)

    rehearse("sample", nodes(tmp_path), tmp_path / "run", changes="; ".join(loop.settings(rounds=1)), client=client_app(mods=[lose]))
    [warning] = [text for text in warnings(tmp_path / "run") if "b does not count" in text]
    assert f"it sent no `{part}`" in warning
