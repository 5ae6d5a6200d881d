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
    roster._meet(5, RecordDict({"task": ConfigRecord({"introduction": json.dumps({"number": 1})})}))
    assert roster.nodes == {1: 5}


@pytest.mark.parametrize("site", ["ca", "server", "../evil", "a/b", "", ".a"])
def test_sites_do_not_take_the_names_of_others(tmp_path, capsys, site):
    assert main(["keys", str(tmp_path / "keys"), "--host", "localhost", "--site", site]) == 1
    assert "a site cannot be called" in capsys.readouterr().err
    assert not (tmp_path / "keys").exists()
