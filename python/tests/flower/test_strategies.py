"""Strategies for any client against the formulas, without a network."""

import logging
import random
import re

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.proto.node_pb2 import NodeInfo
from flwr.serverapp.strategy import (
    DifferentialPrivacyServerSideFixedClipping,
    FedAdam,
    FedAvg,
    FedTrimmedAvg,
    Krum,
)

from flwr.supercore.task_identity import TaskIdentity

from fedspd import _core
from fedspd.flower import ProjAvg, Projected, RLAvg

SHAPE = (12, 4)


def orthonormal(rng):
    return np.linalg.qr(rng.standard_normal(SHAPE))[0]


def record(weight, bias):
    return ArrayRecord({"w": Array(weight), "b": Array(bias)})


class Grid:
    """Connected nodes in no order, with their ids and registered names."""

    nodes = {71: "", 13: "", 99: "", 5: "", 40: ""}

    def get_node_ids(self):
        return list(self.nodes)

    def get_nodes(self):
        return [NodeInfo(node_id=number, name=name) for number, name in self.nodes.items()]


def rounds(strategy, replies, start, server_round=1):
    """Plays one round and returns its arrays; each reply is (arrays, trials, partition)."""
    messages = list(strategy.configure_train(server_round, start, ConfigRecord(), Grid()))
    answers = []
    for message, (arrays, trials, partition) in zip(messages, replies):
        metrics = MetricRecord({"num-examples": trials, "loss": 1.0, "partition-id": partition})
        message.metadata.__dict__["_message_id"] = message.object_id
        content = RecordDict({"arrays": arrays, "metrics": metrics})
        answers.append(Message(content, reply_to=message))
    return strategy.aggregate_train(server_round, answers)[0]


@pytest.fixture(autouse=True)
def identity(monkeypatch):
    """Sets the identity of a run, because messages need one."""
    monkeypatch.setattr(TaskIdentity, "_run_id", 1)
    monkeypatch.setattr(TaskIdentity, "_node_id", 1)
    monkeypatch.setattr(TaskIdentity, "_task_id", 1)


@pytest.fixture
def case():
    rng = np.random.default_rng(3)
    start = record(orthonormal(rng), np.zeros(3))
    base = start["w"].numpy()
    replies = []
    for client in range(5):
        near = np.linalg.qr(base + 0.1 * rng.standard_normal(SHAPE))[0]
        near *= np.sign(np.diag(near.T @ base))
        replies.append((record(near, rng.standard_normal(3)), 10 + client, client))
    return start, replies


def every_node(cls, **more):
    return cls(fraction_train=1.0, min_train_nodes=5, min_available_nodes=5, **more)


def polar(matrix):
    u, _, v = np.linalg.svd(matrix, full_matrices=False)
    return u @ v


@pytest.mark.parametrize("weighting", ["uniform", "by-trials"])
def test_averages(case, weighting):
    start, replies = case
    weights = np.ones(5) if weighting == "uniform" else np.arange(10, 15.0)
    mean = sum(w * arrays["w"].numpy() for w, (arrays, _, _) in zip(weights, replies)) / weights.sum()
    bias = sum(w * arrays["b"].numpy() for w, (arrays, _, _) in zip(weights, replies)) / weights.sum()
    base = start["w"].numpy()
    inner = base.T @ mean
    lifted = polar(base + mean - base @ (inner + inner.T) / 2)
    for strategy, expected in [(ProjAvg, polar(mean)), (RLAvg, lifted)]:
        made = rounds(every_node(strategy, stiefel=["w"], weighting=weighting), replies, start)
        assert np.abs(made["w"].numpy() - expected).max() < 1e-13
        assert np.abs(made["b"].numpy() - bias).max() < 1e-15


def test_the_order_of_replies_changes_no_bit(case):
    start, replies = case
    straight = rounds(every_node(ProjAvg, stiefel=["w"]), replies, start)
    reversed_ = rounds(every_node(ProjAvg, stiefel=["w"]), replies[::-1], start)
    for name in ("w", "b"):
        assert straight[name].numpy().tobytes() == reversed_[name].numpy().tobytes()


