# /// script
# requires-python = ">=3.11"
# dependencies = ["mne==1.13.2", "numpy==2.4.6", "scipy==1.17.1", "pyriemann==0.12", "scikit-learn==1.9.1"]
# ///
"""Makes the golden values of the pipeline from recordings to covariances (see README.md).

All files except `real-*` come from a seeded generator. For `real-*`, `--data` takes the folder of
the PhysionetMI EDF files (S001/S001R04.edf and so on).
"""

import argparse
from pathlib import Path

import mne
import numpy as np
import scipy.io
import scipy.signal
from pyriemann.estimation import Covariances
from pyriemann.geometry.mean import mean_logeuclid, mean_riemann
from pyriemann.geometry.base import invsqrtm

mne.set_log_level("ERROR")
HERE = Path(__file__).parent
SEED = 20261116

# (name, rate, band, samples)
FILTERS = [
    ("paper-160", 160, (8, 32), 700),
    ("paper-200", 200, (8, 32), 700),
    ("paper-128", 128, (8, 32), 700),
    ("slow", 160, (0.3, 8), 2600),
    ("narrow", 250, (9.5, 10.5), 900),
    ("wide", 160, (1, 79), 500),
    ("short", 160, (8, 32), 40),
]
RESAMPLINGS = [(128, 160), (200, 160), (250, 160), (160, 128)]
CLASSES = ["feet", "hands", "left_hand", "right_hand"]


def save(name, values):
    np.save(HERE / f"{name}.npy", np.ascontiguousarray(values))


def signal(rng, channels, samples):
    """Returns a random walk with an offset, a hard input for a filter."""
    return np.cumsum(rng.normal(size=(channels, samples)), axis=1) + 40 * rng.normal(size=(channels, 1))


def filters():
    rng = np.random.default_rng(SEED)
    for name, rate, (low, high), samples in FILTERS:
        x = signal(rng, 3, samples)
        save(f"filter-{name}-in", x)
        save(f"filter-{name}-out", mne.filter.filter_data(x, rate, low, high, method="iir"))


def resamplings():
    rng = np.random.default_rng(SEED + 1)
    for old, new in RESAMPLINGS:
        x = signal(rng, 2, 333)
        up, down = np.array([new, old]) // np.gcd(new, old)
        save(f"resample-{old}-{new}-in", x)
        save(f"resample-{old}-{new}-out", scipy.signal.resample_poly(x, up, down, axis=1))


def write_edf(path, labels, rate, digital, annotations):
    """Writes EDF+C with records of 1 s, from -3276.8 to 3276.7 uV.

    The annotation signal has 120 bytes per record.
    """
    records = digital.shape[1] // rate
    field = lambda value, width: str(value).ljust(width)[:width].encode("ascii")
    n = len(labels) + 1
    head = field("0", 8) + field("X X X X", 80) + field("Startdate 12-AUG-2009 X X X", 80) + field("12.08.09", 8) + field("16.15.00", 8)
    head += field(256 * (n + 1), 8) + field("EDF+C", 44) + field(records, 8) + field(1, 8) + field(n, 4)
    columns = [
        ([*labels, "EDF Annotations"], 16), ([""] * n, 80), (["uV"] * (n - 1) + [""], 8),
        (["-3276.8"] * (n - 1) + ["-1"], 8), (["3276.7"] * (n - 1) + ["1"], 8),
        (["-32768"] * n, 8), (["32767"] * n, 8), ([""] * n, 80), ([rate] * (n - 1) + [60], 8), ([""] * n, 32),
    ]
    for values, width in columns:
        head += b"".join(field(value, width) for value in values)
    body = b""
    for record in range(records):
        piece = digital[:, record * rate : (record + 1) * rate]
        notes = f"+{record}\x14\x14\x00"
        for onset, duration, text in annotations:
            if record <= onset < record + 1:
                notes += f"+{onset:g}\x15{duration:g}\x14{text}\x14\x00"
        body += piece.astype("<i2").tobytes() + notes.encode().ljust(120, b"\x00")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + body)


def recordings():
    """Writes two runs of one subject in the layout of PhysionetMI, with its first six channels."""
    rng = np.random.default_rng(SEED + 2)
    labels = ["Fc5.", "Fc3.", "Fc1.", "Fcz.", "Fc2.", "Fc4."]
    mixing = rng.normal(size=(6, 6))
    for run in (4, 6):
        seconds, rate = 31, 160
        x = mixing @ rng.normal(size=(6, seconds * rate)) * 80 + 60 * np.sin(np.arange(seconds * rate) / 9)
        # The recording ends within the last trial.
        texts = ["T0", "T2", "T0", "T1", "T0", "T1", "T0", "T2", "T0", "T1"]
        onsets = [0, 1.5, 4.6, 6.7, 9.8, 11.9, 15, 17.3, 22.4, 28.5]
        notes = [(onset, 3.1, text) for onset, text in zip(onsets, texts)]
        write_edf(HERE / "S001" / f"S001R{run:02}.edf", labels, rate, np.clip(np.round(x), -32768, 32767), notes)


def physionet_epochs(path, run):
    """Returns epochs in microvolts and labels, as in MOABB's MotorImagery paradigm.

    Band-pass of the continuous run, then epochs of [0, 3] s.
    """
    names = {"T1": "left_hand", "T2": "right_hand"} if run in (4, 8, 12) else {"T1": "hands", "T2": "feet"}
    raw = mne.io.read_raw_edf(path, preload=True)
    raw.filter(8, 32, method="iir")
    ids = {text: CLASSES.index(name) for text, name in names.items()}
    events, ids = mne.events_from_annotations(raw, event_id=ids)
    epochs = mne.Epochs(raw, events, ids, tmin=0, tmax=3, baseline=None, proj=False, preload=True, event_repeated="drop", on_missing="ignore")
    return epochs.get_data(picks="eeg") * 1e6, epochs.events[:, 2]


