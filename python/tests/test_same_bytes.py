"""The command and Python train the same model, byte for byte."""

import subprocess
import sys

import numpy as np
import pytest

from fedspd.sklearn import EEGNetClassifier, FederatedSPDNetClassifier, SPDNetClassifier


def by_command(folder, arrays, mode, config):
    """Returns the model file that `fedspd run` saves."""
    trials = len(arrays["X"])
    np.savez(
        folder / "data.npz",
        session=np.ones(trials, int),
        run=np.ones(trials, int),
        channels=np.array([f"channel {number}" for number in range(1, arrays["X"].shape[1] + 1)]),
        **arrays,
    )
    (folder / "mine.toml").write_text(f"mode = '{mode}'\n[data]\nname = '{folder / 'data.npz'}'\n{config}")
    words = ["run", str(folder / "mine.toml"), "--out", str(folder / "run"), "--progress", "off"]
    subprocess.run([sys.executable, "-m", "fedspd", *words], check=True, capture_output=True)
    (model,) = (folder / "run" / "models").iterdir()
    return model.read_bytes()


@pytest.fixture
def covariances(task):
    X, y, subjects = task
    classes, labels = np.unique(y, return_inverse=True)
    return dict(X=X, y=labels, classes=classes, subject=subjects, sfreq=1.0, unit="1", kind="covariances")


split = "[split]\ntrain = 0.8\nval = 0.2\ntest = 0.0\n[run]\nseeds = [5]\n"


def test_spdnet(tmp_path, task, covariances):
    X, y, _ = task
    covariances["subject"] = np.ones(120, int)
    config = "[model]\ndims = [4]\n[train]\nepochs = 12\nlr = 1e-2\n"
    model = by_command(tmp_path, covariances, "centralised", config + split)
    ours = SPDNetClassifier((4,), epochs=12, lr=1e-2, validation_fraction=0.2, unit="1", random_state=5).fit(X, y)
    assert bytes(ours.model_) == model


def test_federated_spdnet(tmp_path, task, covariances):
    X, y, subjects = task
    config = "[model]\ndims = [4]\n[federated]\nsubjects_per_client = 1\nrounds = 6\naggregation = 'rl-avg'\nparticipation = 0.5\n"
    model = by_command(tmp_path, covariances, "federated", config + split)
    settings = dict(rounds=6, aggregation="rl-avg", participation=0.5, validation_fraction=0.2, unit="1", random_state=5)
    ours = FederatedSPDNetClassifier((4,), **settings).fit(X, y, groups=subjects)
    assert bytes(ours.model_) == model


def test_eegnet(tmp_path, raw):
    X, y = raw
    classes, labels = np.unique(y, return_inverse=True)
    arrays = dict(X=X, y=labels, classes=classes, subject=np.ones(60, int), sfreq=64.0, unit="uV", kind="trials")
    config = "[model]\nkind = 'eegnet'\n[train]\nepochs = 4\n"
    model = by_command(tmp_path, arrays, "centralised", config + split)
    ours = EEGNetClassifier(64.0, epochs=4, validation_fraction=0.2, random_state=5).fit(X, y)
    assert bytes(ours.model_) == model
