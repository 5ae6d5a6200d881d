"""The coordinator and its sites produce the same bytes as a run in one process."""

import math

import numpy as np
import pytest

import fedspd
from fedspd import _core

from . import loop


EEGNET = {
    "data.name": "generated",
    "data.generated.subjects": 8,
    "data.generated.trials": 24,
    "data.generated.channels": 6,
    "data.generated.samples": 128,
    "data.generated.sfreq": 128.0,
    "data.generated.classes": 2,
    "model.kind": "eegnet",
}


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"federated.aggregation": "rl-avg", "federated.server_momentum": 0.5, "train.patience": 1, "federated.rounds": 5},
        {"federated.participation": 0.5, "federated.carry_state": "true", "federated.rounds": 5},
        {"align.kind": "riemannian", "federated.weights": "by-trials", "run.seeds": "[7]"},
        {"split.kind": "leave-run-out", "split.fold": 1, "split.folds": 3, "model.precision": "f32", "federated.epochs_local": "{ default = 1, b = 3 }"},
        {"split.train": 0.75, "split.val": 0.25, "split.test": 0, "run.eval_every": 2},
        {"train.scheduler": "cosine", "run.validate_every": 2, "run.eval_every": 3, "federated.rounds": 7},
        EEGNET,
        {**EEGNET, "federated.participation": 0.5, "federated.carry_state": "true", "model.fedbn": "statistics"},
    ],
    ids=["sample", "momentum", "half-carried", "aligned", "single", "untested", "rarely-scored", "eegnet", "eegnet-half"],
)
def test_same_bytes_as_in_one_process(tmp_path, more):
    changes = loop.settings(**more)
    loop.run_in_process(changes, tmp_path / "one")
    config = _core.resolve("", "sample", changes)
    sites = loop.sites(config, tmp_path / "state")
    server = loop.coordinator(config, tmp_path / "many", sites)
    loop.play(server, sites)
    assert server.rounds[0] == server.rounds[1]
    one, many = tmp_path / "one", tmp_path / "many"
    model = next((one / "models").iterdir()).name
    assert (one / "models" / model).read_bytes() == (many / "models" / model).read_bytes()
    for name in ["events.jsonl", "results.csv", "summary.json", "config.toml"]:
        assert (one / name).read_text() == (many / name).read_text(), name


def test_killed_at_any_point_it_goes_on(tmp_path):
    changes = loop.settings(**{"federated.carry_state": "true"}, **{"federated.participation": 0.75})
    config = _core.resolve("", "sample", changes)
    sites = loop.sites(config, tmp_path / "state")
    straight = loop.coordinator(config, tmp_path / "straight", sites)
    loop.play(straight, sites)
    # The server and its sites are killed after one reply of the second round.
    sites = loop.sites(config, tmp_path / "other state")
    server = loop.coordinator(config, tmp_path / "broken", sites)
    loop.play_round(server, sites)
    plan = server.plan()
    loop.train(server, sites, lost=range(1, 4))
    del server, sites
    sites = loop.sites(config, tmp_path / "other state")
    server = loop.coordinator(config, tmp_path / "broken", sites)
    assert server.rounds == (1, 3)
    assert server.plan() == plan
    loop.play(server, sites)
    name = "models/seed-0.safetensors"
    assert (tmp_path / "straight" / name).read_bytes() == (tmp_path / "broken" / name).read_bytes()
    # A finished run stays finished.
    del server
    assert loop.coordinator(config, tmp_path / "broken", sites).finished


def poisoned(kind, reply):
    """Returns a reply with a fault in its first part."""
    (name, shape, dtype, numbers), *others = reply
    values = np.frombuffer(numbers, dtype).copy()
    if kind == "nan":
        values[5] = math.nan
    elif kind == "off":
        values *= 1.01
    elif kind == "short":
        values = values[:-1]
    elif kind == "single":
        values, dtype = values.astype("<f4"), "<f4"
    elif kind == "renamed":
        name = "something"
    elif kind == "missing":
        return others
    elif kind == "twice":
        others.append((name, shape, dtype, numbers))
    return [(name, shape, dtype, values.tobytes()), *others]


@pytest.mark.parametrize(
    "kind, said",
    [
        ("nan", "it sent NaN in `"),
        ("off", "it sent weights off the Stiefel manifold: |W^T W - I| = "),
        ("short", "it sent `block0.weight` with 1151 numbers where 1152 were expected"),
        ("single", "and type f32 where shape [64, 18] and type f64 were expected"),
        ("renamed", "it sent `something`, which is not part of the message"),
        ("missing", "it sent no `block0.weight`"),
        ("twice", "it sent `block0.weight` twice"),
    ],
)
def test_a_bad_reply_is_named_and_does_not_count(tmp_path, caplog, kind, said):
    config = _core.resolve("", "sample", loop.settings(rounds=1))
    sites = loop.sites(config, tmp_path / "state")
    server = loop.coordinator(config, tmp_path / "run", sites)
    for client, reply in loop.train(server, sites):
        server.submit(client, poisoned(kind, reply) if client == 2 else reply)
    plan = server.close()
    assert plan["since"] == [(0, 0), (0, 0), None, (0, 0)]
    for client, scores in loop.evaluate(server, sites, plan):
        if client == 2:
            wrong = ("validation.loss", [], "<f8", np.float64(math.nan).tobytes())
            scores = [wrong if part[0] == wrong[0] else part for part in scores]
        server.score(client, scores)
    server.advance()
    assert server.finished
    warnings = [record.getMessage() for record in caplog.records]
    assert any(text.startswith(f"round 1: c does not count: ") and said in text for text in warnings), warnings
    assert "round 1: c did not score the model: its loss is NaN; it must be between 0 and 1000000" in warnings
    # The model is the same as without the client.
    sites = loop.sites(config, tmp_path / "state 2")
    without = loop.coordinator(config, tmp_path / "without", sites)
    loop.play_round(without, sites, lost=[2])
    name = "models/seed-0.safetensors"
    assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()


