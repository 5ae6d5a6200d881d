"""Server app, client app and Flower messages without a network: same bytes as in one process."""

import json
import logging

import pytest

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, Message

from fedspd import _core
from fedspd.flower import client_app, messages, rehearse
from fedspd.flower.__main__ import main

from . import loop, recordings
from .test_loop import EEGNET

SAME = ["results.csv", "summary.json", "events.jsonl"]


def nodes(state, **own):
    return [
        {"partition-id": number, "name": name, "subjects": ",".join(map(str, subjects)), "state": str(state / name), **own}
        for number, (name, subjects) in enumerate(loop.CLIENTS.items())
    ]


def same(one, many):
    model = next((one / "models").iterdir()).name
    assert (one / "models" / model).read_bytes() == (many / "models" / model).read_bytes()
    for name in SAME:
        assert (one / name).read_text() == (many / name).read_text(), name


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"model.precision": "f32", "federated.aggregation": "rl-avg", "federated.server_momentum": 0.5},
        {**EEGNET, "model.fedbn": "all"},
        {**EEGNET, "model.fedbn": "statistics", "federated.participation": 0.5, "federated.carry_state": "true"},
    ],
    ids=["sample", "f32", "eegnet-local-norm", "eegnet-half"],
)
def test_same_bytes_as_in_one_process(tmp_path, more):
    changes = loop.settings(**more)
    loop.run_in_process(changes, tmp_path / "one")
    rehearse("sample", nodes(tmp_path), tmp_path / "many", changes="; ".join(changes))
    same(tmp_path / "one", tmp_path / "many")


def test_each_hospital_with_its_own_folder_of_recordings(tmp_path):
    """Each hospital has its own recordings only; in one process all are in one folder."""
    definition = tmp_path / "hospital.toml"
    definition.write_text(recordings.DEFINITION)
    hospitals = {"charite": [1, 2], "karolinska": [3], "ucl": [4, 5]}
    own = []
    for number, (name, subjects) in enumerate(hospitals.items()):
        for subject in subjects:
            recordings.write_subject(tmp_path / name, subject)
            recordings.write_subject(tmp_path / "all", subject)
        own.append({"partition-id": number, "name": name, "data": str(definition), "root": str(tmp_path / name), "state": str(tmp_path / "states")})
    clients = ", ".join(f"{name} = {json.dumps([str(s) for s in subjects])}" for name, subjects in hospitals.items())
    changes = ["model.dims=[3]", "federated.rounds=2", "run.threads=1", "federated.on_client_failure=skip"]
    here = [f"data.name={definition}", f"data.root={tmp_path / 'all'}", f"federated.clients={{ {clients} }}"]
    loop.run_in_process([*changes, *here], tmp_path / "one")
    seen = []
    # The server has neither recordings nor a definition. The nodes ignore its data settings.
    rehearse("sample", own, tmp_path / "many", changes="; ".join(changes), watch=lambda name, asked, reply: seen.append(reply))
    one, many = tmp_path / "one", tmp_path / "many"
    model = "models/seed-0.safetensors"
    assert (one / model).read_bytes() == (many / model).read_bytes()
    assert [event for event in events(one) if event["event"] == "round"] == [event for event in events(many) if event["event"] == "round"]
    # Replies contain no path of the hospital and no subject.
    for reply in seen:
        told = str([dict(record) for record in [*reply.content.config_records.values(), *reply.content.metric_records.values()]])
        assert str(tmp_path) not in told and "S001" not in told


def events(run):
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def warnings(run):
    return [event["text"] for event in events(run) if event["event"] == "warning"]


def test_a_server_names_no_file_of_a_hospital(tmp_path, caplog):
    changes = "; ".join([*loop.settings(rounds=1), f"data.name={tmp_path / 'secret.npz'}"])
    with caplog.at_level(logging.WARNING, "fedspd"), pytest.raises(TimeoutError, match="0 of 4 clients had joined .* it could not open its data"):
        rehearse("sample", nodes(tmp_path), tmp_path / "run", changes=changes, patience=0.0)
    assert "but only a site may name its own files" in caplog.text


def test_nobody_introduces_himself_as_another(tmp_path):
    """The server refuses a node whose name differs from the registered name of its key."""

    def impostor(message, context, call_next):
        context.node_config["name"] = "a"
        return call_next(message, context)

    both = nodes(tmp_path)[:2]
    config = {"changes": "; ".join(loop.settings(rounds=1)), "patience": 0.0}
    with pytest.raises(TimeoutError, match="1 of 2 clients had joined .* registered for 'b', but it calls itself 'a'"):
        rehearse("sample", both, tmp_path / "run", client=client_app(mods=[impostor]), **config)