def pipeline():
    parts = [physionet_epochs(HERE / "S001" / f"S001R{run:02}.edf", run) for run in (4, 6)]
    x, y = np.concatenate([x for x, _ in parts]), np.concatenate([y for _, y in parts])
    save("physionet-trials", x[:2])
    save("physionet-labels", y.astype(np.int64))
    covariances = np.stack([np.cov(trial) for trial in x])
    save("physionet-covariances", covariances)
    save("physionet-oas", Covariances("oas").transform(x))
    save("physionet-ledoit-wolf", Covariances("lwf").transform(x))
    for name, mean in (("riemannian", mean_riemann(covariances, tol=1e-12, maxiter=200)), ("logeuclidean", mean_logeuclid(covariances))):
        save(f"physionet-mean-{name}", mean)
        root = invsqrtm(mean)
        save(f"physionet-recentred-{name}", root @ covariances @ root)


def weibo():
    """Writes a file in the layout of Weibo2014 with five channels, and MOABB's values of it."""
    rng = np.random.default_rng(SEED + 3)
    data = np.round(30 * rng.normal(size=(5, 1600, 8)) + 100 * rng.normal(size=(5, 1, 1)))
    label = np.array([3, 1, 7, 2, 4, 6, 5, 1.0]).reshape(-1, 1)
    scipy.io.savemat(HERE / "subject_1.mat", {"data": data, "label": label}, do_compression=True)
    trials = data.transpose(2, 0, 1)
    trials = trials - trials.mean(axis=2, keepdims=True)
    padded = np.pad(trials, ((0, 0), (0, 0), (50, 50)))
    info = mne.create_info(["Fp1", "CB1", "Fpz", "VEO", "Fp2"], 200, ["eeg", "misc", "eeg", "eog", "eeg"])
    raw = mne.io.RawArray(np.concatenate(list(1e-6 * padded), axis=1), info)
    raw.filter(8, 32, method="iir")
    onsets = 50 + 1700 * np.arange(8)
    events = np.c_[onsets, np.zeros(8), label[:, 0]].astype(int)
    epochs = mne.Epochs(raw, events, tmin=3, tmax=7, baseline=None, proj=False, preload=True, event_repeated="drop")
    x = epochs.get_data(picks="eeg") * 1e6
    assert x.shape == (8, 3, 801)
    save("weibo-trials", x[:1])
    save("weibo-covariances", np.stack([np.cov(trial) for trial in x]))


def interrupted():
    """Writes an interrupted recording and its epochs by MNE.

    It was joined at 6.5 s and paused from 11 to 12.5 s. Some events are simultaneous.
    """
    rng = np.random.default_rng(SEED + 4)
    x = signal(rng, 2, 20 * 160) + np.where(np.arange(20 * 160) < 1040, 0, 900)
    notes = [
        (3, 3.1, "T1"), (3, 1, "T2"), (5, 1, "T1"), (6.5, 0, "EDGE boundary"), (7, 3.1, "T2"), (10.5, 3.1, "T1"),
        (11, 1.5, "BAD_ACQ_SKIP"), (13, 3.1, "T1"), (16, 2, "T2"), (16, 2, "T1"),
    ]
    write_edf(HERE / "interrupted.edf", ["C3", "C4"], 160, np.round(x), notes)
    raw = mne.io.read_raw_edf(HERE / "interrupted.edf", preload=True)
    raw.filter(8, 32, method="iir")
    events, ids = mne.events_from_annotations(raw, event_id={"T1": 0, "T2": 1})
    epochs = mne.Epochs(raw, events, ids, tmin=0, tmax=3, baseline=None, proj=False, preload=True, event_repeated="drop")
    save("interrupted-trials", epochs.get_data() * 1e6)
    save("interrupted-events", epochs.events[:, [0, 2]].astype(np.int64))


def real(folder):
    """Writes values for each trial of subjects 1 to 10, in our order.

    They are the label, and trace and log-determinant of its sample and OAS covariance.
    """
    labels, numbers = [], []
    for subject in range(1, 11):
        for run in (4, 8, 12, 6, 10, 14):
            x, y = physionet_epochs(folder / f"S{subject:03}" / f"S{subject:03}R{run:02}.edf", run)
            labels.append(np.c_[np.full(len(y), subject), np.full(len(y), run), y])
            for trial, oas in zip(x, Covariances("oas").transform(x)):
                c = np.cov(trial)
                numbers.append([np.trace(c), np.linalg.slogdet(c)[1], np.trace(oas), np.linalg.slogdet(oas)[1]])
    save("real-labels", np.concatenate(labels).astype(np.int64))
    save("real-numbers", np.array(numbers))


def real_events(folder):
    """Writes the annotations of the imagery runs of five subjects.

    They are an ordinary subject, the three at another rate, and the one with fewer trials.
    """
    rows = ["subject,run,sfreq,seconds,onset,duration,text"]
    for subject in (1, 88, 92, 100, 104):
        for run in (4, 6, 8, 10, 12, 14):
            raw = mne.io.read_raw_edf(folder / f"S{subject:03}" / f"S{subject:03}R{run:02}.edf")
            rate, seconds = raw.info["sfreq"], raw.n_times / raw.info["sfreq"]
            for note in raw.annotations:
                rows.append(f"{subject},{run},{rate:g},{seconds:g},{note['onset']:g},{note['duration']:g},{note['description']}")
    (HERE / "real-events.csv").write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    arguments = parser.parse_args()
    filters()
    resamplings()
    recordings()
    pipeline()
    weibo()
    interrupted()
    real(arguments.data)
    real_events(arguments.data)