def test_quorum(tmp_path):
    config = _core.resolve("", "sample", loop.settings(rounds=1))
    sites = loop.sites(config, tmp_path / "state")
    server = loop.coordinator(config, tmp_path / "run", sites, quorum=3)
    with pytest.raises(fedspd.Error, match="round 1: 2 of 4 replies accepted, 3 needed; a: it did not reply; d: it"):
        loop.play_round(server, sites, lost=[0, 3])
    server.abandon()
    del server
    # The next attempt has all replies, and completes.
    server = loop.coordinator(config, tmp_path / "run", sites, quorum=3)
    loop.play(server, sites)
    with pytest.raises(fedspd.Error, match="at most 4, the number of clients in a round"):
        loop.coordinator(config, tmp_path / "another", sites, quorum=5)


def test_sites_that_do_not_fit_together(tmp_path):
    config = _core.resolve("", "sample", loop.settings())
    sites = loop.sites(config, tmp_path / "state")
    with pytest.raises(fedspd.Error, match="0 of 3 sites have number 1"):
        loop.coordinator(config, tmp_path / "run", [sites[0], sites[2], sites[3]])
    with pytest.raises(fedspd.Error, match="2 of 3 sites have number 0"):
        loop.coordinator(config, tmp_path / "run", [sites[0], sites[0], sites[1]])
    own = loop.policy("b", 1, subjects="3", classes=["left_hand", "right_hand"])
    other = _core.Site.asked(own, "site.toml", tmp_path, config)
    with pytest.raises(fedspd.Error, match="sites differ in classes: .* at `b`, .* at `a`"):
        loop.coordinator(config, tmp_path / "run", [sites[0], other])
    assert not (tmp_path / "run").exists()
    loop.coordinator(config, tmp_path / "run", sites)
    fewer = loop.sites(config, tmp_path / "state", {**loop.CLIENTS, "d": [7]})
    with pytest.raises(fedspd.Error, match="the sites or their trials have changed since the run began"):
        loop.coordinator(config, tmp_path / "run", fewer)


def test_a_state_that_is_not_there(tmp_path, caplog):
    config = _core.resolve("", "sample", loop.settings())
    site = loop.sites(config, tmp_path / "state")[0]
    message = [("block0.weight", [10], "<f8", bytes(8 * 10))]
    with pytest.raises(fedspd.Error, match="^its state after round 4 is missing$"):
        site.train("0" * 32, (2, 0), 2, 1e-3, (3, 0), message)
    # Only the site's own log has the full error.
    assert str(tmp_path) in caplog.text
    with pytest.raises(fedspd.Error, match=r"it sent `block0.weight` with shape \[10\] and type f64 where"):
        site.train("0" * 32, (0, 0), 2, 1e-3, None, message)
    with pytest.raises(fedspd.Error, match="which is not 32 hexadecimal digits"):
        site.train("../../../elsewhere", (0, 0), 2, 1e-3, None, message)


def test_what_a_run_on_several_machines_cannot_be(tmp_path):
    sites = loop.sites(_core.resolve("", "sample", loop.settings()), tmp_path / "state")
    for change, said in [
        (["mode=local"], "`mode` is `local`; a run over Flower needs `federated`"),
        (["run.seeds=[1, 2]"], r"`run.seeds` is \[1, 2\]; a run over Flower needs one seed"),
        (["data.subjects=1-9", "split.held_out_subjects=9"], "`split.held_out_subjects` is 9; a run over Flower cannot hold out subjects"),
    ]:
        config = _core.resolve("", "sample", [*loop.settings(), *change])
        with pytest.raises(fedspd.Error, match=said):
            loop.coordinator(config, tmp_path / "run", sites)


def test_what_is_said_of_a_site(tmp_path):
    """The introduction holds no subject's name and no trial."""
    import json

    config = _core.resolve("", "sample", loop.settings())
    said = json.loads(loop.sites(config, tmp_path / "state")[0].introduce())
    assert set(said) == {"name", "number", "fedspd", "seed", "facts", "trials", "warning"}
    assert set(said["trials"]) == {"train", "validation", "test"}
    assert len(said["facts"]["preparation"]["channels"]) == 64