@pytest.mark.parametrize("kind", ["nan", "off", "crash", "renamed", "left over", "state", "forged"])
def test_a_hospital_that_misbehaves_is_named_and_the_run_ends_well(tmp_path, kind):
    def fault(message, context, call_next):
        training = message.metadata.message_type == "train"
        if not training or context.node_config["name"] != "c" or message.content["task"]["round"] != 1:
            return call_next(message, context)
        if kind == "crash":
            raise RuntimeError(f"cannot read {tmp_path}/S001.edf")
        if kind == "state":
            message.content["task"]["since"] = 7
        reply = call_next(message, context)
        if kind == "forged":
            return Message(messages.fault("x\nround 1: a does not count: \x1b[31m" + 100_000 * "?"), reply_to=message)
        if kind == "renamed":
            arrays = reply.content["message"]
            arrays["head.weights"] = arrays.pop("head.weight")
        if kind == "left over":
            reply.content["more"] = ArrayRecord(dict(reply.content["message"]))
        if kind in ("nan", "off"):
            arrays = {name: array.numpy().copy() for name, array in reply.content["message"].items()}
            first = next(iter(arrays))
            arrays[first] = arrays[first] * (float("nan") if kind == "nan" else 1.01)
            reply.content["message"] = ArrayRecord({name: Array(values) for name, values in arrays.items()})
        return reply

    run = rehearse("sample", nodes(tmp_path), tmp_path / "run", client=client_app(mods=[fault]), changes="; ".join(loop.settings()))
    said = {
        "nan": "it sent NaN in `",
        "off": "it sent weights off the Stiefel manifold: |W^T W - I| = ",
        "crash": "RuntimeError: cannot read",
        "renamed": "it sent `head.weights`, which is not part of the message",
        "left over": "it sent a record of arrays `more`, which is not part of the message",
        "state": "its state after round 8 is missing",
        "forged": r"x\nround 1: a does not count: \u{1b}[31m???",
    }[kind]
    assert [text.startswith(f"round 2: c does not count: {said}") for text in warnings(run)] == [True], warnings(run)
    assert all(len(text) < 500 for text in warnings(run))
    rounds = [event for event in events(run) if event["event"] == "round"]
    assert [[client["client"] for client in event["dropped"]] for event in rounds] == [[], ["c"], []]
    assert json.loads((run / "manifest.json").read_text())["status"] == "done"


def test_a_run_that_lost_its_quorum_goes_on(tmp_path):
    """The second round lacks one reply. Restarted, the run gives the bytes of a complete run."""
    changes = "; ".join(loop.settings(**{"federated.carry_state": "true"}))
    straight = rehearse("sample", nodes(tmp_path / "1"), tmp_path / "straight", changes=changes, minimum_reporting=4)

    def absent(message, context, call_next):
        if message.metadata.message_type == "train" and message.content["task"]["round"] == 1 and context.node_config["name"] == "b":
            raise RuntimeError("out of order")
        return call_next(message, context)

    again = dict(nodes=nodes(tmp_path / "2"), out=tmp_path / "again", changes=changes, minimum_reporting=4)
    with pytest.raises(_core.Error, match="3 of 4 replies accepted, 4 needed; b: RuntimeError: out of order"):
        rehearse("sample", client=client_app(mods=[absent]), **again)
    assert json.loads((tmp_path / "again" / "manifest.json").read_text())["status"] == "failed"
    rehearse("sample", **again)
    model = "models/seed-0.safetensors"
    assert (straight / model).read_bytes() == (tmp_path / "again" / model).read_bytes()


def test_two_runs_of_one_experiment_at_the_same_sites(tmp_path):
    """Two runs keep separate states on the disk of a site."""
    changes = "; ".join(loop.settings(**{"federated.carry_state": "true"}))
    first = rehearse("sample", nodes(tmp_path), tmp_path / "first", changes=changes)
    second = rehearse("sample", nodes(tmp_path), tmp_path / "second", changes=changes)
    model = "models/seed-0.safetensors"
    assert (first / model).read_bytes() == (second / model).read_bytes()
    kept = {path.name for path in (tmp_path / "a").iterdir()}
    # Both runs read the same trials, which are prepared once.
    assert kept == {"audit.jsonl", "cache", "studies", *(f"run-{(run / 'identity').read_text().strip()}" for run in (first, second))}
    assert len(list((tmp_path / "a" / "cache").iterdir())) == 1


def test_a_typing_error_in_a_node_opens_nothing(tmp_path, caplog):
    wrong = nodes(tmp_path)[:1]
    wrong[0]["subject"] = wrong[0].pop("subjects")
    config = {"changes": "; ".join(loop.settings(rounds=1)), "patience": 0.0}
    with caplog.at_level(logging.ERROR, "fedspd"), pytest.raises(TimeoutError, match="0 of 1 clients had joined"):
        rehearse("sample", wrong, tmp_path / "run", **config)
    assert "unknown setting `subject` in --node-config; did you mean `subjects`?" in caplog.text
    assert not (tmp_path / "a").exists(), "a folder of the site was opened"


