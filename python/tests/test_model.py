"""Trained models on files, arrays and MNE's epochs."""

import json

import numpy as np
import pytest

import fedspd
from fedspd import _core


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run on the embedded sample with aligned subjects, and its data as a file."""
    folder = tmp_path_factory.mktemp("model")
    words = ["fedspd", "run", "sample", "--set", "align={kind = 'riemannian', population = true}", "--set", "federated.rounds=2"]
    assert _core.command([*words, "--quiet", "--out", str(folder / "run")]) == 0
    return folder


@pytest.fixture(scope="module")
def model(run):
    return fedspd.load_model(run / "run/models/seed-0.safetensors")


def test_a_run_folder_with_one_model(model, run):
    assert bytes(fedspd.load_model(run / "run").model) == bytes(model.model)


def test_files(model, run):
    probabilities = model.predict_proba("sample", subjects="1-3")
    assert probabilities.shape == (270, 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert set(model.predict("sample", subjects="1-3")) <= set(model.classes)
    # The command writes the same numbers.
    table = run / "predictions.csv"
    model_file = str(run / "run")
    assert _core.command(["fedspd", "predict", model_file, "--data", "sample", "--subjects", "1-3", "--out", str(table)]) == 0
    written = np.loadtxt(table, delimiter=",", skiprows=1, usecols=range(5, 9))
    np.testing.assert_array_equal(written, probabilities)
    assert model.predict_proba("sample", subjects="1-3", calibration=10).shape == (240, 4)


def test_the_preparation_is_known(model):
    branch = model.preparation["making"]["branches"][0]
    assert (branch["band"], branch["window"], branch["alignment"], branch["fit"]) == ([8, 32], [0, 3], "riemannian", "train")
    assert model.preparation["channels"] == model.channels


class Epochs:
    """The part of ``mne.Epochs`` that models read."""

    def __init__(self, model, band=(8.0, 32.0), trials=6, channels=None):
        random = np.random.default_rng(0)
        self.ch_names = list(channels or model.channels)
        self.data = random.normal(size=(trials, len(self.ch_names), 481)) * 1e-5
        self.info = {"sfreq": 160.0, "highpass": band[0], "lowpass": band[1]}
        self.tmin, self.tmax = 0.0, 3.0

    def get_data(self):
        return self.data


def test_epochs_are_prepared_as_the_model_says(model, caplog):
    epochs = Epochs(model)
    probabilities = model.predict_proba(epochs)
    assert "covariances are estimated (sample)" in caplog.text
    # By hand: covariances, recentred on all trials.
    covariances = np.stack([np.cov(trial * 1e6) for trial in epochs.data])
    whitened = fedspd.whiten(covariances, fedspd.mean_riemannian(covariances))
    np.testing.assert_allclose(model.predict_proba(whitened), probabilities, atol=1e-9)
    assert "aligned trials (riemannian); the array is taken as aligned already" in caplog.text
    # Channels in another order.
    turned = Epochs(model, channels=model.channels[::-1])
    turned.data = epochs.data[:, ::-1]
    np.testing.assert_allclose(model.predict_proba(turned), probabilities, atol=1e-9)


def test_epochs_that_differ_are_refused(model):
    with pytest.raises(ValueError, match=r"the array: band is 1-40 Hz, but the model has 8-32 Hz"):
        model.predict_proba(Epochs(model, band=(1.0, 40.0)))
    epochs = Epochs(model)
    epochs.ch_names[5] = "X1"
    with pytest.raises(ValueError, match=f"the array lacks a channel of .*: {model.channels[5]}"):
        model.predict_proba(epochs)
    epochs = Epochs(model)
    epochs.info["sfreq"] = 250.0
    with pytest.raises(ValueError, match="sampling rate is 250 Hz, but .* has 160 Hz"):
        model.predict_proba(epochs)
    with pytest.raises(ValueError, match="an array holds prepared trials"):
        model.predict_proba(np.eye(64)[None], calibration=3)


def save_sample(path, model, branch=None, copies=1, **arrays):
    """Writes some prepared trials of the sample, with changes."""
    x, y, subjects, _ = fedspd.load_sample()
    making = json.loads(json.dumps(model.preparation["making"]))
    making["branches"][0] |= {"alignment": None, "fit": None} | (branch or {})
    making["branches"] *= copies
    content = {
        "X": x[:20] if copies == 1 else np.stack([x[:20]] * copies, 1),
        "y": np.asarray(y[:20]),
        "subject": np.asarray(subjects[:20]),
        "channels": np.asarray(model.channels),
        "classes": np.asarray(model.classes),
        "sfreq": 160.0,
        "unit": "uV^2",
        "preparation": json.dumps(making),
    }
    np.savez(path, **content | arrays)


@pytest.mark.parametrize(
    ("field", "change", "both"),
    [
        ("band", {"branch": {"band": [1, 40]}}, ("1-40 Hz", "8-32 Hz")),
        ("filter", {"branch": {"filter": "FIR"}}, ("FIR", "Butterworth")),
        ("window", {"branch": {"window": [0, 2]}}, ("0-2 s", "0-3 s")),
        ("samples", {"branch": {"samples": 480}}, ("480", "481")),
        ("centring", {"branch": {"centred": False}}, ("none", "channel means removed")),
        ("estimator", {"branch": {"estimator": "oas"}}, ("oas", "sample")),
        ("alignment", {"branch": {"alignment": "euclidean"}}, ("euclidean", "riemannian")),
        ("z-score", {"branch": {"z_score": True}}, ("yes", "no")),
        ("sampling rate", {"sfreq": 250.0}, ("250 Hz", "160 Hz")),
        ("inputs per trial", {"copies": 2}, ("2", "1")),
        ("classes", {"classes": list("abcd"), "y": [0] * 20}, ("a, b, c, d", "feet, hands, left_hand, right_hand")),
    ],
)
def test_prepared_data_that_differ_are_refused(model, tmp_path, field, change, both):
    path = tmp_path / "changed.npz"
    save_sample(path, model, **change)
    with pytest.raises(ValueError, match=f"changed.npz: {field} is {both[0]}, but the model has {both[1]}"):
        model.predict_proba(path)


def test_prepared_data_are_converted_with_a_note(model, tmp_path, caplog):
    x = fedspd.load_sample()[0][:20]
    path = tmp_path / "changed.npz"
    save_sample(path, model)
    expected = model.predict_proba(path)
    for arrays, said in [
        ({"channels": model.channels[::-1], "X": x[:, ::-1, ::-1]}, "channels are reordered by name"),
        ({"unit": "V^2", "X": x * 1e-12}, "`X` was converted from V^2 to uV^2"),
    ]:
        save_sample(path, model, **arrays)
        np.testing.assert_allclose(model.predict_proba(path), expected, atol=1e-9)
        assert said in caplog.text


def test_a_stream_equals_online_alignment(model, run):
    trials, _, subjects, _ = fedspd.load_sample()
    own = trials[np.asarray(subjects) == "2"]
    expected = model.predict_proba("sample", subjects="2", align="online")
    origins, _, _ = model.model.predict_files("sample", root=None, subjects="2", calibration=None, online=True)
    in_time = np.argsort([int(run) for _, _, run, _, _ in origins], kind="stable")
    stream = model.stream("2")
    one_by_one = np.concatenate([stream.predict_proba(own[[trial]]) for trial in in_time])
    np.testing.assert_array_equal(one_by_one, expected[in_time])
    # All trials together, alignment in hindsight, is something else.
    assert not np.allclose(expected, model.predict_proba("sample", subjects="2"))
    assert set(model.stream("2").predict(own)) <= set(model.classes)


def test_a_bad_trial_costs_itself_only(model):
    trials, _, subjects, _ = fedspd.load_sample()
    own = trials[np.asarray(subjects) == "2"][:3]
    expected = model.stream("2").predict_proba(own)
    stream = model.stream("2")
    np.testing.assert_array_equal(stream.predict_proba(own[:1]), expected[:1])
    for bad in (-own[:1], np.full_like(own[:1], np.nan), own[:1, :5, :5]):
        with pytest.raises(ValueError):
            stream.predict_proba(bad)
    np.testing.assert_array_equal(stream.predict_proba(own[1:]), expected[1:])


def test_epochs_stream(model, caplog):
    epochs = Epochs(model)
    expected = model.predict_proba(epochs, align="online")
    caplog.clear()
    stream, one_by_one = model.stream("1"), []
    for trial in epochs.data:
        one = Epochs(model)
        one.data = trial[np.newaxis]
        one_by_one.append(stream.predict_proba(one))
    np.testing.assert_array_equal(np.concatenate(one_by_one), expected)
    assert caplog.text.count("covariances are estimated") == 1, "said once"


def test_online_needs_an_alignment(tmp_path):
    words = ["fedspd", "run", "sample", "--set", "federated.rounds=1", "--quiet", "--out", str(tmp_path / "run")]
    assert _core.command(words) == 0
    model = fedspd.load_model(tmp_path / "run/models/seed-0.safetensors")
    with pytest.raises(ValueError, match="the model aligns no subject: there is nothing to align online"):
        model.stream("1")
    with pytest.raises(ValueError, match="align is 'first'"):
        model.predict_proba("sample", align="first")
    with pytest.raises(ValueError, match="give either align or calibration"):
        model.predict_proba("sample", align="online", calibration=3)
