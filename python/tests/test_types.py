"""Type annotations: mypy checks the package and compares the stub with the extension."""

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

CONFIG = str(Path(__file__).parents[2] / "pyproject.toml")


def run(folder, *words):
    # In a separate folder, so that mypy reads the installed package.
    done = subprocess.run([sys.executable, "-m", *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_annotated(tmp_path):
    run(tmp_path, "mypy", "--config-file", CONFIG, "--package", "fedspd")


def test_the_stub_is_that_of_the_extension(tmp_path):
    # Only the extension has `__all__`; users import the package, so the stub omits it.
    (tmp_path / "allowed").write_text("fedspd._core.__all__\n")
    run(tmp_path, "mypy.stubtest", "--mypy-config-file", CONFIG, "--allowlist", "allowed", "fedspd._core")


def test_users_are_told_of_their_mistakes(tmp_path):
    (tmp_path / "right.py").write_text(
        "import numpy as np, fedspd\n"
        "from fedspd.sklearn import SPDNetClassifier\n"
        "mean = fedspd.mean_riemannian(np.ones((2, 3, 3)), [1.0, 2.0])\n"
        "mean.shape\n"
        "SPDNetClassifier((18,), n_jobs=-1).fit(mean, ['a', 'b']).predict(mean).shape\n"
    )
    run(tmp_path, "mypy", "--config-file", CONFIG, "right.py")
    (tmp_path / "wrong.py").write_text(
        "import numpy as np, fedspd\n"
        "from fedspd.sklearn import SPDNetClassifier\n"
        "fedspd.geodesic(np.eye(2), np.eye(2), metric='flat')\n"
        "SPDNetClassifier(epochs='many')\n"
    )
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", CONFIG, "wrong.py"], cwd=tmp_path, capture_output=True, text=True)
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error: " in line] == ["3", "4"], done.stdout
