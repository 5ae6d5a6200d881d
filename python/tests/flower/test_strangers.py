"""Invalid replies of nodes, invalid settings and invalid key names."""

import json

import numpy as np
import pytest

pytest.importorskip("flwr")

from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict
from flwr.proto.node_pb2 import NodeInfo

from fedspd import _core
from fedspd.flower import Settings, messages
from fedspd.flower.__main__ import main
from fedspd.flower.roster import Roster

from . import loop


@pytest.mark.parametrize("dtype", ["<f2", ">f8", "<i8", "bool", "<U3", "<c16"])
def test_a_part_has_a_type_that_parts_have(dtype):
    record = RecordDict({"message": ArrayRecord({"a": Array(np.zeros(3, dtype))})})
    with pytest.raises(messages.InvalidMessage, match="it sent `a` of type .*; expected little-endian float32, float64 or uint64"):
        messages.unpack(record)


def test_a_message_comes_back_as_it_went():
    parts = [
        ("single", [2, 1], "<f4", np.float32([1.5, 2.5]).tobytes()),
        ("number", [], "<f8", np.float64(3.25).tobytes()),
        ("ring", [2], "<u8", np.uint64([2**64 - 1, 7]).tobytes()),
    ]
    assert messages.unpack(RecordDict({"message": messages.pack(parts)})) == parts


@pytest.fixture(scope="module")
def introduction(tmp_path_factory):
    """The introduction of a site with subjects of the sample."""
    config = _core.resolve("", "sample", loop.settings())
    return json.loads(loop.sites(config, tmp_path_factory.mktemp("state"))[0].introduce())


def introduce(roster, node, said):
    text = said if isinstance(said, str) else json.dumps(said)
    roster._accept(node, RecordDict({"task": ConfigRecord({"introduction": text})}))


@pytest.mark.parametrize("number", [float("inf"), 7, -1, True, 0.0, None])
def test_a_number_that_no_client_has_is_refused(introduction, number):
    roster = Roster(None, "", 2, 1.0)
    with pytest.raises(messages.InvalidMessage):
        introduce(roster, 5, {**introduction, "number": number})
    assert roster.introductions == {}
    introduce(roster, 5, {**introduction, "number": 1})
    assert roster.nodes == {1: 5}


@pytest.mark.parametrize("text", ["[" * 100_000, "{}", "3", '{"number": 1, "name": "b"}'])
def test_an_introduction_that_is_none_is_refused(text):
    with pytest.raises(messages.InvalidMessage, match="invalid introduction of a site"):
        introduce(Roster(None, "", 2, 1.0), 5, text)


def test_counts_that_nobody_has_are_refused(introduction):
    trials = {**introduction["trials"], "train": [2**63 - 1] * 4}
    with pytest.raises(messages.InvalidMessage, match="it reports 9223372036854775807 trials of a class"):
        introduce(Roster(None, "", 2, 1.0), 5, {**introduction, "trials": trials})


def test_nobody_takes_the_place_of_a_client_that_is_there(introduction):
    def as_(name):
        return {**introduction, "number": 0, "name": name}

    roster = Roster(None, "", 2, 1.0)
    roster.connected = {5: "a", 6: "b"}
    introduce(roster, 5, as_("a"))
    with pytest.raises(messages.InvalidMessage, match="its key is registered for 'b', but it calls itself 'a'"):
        introduce(roster, 6, as_("a"))
    with pytest.raises(messages.InvalidMessage, match="its `partition-id` 0 belongs to another client"):
        introduce(roster, 6, as_("b"))
    # Without names, the first node keeps its number; the same client may return as another node.
    roster.connected = {5: "", 7: ""}
    with pytest.raises(messages.InvalidMessage, match="its `partition-id` 0 belongs to another client"):
        introduce(roster, 7, as_("a"))
    roster.connected = {7: ""}
    introduce(roster, 7, as_("a"))
    assert roster.nodes == {0: 7}


class Silent:
    """A grid with a node that never introduces itself."""

    def get_nodes(self):
        return [NodeInfo(node_id=5, name="a")]

    def push_messages(self, queries):
        return [f"query {place}" for place, _ in enumerate(queries)]

    def pull_messages(self, asked):
        return []