def test_bad_replies_are_named_and_do_not_count(case, caplog):
    start, replies = case
    good = rounds(every_node(ProjAvg, stiefel=["w"]), replies[:2], start)
    nan = record(replies[2][0]["w"].numpy(), np.array([1.0, np.nan, 2.0]))
    off = record(1.01 * replies[3][0]["w"].numpy(), np.zeros(3))
    short = record(replies[4][0]["w"].numpy()[:-1], np.zeros(3))
    bad = [(nan, 10, 2), (off, 10, 3), (short, 10, 4)]
    with caplog.at_level(logging.WARNING, "fedspd"):
        made = rounds(every_node(ProjAvg, stiefel=["w"]), replies[:2] + bad, start)
    assert made["w"].numpy().tobytes() == good["w"].numpy().tobytes()
    said = [message for message in caplog.messages if "does not count" in message]
    assert re.fullmatch(r"round 1: the client of partition 2 \(node \d+\) does not count: it sent nan in `b`", said[0])
    assert re.match(
        r"round 1: the client of partition 3 \(node \d+\) does not count: it sent weights off the Stiefel manifold: \|W\^T W - I\| = 4.0e-02",
        said[1],
    )
    assert said[2].endswith("it sent `w` with shape [11, 4] of float64 where [12, 4] of float64 was expected")
    with pytest.raises(RuntimeError, match="round 1: 2 replies accepted, 3 needed"):
        rounds(every_node(ProjAvg, stiefel=["w"], minimum_reporting=3), replies[:2] + bad, start)


def test_a_mean_without_rank_falls_back(case, caplog):
    start, _ = case
    base = start["w"].numpy()
    replies = [(record(sign * base, np.zeros(3)), 1, place) for place, sign in enumerate([1, -1])]
    made = rounds(every_node(ProjAvg, stiefel=["w"]), replies, start)
    assert np.abs(made["w"].numpy() - base).max() < 1e-13
    assert "rl-avg is used instead" in caplog.text


def test_sampling_depends_on_seed_round_and_names_alone(case):
    start, _ = case

    def drawn(seed, server_round, nodes):
        strategy = ProjAvg(stiefel=["w"], seed=seed, fraction_train=0.4, min_train_nodes=2, min_available_nodes=5)
        grid = Grid()
        grid.nodes = nodes
        messages = strategy.configure_train(server_round, start, ConfigRecord(), grid)
        return [nodes[message.metadata.dst_node_id] for message in messages]

    one = dict(zip([1, 2, 3, 4, 5], "abcde"))
    # Another deployment: the nodes have other ids and another order.
    other = dict(zip([50, 30, 70, 20, 40], "cdbea"))
    random.seed(3)
    before = random.getstate()
    assert drawn(1, 1, one) == drawn(1, 1, other)
    assert random.getstate() == before, "the state of Python's global generator changed"
    others = [drawn(seed, server_round, one) for seed in range(4) for server_round in range(4)]
    assert len(set(map(tuple, others))) > 4


@pytest.mark.parametrize(
    "inner",
    [
        lambda: every_node(FedAvg),
        lambda: every_node(Krum, num_malicious_nodes=1),
        lambda: every_node(FedTrimmedAvg, beta=0.2),
        lambda: every_node(FedAdam),
        lambda: DifferentialPrivacyServerSideFixedClipping(every_node(FedAvg), 0.1, 1.0, 5),
    ],
    ids=["FedAvg", "Krum", "FedTrimmedAvg", "FedAdam", "DP"],
)
def test_projection_behind_any_strategy(case, inner):
    start, replies = case
    np.random.seed(0)
    made = rounds(Projected(inner(), stiefel=["w"]), replies, start)
    weight = made["w"].numpy()
    assert np.abs(weight.T @ weight - np.eye(4)).max() < 1e-13


def test_projection_goes_last(case):
    """Noise after a projection leaves the manifold, so the wrapper goes outermost."""
    start, replies = case
    np.random.seed(0)
    made = rounds(
        DifferentialPrivacyServerSideFixedClipping(Projected(every_node(FedAvg), stiefel=["w"]), 0.1, 1.0, 5),
        replies,
        start,
    )
    assert float(_core.feasibility_error(made["w"].numpy())) > 1e-3


def test_an_array_that_is_not_there(case):
    start, replies = case
    with pytest.raises(ValueError, match=r"there is no array `v`; there are \['b', 'w'\]"):
        rounds(every_node(ProjAvg, stiefel=["v"]), replies, start)
    with pytest.raises(ValueError, match="it must be 'uniform' or 'by-trials'"):
        ProjAvg(stiefel=["w"], weighting="sometimes")


