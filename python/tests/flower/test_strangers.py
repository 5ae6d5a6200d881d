"""What a node may send instead of what was asked for, and names that keys cannot have."""

import json

import pytest

pytest.importorskip("flwr")

from flwr.app import ConfigRecord, MetricRecord, RecordDict

from fedspd.flower import messages
from fedspd.flower.__main__ import main
from fedspd.flower.roster import Roster


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_number_is_finite(value):
    with pytest.raises(messages.Unfit, match="as `num-examples`"):
        messages.number(MetricRecord({"num-examples": value}), "num-examples")


@pytest.mark.parametrize(
    "text", ['{"number": Infinity}', '{"number": 7}', '{"number": -1}', '{"number": true}', '{"number": 0.0}', "[" * 100_000, "{}", "3"]
)
def test_an_introduction_that_is_none_is_refused(text):
    roster = Roster(None, "", 2, 1.0)
    with pytest.raises(messages.Unfit):
        roster._meet(5, RecordDict({"task": ConfigRecord({"introduction": text})}))
    assert roster.introductions == {}
    roster._meet(5, RecordDict({"task": ConfigRecord({"introduction": json.dumps({"number": 1, "name": "b"})})}))
    assert roster.nodes == {1: 5}


def introduce(roster, node, number, name):
    roster._meet(node, RecordDict({"task": ConfigRecord({"introduction": json.dumps({"number": number, "name": name})})}))


def test_nobody_takes_the_place_of_a_client_that_is_there():
    roster = Roster(None, "", 2, 1.0)
    roster.connected = {5: "a", 6: "b"}
    introduce(roster, 5, 0, "a")
    with pytest.raises(messages.Unfit, match="its key is registered for 'b', and it says that it is 'a'"):
        introduce(roster, 6, 0, "a")
    with pytest.raises(messages.Unfit, match="client number 0, who is someone else"):
        introduce(roster, 6, 0, "b")
    # Without names, who was first is who is there; who comes back gets his place again.
    roster.connected = {5: "", 7: ""}
    with pytest.raises(messages.Unfit, match="client number 0, who is someone else"):
        introduce(roster, 7, 0, "a")
    roster.connected = {7: ""}
    introduce(roster, 7, 0, "a")
    assert roster.nodes == {0: 7}


def test_keys_are_added_and_renewed_later(tmp_path, capsys):
    from cryptography import x509

    folder = tmp_path / "keys"
    assert main(["keys", str(folder), "--host", "flower.example.org", "--site", "a"]) == 0
    authority, first = (folder / "ca.crt").read_bytes(), (folder / "server.crt").read_bytes()
    assert main(["keys", str(folder), "--site", "b"]) == 0
    assert (folder / "ca.crt").read_bytes() == authority and (folder / "b.key").stat().st_mode & 0o777 == 0o600
    assert main(["keys", str(folder), "--host", "flower.example.org"]) == 1
    assert "server.crt is there already; --renew replaces it" in capsys.readouterr().err
    assert main(["keys", str(folder), "--host", "klinik-süd.example.org", "--host", "10.0.0.7", "--renew"]) == 0
    renewed = x509.load_pem_x509_certificate((folder / "server.crt").read_bytes())
    assert (folder / "server.crt").read_bytes() != first
    renewed.verify_directly_issued_by(x509.load_pem_x509_certificate(authority))
    names = renewed.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["xn--klinik-sd-x9a.example.org"]
    for words, said in [
        ([], "there is nothing to make"),
        (["--host", "a" * 70 + ".org"], "is neither a name nor an address"),
        (["--site", "a"], "a.key is there already"),
    ]:
        assert main(["keys", str(folder), *words]) == 1
        assert said in capsys.readouterr().err
    (folder / "ca.key").unlink()
    assert main(["keys", str(folder), "--site", "c"]) == 1
    assert "ca.key is not there" in capsys.readouterr().err


@pytest.mark.parametrize("site", ["ca", "server", "../evil", "a/b", "", ".a"])
def test_sites_do_not_take_the_names_of_others(tmp_path, capsys, site):
    assert main(["keys", str(tmp_path / "keys"), "--host", "localhost", "--site", site]) == 1
    assert "a site cannot be called" in capsys.readouterr().err
    assert not (tmp_path / "keys").exists()
