"""The estimators with scikit-learn's tools."""

import pickle

import numpy as np
import pytest
from joblib import cpu_count, parallel_config
from pyriemann.estimation import Covariances
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.pipeline import make_pipeline

import fedspd
from fedspd.sklearn import EEGNetClassifier, FederatedSPDNetClassifier, Recenter, SPDNetClassifier
from fedspd.sklearn._checks import threads

quick = SPDNetClassifier((4,), epochs=30, lr=1e-2, unit="1")
federated = FederatedSPDNetClassifier((4,), rounds=20, lr=1e-2, unit="1")


def test_spdnet_learns_and_says_how_sure_it_is(task):
    X, y, _ = task
    classifier = clone(quick).fit(X[::2], y[::2])
    probabilities = classifier.predict_proba(X[1::2])
    assert probabilities.shape == (60, 3) and np.allclose(probabilities.sum(1), 1)
    assert list(classifier.classes_) == ["feet", "left", "right"] == classifier.model_.classes
    assert np.array_equal(classifier.predict(X[1::2]), classifier.classes_[probabilities.argmax(1)])
    assert classifier.score(X[1::2], y[1::2]) > 0.9
    (weights,) = (w for w in classifier.model_.parameters().values() if w.shape == (5, 4))
    assert fedspd.feasibility_error(weights) < 1e-12


def test_a_trial_is_predicted_as_if_it_were_alone(task):
    X, y, _ = task
    classifier = clone(quick).fit(X, y)
    alone = np.concatenate([classifier.predict_proba(X[i : i + 1]) for i in range(70)])
    assert np.array_equal(alone, classifier.predict_proba(X)[:70])


def test_eegnet_learns(raw):
    X, y = raw
    classifier = EEGNetClassifier(64.0, epochs=20, lr=1e-2).fit(X[:40], y[:40])
    assert classifier.score(X[40:], y[40:]) > 0.8
    # Each channel of each trial is scaled separately.
    scaled = classifier.predict_proba(X * np.array([1, 10, 100])[:, None])
    np.testing.assert_allclose(scaled, classifier.predict_proba(X), atol=1e-6)


def test_federated_spdnet_learns_without_sharing(task):
    X, y, subjects = task
    classifier = clone(federated).fit(X, y, groups=subjects)
    assert classifier.score(X, y) > 0.9
    with pytest.raises(ValueError, match="groups is missing"):
        clone(federated).fit(X, y)
    # Another aggregation gives another model, and so does another division into clients.
    other = clone(federated).set_params(aggregation="rl-avg").fit(X, y, groups=subjects)
    assert bytes(other.model_) != bytes(classifier.model_)
    pooled = clone(federated).fit(X, y, groups=np.zeros(120))
    assert bytes(pooled.model_) != bytes(classifier.model_)


@pytest.mark.parametrize("estimator", [SPDNetClassifier(), EEGNetClassifier(), FederatedSPDNetClassifier(), Recenter()])
def test_parameters(estimator):
    assert clone(estimator).get_params() == estimator.get_params()
    for name, value in estimator.get_params().items():
        marker = object()
        changed = clone(estimator).set_params(**{name: marker})
        assert changed.get_params()[name] is marker
        assert {**changed.get_params(), name: value} == estimator.get_params()
    with pytest.raises(NotFittedError):
        (estimator.transform if isinstance(estimator, Recenter) else estimator.predict)(np.eye(3)[None])


def test_pickles_are_model_files(task, tmp_path):
    X, y, _ = task
    classifier = clone(quick).fit(X, y)
    again = pickle.loads(pickle.dumps(classifier))
    assert bytes(again.model_) == bytes(classifier.model_)
    assert np.array_equal(again.predict_proba(X), classifier.predict_proba(X))
    safetensors = pytest.importorskip("safetensors.numpy")
    stored = safetensors.load(bytes(classifier.model_))
    for name, values in classifier.model_.parameters().items():
        assert np.array_equal(stored[name], values)
    assert np.array_equal(fedspd.Model(bytes(classifier.model_)).predict_proba(X), classifier.predict_proba(X))