@pytest.mark.parametrize("trials", [float("nan"), float("inf"), -3.0, 0])
def test_a_weight_that_cannot_be_does_not_count(case, caplog, trials):
    """An invalid number of one client does not stop the others."""
    start, replies = case
    strategy = every_node(ProjAvg, stiefel=["w"], weighting="by-trials")
    with caplog.at_level(logging.WARNING, "fedspd"):
        made = rounds(strategy, [(replies[0][0], trials, 0), *replies[1:]], start)
    without = [(record(np.full(SHAPE, np.nan), np.zeros(3)), 1, 0), *replies[1:]]
    expected = rounds(every_node(ProjAvg, stiefel=["w"], weighting="by-trials"), without, start)
    assert np.array_equal(made["w"].numpy(), expected["w"].numpy())
    assert "does not count: it sent no positive number `num-examples`" in caplog.text


@pytest.mark.parametrize("change", [np.float32, np.complex128, np.int64])
def test_numbers_of_another_type_do_not_count(case, caplog, change):
    start, replies = case
    odd = record(replies[0][0]["w"].numpy(), replies[0][0]["b"].numpy().astype(change))
    with caplog.at_level(logging.WARNING, "fedspd"):
        made = rounds(every_node(ProjAvg, stiefel=["w"]), [(odd, 10, 0), *replies[1:]], start)
    assert made["b"].numpy().dtype == np.float64
    assert f"it sent `b` with shape [3] of {np.dtype(change)} where [3] of float64 was expected" in caplog.text


METRICS = [
    ({"loss": 1.0, "partition-id": 2}, "it sent no positive number `num-examples`"),
    ({"num-examples": float("nan"), "loss": 1.0, "partition-id": 2}, "it sent no positive number `num-examples`"),
    ({"num-examples": [3, 4], "loss": 1.0, "partition-id": 2}, "it sent no positive number `num-examples`"),
    ({"num-examples": 10, "loss": float("inf"), "partition-id": 2}, "it sent inf as `loss`"),
    ({"num-examples": 10, "loss": [1.0, 2.0], "partition-id": 2}, "it sent the metrics [['loss', 'num-examples', 'partition-id']]; most clients sent other names or lengths"),
    ({"num-examples": 10, "partition-id": 2, "surprise": 1.0}, "it sent the metrics [['num-examples', 'partition-id', 'surprise']]; most clients sent other names or lengths"),
    ({}, "it sent no positive number `num-examples`"),
]
"""The metrics of one client, and the logged reason why it does not count."""


def answers_of(messages, replies, metrics):
    """Returns replies; the third has other metrics than the rest."""
    answers = []
    for place, (message, (arrays, trials, partition)) in enumerate(zip(messages, replies)):
        told = metrics if place == 2 else {"num-examples": trials, "loss": 1.0, "partition-id": partition}
        message.metadata.__dict__["_message_id"] = message.object_id
        answers.append(Message(RecordDict({"arrays": arrays, "metrics": MetricRecord(told)}), reply_to=message))
    return answers


STRATEGIES = {
    "ProjAvg": lambda: every_node(ProjAvg, stiefel=["w"], weighting="by-trials"),
    "FedAvg": lambda: Projected(every_node(FedAvg), stiefel=["w"]),
    "DP": lambda: Projected(DifferentialPrivacyServerSideFixedClipping(every_node(FedAvg), 0.0, 9.0, 4), stiefel=["w"]),
}


@pytest.mark.parametrize("metrics, said", METRICS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_metrics_of_one_do_not_end_the_run_of_all(case, caplog, strategy, metrics, said):
    start, replies = case
    strategy = STRATEGIES[strategy]()
    messages = list(strategy.configure_train(1, start, ConfigRecord(), Grid()))
    with caplog.at_level(logging.WARNING, "fedspd"):
        made, _ = strategy.aggregate_train(1, answers_of(messages, replies, metrics))
    assert made is not None
    assert said in caplog.text
    messages = list(strategy.configure_evaluate(1, start, ConfigRecord(), Grid()))
    caplog.clear()
    with caplog.at_level(logging.WARNING, "fedspd"):
        seen = strategy.aggregate_evaluate(1, answers_of(messages, replies, metrics))
    assert seen["loss"] == 1.0
    assert said in caplog.text


@pytest.mark.parametrize("metrics", [metrics for metrics, _ in METRICS])
def test_where_all_weigh_the_same_arrays_count_whatever_is_beside_them(case, metrics):
    start, replies = case
    strategy = every_node(ProjAvg, stiefel=["w"])
    messages = list(strategy.configure_train(1, start, ConfigRecord(), Grid()))
    made, seen = strategy.aggregate_train(1, answers_of(messages, replies, metrics))
    plain = rounds(every_node(ProjAvg, stiefel=["w"]), replies, start)
    assert np.abs(made["w"].numpy() - plain["w"].numpy()).max() < 1e-14
    assert seen["loss"] == 1.0