def test_nobody_waits_for_a_silent_node(monkeypatch, caplog):
    monkeypatch.setattr("fedspd.flower.roster.Message", lambda *_, **__: None)
    now = [100.0]
    monkeypatch.setattr("fedspd.flower.roster.time.monotonic", lambda: now[0])
    roster = Roster(Silent(), "", 1, 600.0)
    assert roster.refresh() == set() and "could not introduce itself" not in caplog.text
    now[0] += 599
    assert roster.refresh() == set() and "could not introduce itself" not in caplog.text
    now[0] += 1
    roster.refresh()
    assert "a could not introduce itself: it did not reply within 600 seconds" in caplog.text


@pytest.mark.parametrize(
    "settings, said",
    [
        ({"minimum-reportng": 3}, "unknown key `minimum-reportng` under .* did you mean `minimum-reporting`?"),
        ({"something": 3}, "unknown key `something` under .* there are clients, out, changes"),
        ({"clients": "4"}, "`clients` is '4'; it must be a whole number of 1 or more"),
        ({"minimum-reporting": 0}, "`minimum-reporting` is 0; it must be a whole number of 1 or more"),
        ({"straggler-cutoff-time": "abc"}, "`straggler-cutoff-time` is 'abc'; it must be a number of 0.001 or more"),
        ({"patience": float("nan")}, "`patience` is nan; it must be a number of 0 or more"),
        ({"out": 3}, "`out` is 3; it must be text"),
    ],
)
def test_settings_that_cannot_be(settings, said):
    with pytest.raises(ValueError, match=said):
        Settings.of({"clients": 4, "out": "x", **settings})


def test_what_becomes_of_a_failed_client_is_said_where_one_likes():
    def resolved(**settings):
        return Settings(4, "x", **settings).configuration("sample")[0]

    assert 'on_client_failure = "skip"' in resolved()
    assert 'on_client_failure = "stop"' in resolved(on_client_failure="stop")
    assert 'on_client_failure = "stop"' in resolved(changes="federated.on_client_failure=stop")


def test_keys_are_added_and_renewed_later(tmp_path, capsys):
    from cryptography import x509

    folder = tmp_path / "keys"
    assert main(["keys", str(folder), "--host", "flower.example.org", "--site", "a"]) == 0
    authority, first = (folder / "ca.crt").read_bytes(), (folder / "server.crt").read_bytes()
    assert main(["keys", str(folder), "--site", "b"]) == 0
    assert (folder / "ca.crt").read_bytes() == authority and (folder / "b.key").stat().st_mode & 0o777 == 0o600
    assert main(["keys", str(folder), "--host", "flower.example.org"]) == 1
    assert "server.crt already exists; --renew replaces it" in capsys.readouterr().err
    assert main(["keys", str(folder), "--host", "klinik-süd.example.org", "--host", "10.0.0.7", "--renew"]) == 0
    renewed = x509.load_pem_x509_certificate((folder / "server.crt").read_bytes())
    assert (folder / "server.crt").read_bytes() != first
    renewed.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    assert x509.load_pem_x509_certificate(authority).not_valid_after_utc > renewed.not_valid_after_utc
    names = renewed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["xn--klinik-sd-x9a.example.org"]
    for words, said in [
        ([], "no host and no site was given"),
        (["--host", "a" * 70 + ".org"], "is neither a host name nor an IP address"),
        (["--host", "https://x.org:443/"], "is neither a host name nor an IP address"),
        (["--host", "x.org:443"], "is neither a host name nor an IP address"),
        (["--host", "999.1.1.1"], "is neither a host name nor an IP address"),
        (["--host", ""], "is neither a host name nor an IP address"),
        (["--site", "b", "--site", "B"], "invalid site name 'B'"),
        (["--site", "a"], "a.key already exists"),
    ]:
        assert main(["keys", str(folder), *words]) == 1
        assert said in capsys.readouterr().err
    (folder / "ca.key").unlink()
    assert main(["keys", str(folder), "--site", "c"]) == 1
    assert "ca.key is missing" in capsys.readouterr().err


@pytest.mark.parametrize("site", ["ca", "server", "../evil", "a/b", "", ".a"])
def test_sites_do_not_take_the_names_of_others(tmp_path, capsys, site):
    assert main(["keys", str(tmp_path / "keys"), "--host", "localhost", "--site", site]) == 1
    assert "invalid site name" in capsys.readouterr().err
    assert not (tmp_path / "keys").exists()
