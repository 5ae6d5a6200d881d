"""The estimators among scikit-learn's tools."""

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
    # Each channel of each trial is scaled by itself.
    scaled = classifier.predict_proba(X * np.array([1, 10, 100])[:, None])
    np.testing.assert_allclose(scaled, classifier.predict_proba(X), atol=1e-6)


def test_federated_spdnet_learns_without_sharing(task):
    X, y, subjects = task
    classifier = clone(federated).fit(X, y, groups=subjects)
    assert classifier.score(X, y) > 0.9
    with pytest.raises(ValueError, match="groups is missing"):
        clone(federated).fit(X, y)
    # Another way to average is another model, and clients matter.
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
        with pytest.raises(ValueError, match="group 3 was not there in fit"):
            Recenter(unseen="refuse").fit(X[:90], groups=subjects[:90]).transform(X, groups=subjects)


class TestThreads:
    """Numbers of jobs are scikit-learn's, and no result depends on them."""

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


def refused(call, message):
    """Whether a call is refused in one line that begins like this."""
    with pytest.raises(ValueError) as caught:
        call()
    text = str(caught.value)
    assert message in text and "\n" not in text, text


class TestFaults:
    @pytest.mark.parametrize(
        "parameters, message",
        [
            ({"lr": -1.0}, "`train.lr` is -1"),
            ({"lr": np.array([1.0])}, "lr is array([1.]); it must be a number or a word"),
            ({"dims": (9,)}, "`model.dims` begins with 9, but `the array` has 5 channels"),
            ({"dims": (2.5,)}, "a size in dims is 2.5; it must be a whole number"),
            ({"dims": ("3",)}, "a size in dims is '3'; it must be a whole number"),
            ({"dims": (-1,)}, "`model.dims[0]` is -1"),
            ({"dims": (2**64,)}, "`model.dims[0]` is 18446744073709551616"),
            ({"dims": 3}, "dims is 3; it must be a sequence of whole numbers"),
            ({"epochs": -1}, "`train.epochs` is -1"),
            ({"epochs": 2**32 + 1}, "`train.epochs` is 4294967297"),
            ({"epochs": 2**64}, "`train.epochs` is 18446744073709551616"),
            ({"epochs": 1.5}, "`train.epochs` is 1.5"),
            ({"batch": 10**40}, "`train.batch` is 1000000000000"),
            ({"random_state": -1}, "random_state is -1; it must be a whole number from 0 to 9223372036854775807"),
            ({"random_state": 2**64}, "random_state is 18446744073709551616; it must be"),
            ({"head": "vecs"}, "vecs"),
            ({"validation_fraction": 0.0}, "validation_fraction is 0.0; it must be a number above 0 and below 1"),
            ({"validation_fraction": "a"}, "validation_fraction is 'a'; it must be"),
            ({"unit": "V^2"}, 'unit is "V^2"; that of covariances must be "uV^2", or "1" for none'),
            ({"unit": "uV"}, 'unit is "uV"; that of covariances must be'),
            ({"channels": ["C3", "C4", "Cz", "C4", "Fz"]}, 'there are two channels called "C4"'),
            ({"channels": ["C3", "C4"]}, "2 names of channels for trials of 5 channels"),
            ({"channels": "abcde"}, "channels is 'abcde'; it must be a sequence of names"),
            ({"channels": 5}, "channels is 5; it must be a sequence of names"),
        ],
    )
    def test_of_settings(self, task, parameters, message):
        refused(lambda: clone(quick).set_params(**parameters).fit(*task[:2]), message)

    @pytest.mark.parametrize(
        "parameters, message",
        [
            ({"sfreq": -1.0}, "sfreq is -1.0; it must be a number above 0"),
            ({"sfreq": float("nan")}, "sfreq is nan; it must be a number above 0"),
            ({"sfreq": None}, "sfreq is None; it must be a number above 0"),
            ({"unit": "uV^2"}, 'unit is "uV^2"; that of raw trials must be "uV", or "1" for none'),
            ({"channels": ["C3", "C4", "C3"]}, 'there are two channels called "C3"'),
        ],
    )
    def test_of_settings_of_eegnet(self, raw, parameters, message):
        refused(lambda: EEGNetClassifier(64.0, epochs=1).set_params(**parameters).fit(*raw), message)

    def test_of_shapes(self, task):
        X, y, subjects = task
        takes = "Classifier takes X of shape (trials, n, n), found "
        for wrong in (X[:, 0], X[:, :, :4], X[None, None], X[:, :0, :0]):
            refused(lambda: clone(quick).fit(wrong, y), f"{takes}{wrong.shape}")
            refused(lambda: Recenter().fit(wrong), f"Recenter takes X of shape (trials, n, n), found {wrong.shape}")
        refused(lambda: clone(quick).fit(X[:0], y[:0]), "Found array with 0 sample(s) (shape=(0, 5, 5))")
        refused(lambda: clone(quick).fit(X * 1j, y), "X holds complex numbers; expected real ones")
        refused(lambda: clone(quick).fit(X, y[:-1]), "expected y of shape (120,), one for each trial of X, found (119,)")
        for groups in (subjects[:-1], np.ones((120, 2))):
            found = f"expected groups of shape (120,), one for each trial of X, found {groups.shape}"
            refused(lambda: clone(federated).fit(X, y, groups=groups), found)
            refused(lambda: Recenter().fit(X, groups=groups), found)
        refused(lambda: clone(quick).fit(X, np.zeros(120)), "found one class")

    def test_of_shapes_that_are_not_those_of_training(self, task, raw):
        X, y, _ = task
        classifier = clone(quick).fit(X, y)
        expected = "expected trials of shape (trials, 5, 5), which the model was trained on, found (120, 4, 4)"
        refused(lambda: classifier.predict(X[:, :4, :4]), expected)
        refused(lambda: classifier.model_.predict_proba(X[:, 0]), "found (120, 5)")
        refused(lambda: Recenter().fit(X).transform(X[:, :4, :4]), "of shape (trials, 5, 5), as in fit, found (120, 4, 4)")
        X, y = raw
        classifier = EEGNetClassifier(64.0, epochs=1).fit(X, y)
        refused(lambda: classifier.predict(X[:, :2]), "expected trials of shape (trials, 3, 128), which the model was trained on, found (60, 2, 128)")
        refused(lambda: classifier.fit(X[:, None], y), "takes X of shape (trials, channels, samples), found (60, 1, 3, 128)")

    def test_of_numbers(self, task, raw):
        X, y, subjects = task
        classifier = clone(quick).fit(X, y)

        def changed(trial, row, column, value):
            wrong = X.copy()
            wrong[trial, row, column] = value
            return wrong

        calls = [lambda wrong: clone(quick).fit(wrong, y), classifier.predict, Recenter().fit, Recenter().fit(X).transform]
        for call in calls:
            refused(lambda: call(changed(100, 2, 3, np.nan)), "X is NaN at trial 100, row 2, column 3")
            refused(lambda: call(changed(100, 0, 1, -np.inf)), "X is -inf at trial 100, row 0, column 1")
        for call in calls[:2]:
            refused(lambda: call(changed(100, 2, 2, -9.0)), "the matrix of trial 100")
            refused(lambda: call(changed(100, 2, 2, -9.0)), "is no covariance, its eigenvalues go from -9.")
        smallest = np.linalg.eigvalsh(changed(100, 2, 2, -9.0)[100])[0]
        for call in [*calls[2:], lambda wrong: Recenter().fit(wrong, groups=subjects)]:
            refused(lambda: call(changed(100, 2, 2, -9.0)), f"matrix 100 is not positive definite: its smallest eigenvalue is {smallest:.3e}")
            refused(lambda: call(changed(100, 2, 3, 9.0)), "matrix 100 is not symmetric: entries (3, 2) and (2, 3) differ by")
        refused(lambda: classifier.predict(changed(100, 2, 3, 9.0)), "trial 100, input 0: matrix 0 is not symmetric")

    def test_of_samples(self, raw):
        X, y = raw
        classifier = EEGNetClassifier(64.0, epochs=1).fit(X, y)
        many = np.concatenate([X, X])
        many[100, 1] = 0.5
        refused(lambda: classifier.predict(many), "trial 100: channel channel 2 does not vary")
        many[100, 1, 7] = np.nan
        refused(lambda: classifier.predict(many), "X is NaN at trial 100, channel 1, sample 7")
