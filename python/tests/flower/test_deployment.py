"""One SuperLink and four SuperNodes on loopback, with TLS and node authentication."""

import json

import pytest

pytest.importorskip("flwr")

from fedspd.flower.keys import make

from . import loop
from .deployment import NAMES, Deployment

MODEL = "models/seed-0.safetensors"


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """The same run in one process."""
    folder = tmp_path_factory.mktemp("one") / "run"
    loop.run_in_process(loop.settings(), folder)
    return folder


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    deployment = Deployment(tmp_path_factory.mktemp("deployment"))
    deployment.start_superlink()
    for name in NAMES:
        deployment.register(name)
        deployment.start_node(name)
    yield deployment
    deployment.close()


def finish(deployment, process, code=0, seconds=600):
    assert process.wait(seconds) == code, deployment.log("launcher")[-4000:] + deployment.log("superlink")[-4000:]


def events(run):
    return [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]


def warnings(run):
    return [event["text"] for event in events(run) if event["event"] == "warning"]


def test_same_bytes_as_in_one_process(deployment, one, tmp_path):
    finish(deployment, deployment.run(tmp_path / "run"))
    for name in [MODEL, "events.jsonl", "results.csv", "summary.json"]:
        assert (tmp_path / "run" / name).read_bytes() == (one / name).read_bytes(), name


@pytest.mark.parametrize(
    "keys, said",
    [(["--auth-supernode-private-key", "stranger.key"], "Failed to activate SuperNode"), ([], "All SuperNodes must be registered")],
    ids=["another key", "no key"],
)
def test_an_unregistered_key_is_refused(deployment, keys, said):
    """The node exits; the registered nodes stay online."""
    keys = [str(deployment.keys / word) if word.endswith(".key") else word for word in keys]
    code = deployment.start_node("a", process="stranger", keys=keys).wait(300)
    log = deployment.log("stranger")
    deployment.kill("stranger")
    assert code != 0 and said in log, log
    listed = deployment.flwr("supernode", "list")["nodes"]
    assert [node["status"] for node in listed] == ["online"] * len(NAMES), listed


def test_a_server_of_another_authority_is_refused(deployment, tmp_path):
    """The node closes the connection before it introduces itself."""
    make(tmp_path / "other", ["127.0.0.1"], ["a"])
    deployment.start_node("a", process="wary", authority=tmp_path / "other" / "ca.crt")
    deployment.until(lambda: "CERTIFICATE_VERIFY_FAILED" in deployment.log("wary"), 300, "wary")
    deployment.kill("wary")


def test_a_run_that_fails_says_so(deployment, tmp_path):
    """The launcher's exit code reports the failure, and its output shows the reason."""
    finish(deployment, deployment.run(tmp_path / "run", changes="federated.roundz=3"), code=1)
    assert "unknown key `federated.roundz`" in deployment.log("launcher")


def test_killed_superlink(deployment, one, tmp_path):
    """The server dies with the SuperLink after its first round; a new run continues there."""
    deployment.run(tmp_path / "run")
    log = tmp_path / "run" / "events.jsonl"
    deployment.until(lambda: log.exists() and '"round":1' in log.read_text(), 240, "superlink", "launcher")
    deployment.kill("superlink")
    deployment.kill("launcher")
    deployment.start_superlink()
    finish(deployment, deployment.run(tmp_path / "run"))
    assert (tmp_path / "run" / MODEL).read_bytes() == (one / MODEL).read_bytes()
    assert any(event["event"] == "resumed" for event in events(tmp_path / "run"))
    rounds = [event for event in events(tmp_path / "run") if event["event"] == "round"]
    assert rounds == [event for event in events(one) if event["event"] == "round"]


def test_nodes_that_misbehave(deployment, tmp_path):
    """The server drops and names clients that misbehave, and the run completes.

    One sends NaN, one sends weights off the manifold, and one is killed and misses the cut-off.
    """
    marker = tmp_path / "marker"
    faults = {"b": {"fault": "nan"}, "c": {"fault": "off"}, "d": {"fault": "hang", "marker": str(marker)}}
    for name, fault in faults.items():
        deployment.stop(name)
        deployment.start_node(name, **fault)
    launcher = deployment.run(tmp_path / "run", straggler_cutoff_time=45.0, minimum_reporting=1)
    deployment.until(marker.exists, 420, "superlink", "launcher", "d")
    deployment.kill("d")
    finish(deployment, launcher)
    said = warnings(tmp_path / "run")
    for round in (1, 2, 3):
        assert any(text.startswith(f"round {round}: b does not count: it sent NaN in `") for text in said), said
        off = f"round {round}: c does not count: it sent weights off the Stiefel manifold: |W^T W - I| = "
        assert any(text.startswith(off) for text in said), said
    # Either our cut-off comes first, or Flower's notice up to a minute after the node's last
    # heartbeat.
    given_up = [text for text in said if text.startswith("round 2: d does not count: ")]
    assert any("it did not reply within 45 seconds" in text or "Node Unavailable" in text for text in given_up), said
    assert json.loads((tmp_path / "run" / "manifest.json").read_text())["status"] == "done"
    assert (tmp_path / "run" / MODEL).is_file()
