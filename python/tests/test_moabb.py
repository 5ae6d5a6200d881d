"""Estimators in MOABB's evaluations on its fake dataset, and run results in MOABB's format."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

moabb = pytest.importorskip("moabb")

from moabb.analysis.meta_analysis import compute_dataset_statistics  # noqa: E402
from moabb.datasets.fake import FakeDataset  # noqa: E402
from moabb.evaluations import CrossSubjectEvaluation, WithinSessionEvaluation  # noqa: E402
from moabb.paradigms import LeftRightImagery  # noqa: E402
from moabb.pipelines.utils import parse_pipelines_from_directory  # noqa: E402
from pyriemann.estimation import Covariances  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402

import fedspd.moabb  # noqa: E402
from fedspd.sklearn import EEGNetClassifier, SPDNetClassifier  # noqa: E402


@pytest.fixture
def dataset():
    return FakeDataset(["left_hand", "right_hand"], n_subjects=2, n_sessions=2, n_runs=1, n_events=30, seed=12)


@pytest.mark.parametrize("kind", [WithinSessionEvaluation, CrossSubjectEvaluation])
def test_as_the_last_step(dataset, kind, tmp_path):
    evaluation = kind(
        paradigm=LeftRightImagery(), datasets=[dataset], overwrite=True, hdf5_path=str(tmp_path), random_state=42
    )
    (shipped,) = parse_pipelines_from_directory(fedspd.moabb.PIPELINES)
    shipped["pipeline"].set_params(spdnetclassifier__epochs=3)
    pipelines = {
        "ours": make_pipeline(Covariances("oas"), SPDNetClassifier(epochs=3, epsilon=1e-6)),
        "raw": EEGNetClassifier(128.0, epochs=2),
        shipped["name"]: shipped["pipeline"],
    }
    results = evaluation.process(pipelines)
    assert set(results["pipeline"]) == set(pipelines)
    assert len(results) == 3 * 4 and np.isfinite(results["score"]).all()
    assert all(results["channels"] == 3)


def test_results_of_a_run(tmp_path):
    folder = tmp_path / "run"
    words = ["run", "sample", "--set", "federated.rounds=2", "--set", "run.seeds=[0,1]", "--out", str(folder)]
    subprocess.run([sys.executable, "-m", "fedspd", *words], check=True, capture_output=True)
    results = fedspd.moabb.results(folder)
    columns = ["score", "time", "samples", "subject", "session", "channels", "n_sessions", "dataset", "pipeline"]
    assert list(results.columns) == [*columns, "seed"]
    assert sorted(results["seed"].unique()) == [0, 1] and len(results) == 2 * results["subject"].nunique() == 10
    assert results["score"].between(0, 1).all() and (results["samples"] > 0).all()
    assert set(results["pipeline"]) == {"spdnet proj-avg"} and set(results["dataset"]) == {"sample"}
    # Several runs are told apart by the settings in which they differ.
    changes = {"narrow": ["model.dims=[12]", "federated.rounds=2"], "alone": ["mode=local", "train.epochs=2"]}
    for name, settings in changes.items():
        words = ["run", "sample", "--out", str(tmp_path / name), *(word for key in settings for word in ("--set", key))]
        subprocess.run([sys.executable, "-m", "fedspd", *words], check=True, capture_output=True)
    folders = [folder, tmp_path / "narrow", tmp_path / "alone"]
    assert fedspd.moabb.results([folder]).equals(results)
    names = ["spdnet proj-avg, model.dims 18", "spdnet proj-avg, model.dims 12"]
    assert list(fedspd.moabb.results(folders[:2])["pipeline"].unique()) == names
    assert list(fedspd.moabb.results(folders)["pipeline"].unique()) == [*names, "spdnet local"]
    with pytest.raises(ValueError, match="no client test scores for the metric 'f2'; available: accuracy"):
        fedspd.moabb.results(folder, metric="f2")
    # MOABB's statistics accept the results: each pipeline against each.
    one = results[results["seed"] == 0]
    statistics = compute_dataset_statistics(pd.concat([one, one.assign(pipeline="other", score=one["score"] + 0.01)]))
    assert len(statistics) == 4 and set(statistics["nsub"]) == {5}
