"""Complete runs reproduce the stored numbers (`golden/runs`)."""

import importlib.util
import json
from pathlib import Path

import pytest

MAKE = Path(__file__).parents[2] / "golden" / "runs" / "make.py"
spec = importlib.util.spec_from_file_location("golden_runs", MAKE)
golden = importlib.util.module_from_spec(spec)
spec.loader.exec_module(golden)
EXPECTED = json.loads(golden.HASHES.read_text())


@pytest.mark.parametrize("name", [*golden.RUNS, *golden.REHEARSALS])
def test_same_numbers(name, tmp_path):
    if name in golden.REHEARSALS:
        pytest.importorskip("flwr")
    assert golden.hashes(golden.run(name, tmp_path)) == EXPECTED[name]


def test_each_hash_has_a_run():
    assert set(EXPECTED) == {*golden.RUNS, *golden.REHEARSALS}