def test_the_seed_decides_and_threads_do_not(task):
    X, y, _ = task
    model = bytes(clone(quick).fit(X, y).model_)
    assert bytes(clone(quick).set_params(n_jobs=2).fit(X, y).model_) == model
    assert bytes(clone(quick).set_params(random_state=1).fit(X, y).model_) != model
    drawn = clone(quick).set_params(random_state=np.random.RandomState(3)).fit(X, y)
    assert bytes(clone(quick).set_params(random_state=np.random.RandomState(3)).fit(X, y).model_) == bytes(drawn.model_)


def test_grid_search(task):
    X, y, _ = task
    search = GridSearchCV(quick, {"dims": [(), (3,)], "epochs": [1, 30]}, cv=2).fit(X, y)
    assert search.best_params_["epochs"] == 30 and search.best_score_ > 0.8


def test_cross_validation_with_groups(task):
    X, y, subjects = task
    scores = cross_val_score(federated, X, y, groups=subjects, cv=GroupKFold(4), params={"groups": subjects})
    assert scores.mean() > 0.6
    with config_context(enable_metadata_routing=True):
        routed = clone(federated).set_fit_request(groups=True)
        same = cross_val_score(routed, X, y, cv=GroupKFold(4), params={"groups": subjects})
    assert np.array_equal(same, scores)


def test_pipelines_after_pyriemann(raw):
    X, y = raw
    for classifier in (quick, clone(quick).set_params(precision="f32")):
        pipeline = make_pipeline(Covariances("oas"), Recenter(), clone(classifier).set_params(dims=(2,)))
        assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.8


class TestRecenter:
    def test_the_mean_goes_to_the_identity(self, task):
        X, _, _ = task
        for metric, mean in (("riemannian", fedspd.mean_riemannian), ("logeuclid", fedspd.mean_logeuclid)):
            recentred = Recenter(metric).fit_transform(X)
            if metric == "riemannian":
                np.testing.assert_allclose(mean(recentred), np.eye(5), atol=1e-10)
            np.testing.assert_array_equal(recentred, fedspd.whiten(X, mean(X)))

    def test_groups(self, task):
        X, _, subjects = task
        recenter = Recenter().fit(X[:90], groups=subjects[:90])
        assert sorted(recenter.references_) == [0, 1, 2]
        recentred = recenter.transform(X, groups=subjects)
        for subject in range(4):
            np.testing.assert_allclose(fedspd.mean_riemannian(recentred[subjects == subject]), np.eye(5), atol=1e-10)
        np.testing.assert_array_equal(Recenter().fit_transform(X, groups=subjects), recentred)
        with pytest.raises(ValueError, match="groups is missing"):
            recenter.transform(X)
        with pytest.raises(ValueError, match="group 3 was not in fit, and unseen is 'refuse'"):
            Recenter(unseen="refuse").fit(X[:90], groups=subjects[:90]).transform(X, groups=subjects)


class TestThreads:
    """``n_jobs`` is counted as in scikit-learn, and no result depends on it."""

    def test_they_are_counted_as_scikit_learn_does(self):
        cores = cpu_count()
        counted = {None: 1, 1: 1, 3: 3, np.int64(2): 2, -1: cores, -2: max(1, cores - 1), -1000: 1}
        assert {jobs: threads(jobs) for jobs in counted} == counted
        with parallel_config("threading", n_jobs=2):
            assert threads(None) == 2

    @pytest.mark.parametrize("estimator", [quick, federated])
    def test_no_result_depends_on_them(self, task, estimator):
        X, y, subjects = task
        given = {"groups": subjects} if estimator is federated else {}
        models = [bytes(clone(estimator).set_params(n_jobs=jobs).fit(X, y, **given).model_) for jobs in (None, 1, 2, 5, -1, -2)]
        assert len(set(models)) == 1

    @pytest.mark.parametrize("jobs, found", [(0, "n_jobs is 0; it must be a number of threads, or -1"), (1.5, "n_jobs is 1.5"), ("all", "n_jobs is 'all'")])
    def test_what_is_no_number_of_jobs(self, task, jobs, found):
        with pytest.raises(ValueError, match=found):
            clone(quick).set_params(n_jobs=jobs).fit(*task[:2])
