"""The example for the hospital engineer runs from top to bottom."""

import runpy
from pathlib import Path


def test_hospital_engineer(capsys):
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "hospital_engineer.py"))
    printed = capsys.readouterr().out
    assert "round 2: lariboisiere does not count: it sent NaN in `" in printed
    assert "round 2: karolinska does not count: it did not reply" in printed