def test_a_person_approves_a_study(tmp_path, capsys, caplog):
    """With manual approval, nothing is trained before; then the run has the bytes of one without."""
    changes = "; ".join(loop.settings(rounds=2))
    expected = rehearse("sample", nodes(tmp_path / "1"), tmp_path / "expected", changes=changes)
    sites = []
    for number, (name, subjects) in enumerate(loop.CLIENTS.items()):
        folder = tmp_path / name
        folder.mkdir()
        held = ",".join(map(str, subjects))
        text = f'name = "{name}"\nnumber = {number}\nstate = "state"\n[data]\nname = "sample"\nsubjects = "{held}"\n'
        (folder / "site.toml").write_text(text)
        sites.append({"partition-id": number, "policy": str(folder / "site.toml"), "name": name})
    with pytest.raises(TimeoutError, match="0 of 4 clients had joined"):
        rehearse("sample", sites, tmp_path / "run", changes=changes, patience=0.0)
    assert "`name` belongs into" in caplog.text
    for site in sites:
        site.pop("name")
    with pytest.raises(TimeoutError, match="0 of 4 clients had joined .* nobody at the site has approved the study yet"):
        rehearse("sample", sites, tmp_path / "run", changes=changes, patience=0.0)
    for site in sites:
        assert main(["review", site["policy"]]) == 0
        said = capsys.readouterr().out
        assert "not approved" in said and "It runs up to 2 rounds" in said and "do not leave the site" in said
        study = said.split()[1].rstrip(":")
        assert main(["approve", site["policy"], "0" * 64]) == 1
        assert "never asked for this site" in capsys.readouterr().err
        assert main(["approve", site["policy"], study]) == 0
        assert "is approved" in capsys.readouterr().out
    run = rehearse("sample", sites, tmp_path / "run", changes=changes)
    model = "models/seed-0.safetensors"
    assert (run / model).read_bytes() == (expected / model).read_bytes()


@pytest.mark.parametrize("kind", ["zip", "index", "other study", "config", "huge"])
def test_whatever_a_site_or_server_sends_costs_one_message(tmp_path, kind):
    def hostile(message, context, call_next):
        training = message.metadata.message_type == "train"
        if not training or context.node_config["name"] != "c" or message.content["task"]["round"] != 1:
            return call_next(message, context)
        if kind == "other study":
            message.content["task"]["study"] = "0" * 64
        if kind == "config":
            # A server's later configuration is not read.
            message.content["task"]["config"] = "mode = 'other'"
        reply = call_next(message, context)
        if kind in ("zip", "index", "huge"):
            name = next(iter(reply.content["message"]))
            array = reply.content["message"][name]
            if kind == "zip":
                array.data = b"PK\x03\x04" + bytes(200)
            elif kind == "index":
                array.data = array.data[: len(array.data) // 2]
            else:
                header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,), }"
                array.data = header.ljust(127) + b"\n"
        return reply

    run = rehearse("sample", nodes(tmp_path), tmp_path / "run", client=client_app(mods=[hostile]), changes="; ".join(loop.settings()))
    dropped = [event["dropped"] for event in events(run) if event["event"] == "round"]
    if kind == "config":
        assert dropped == [[], [], []]
        return
    assert [[client["client"] for client in each] for each in dropped] == [[], ["c"], []]
    said = {"other study": "it does not know the study"}.get(kind, "it sent unreadable data in `")
    assert any(text.startswith(f"round 2: c does not count: {said}") for text in warnings(run)), warnings(run)
    assert json.loads((run / "manifest.json").read_text())["status"] == "done"


def test_a_site_keeps_an_audit_log(tmp_path):
    """Every message has a line: who asked what and when, and the size and hash of what was sent."""
    sent = []

    def watch(name, message, reply):
        if name == "a":
            sent.append((message.metadata.message_type, "fault" in reply.content["task"] if "task" in reply.content else False))

    run = rehearse("sample", nodes(tmp_path), tmp_path / "run", watch=watch, changes="; ".join(loop.settings(rounds=2)))
    path = tmp_path / "a" / "audit.jsonl"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["asked"], "refused" in line) for line in lines] == sent and len(sent) >= 5
    assert path.stat().st_mode & 0o777 == 0o600
    study = _core.study((run / "config.toml").read_text())
    assert {line["study"] for line in lines} == {study}
    trained = [line for line in lines if line["asked"] == "train"]
    assert [line["round"] for line in trained] == [0, 1]
    assert all(len(line["sha256"]) == 64 and line["bytes"] > 1000 for line in trained)
    assert "subject" not in path.read_text()
