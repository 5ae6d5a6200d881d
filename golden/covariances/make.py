# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6", "scipy==1.17.1", "mne==1.13.2"]
# ///
"""Makes the golden EEG covariances from PhysionetMI (see README.md).

The script reads the recordings from a folder or a tar archive with files such as
S001/S001R04.edf.
"""

import argparse
import tarfile
import tempfile
from pathlib import Path

import mne
import numpy as np

SUBJECTS = ["S001", "S007"]
CLASSES = [  # name, run, annotation
    ("left_hand", 4, "T1"),
    ("right_hand", 4, "T2"),
    ("hands", 6, "T1"),
    ("feet", 6, "T2"),
]
BAND = (8.0, 32.0)  # Hz
WINDOW = (0.0, 3.0)  # seconds from the cue, both ends included
SAMPLES = 481  # WINDOW at 160 Hz


def unpack(archive, wanted, folder):
    """Extracts the wanted EDF files into folder, under their base names."""
    left = set(wanted)
    with tarfile.open(archive) as tar:
        for member in tar:
            name = Path(member.name).name
            if name in left:
                (folder / name).write_bytes(tar.extractfile(member).read())
                left.remove(name)
                if not left:
                    return
    raise SystemExit(f"not in the archive: {sorted(left)}")


def locate(folder, name):
    """Returns the only file of that name below folder."""
    found = sorted(folder.rglob(name))
    if len(found) != 1:
        raise SystemExit(f"{len(found)} files named {name}, expected 1")
    return found[0]


def first_trial(raw, annotation):
    """Returns the first epoch with that annotation, (channels, samples) in uV, and its onset."""
    events, ids = mne.events_from_annotations(raw, verbose="error")
    epochs = mne.Epochs(
        raw,
        events,
        event_id={annotation: ids[annotation]},
        tmin=WINDOW[0],
        tmax=WINDOW[1],
        baseline=None,
        picks="eeg",
        preload=True,
        verbose="error",
    )
    return epochs.get_data(copy=True)[0] * 1e6, epochs.events[0, 0] / raw.info["sfreq"]


def covariance(x):
    """Returns the covariance of the temporally centred trial, divided by T - 1."""
    x = x - x.mean(axis=1, keepdims=True)
    c = x @ x.T / (x.shape[1] - 1)
    return (c + c.T) / 2


def save(path, array):
    """Writes NumPy format 1.0, C order, little-endian f64, no pickle."""
    array = np.ascontiguousarray(array, dtype="<f8")
    with open(path, "wb") as f:
        np.lib.format.write_array(f, array, version=(1, 0), allow_pickle=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder or tar of the EDF files")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, help="output folder")
    args = parser.parse_args()

    runs = sorted({run for _, run, _ in CLASSES})
    files = [f"{s}R{run:02d}.edf" for s in SUBJECTS for run in runs]
    covariances, names = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.data
        if not folder.is_dir():
            folder = Path(scratch)
            unpack(args.data, files, folder)
        for subject in SUBJECTS:
            raws = {}
            for run in runs:
                path = locate(folder, f"{subject}R{run:02d}.edf")
                raws[run] = mne.io.read_raw_edf(path, preload=True, verbose="error")
                raws[run].filter(*BAND, method="iir", verbose="error")
            for name, run, annotation in CLASSES:
                x, cue = first_trial(raws[run], annotation)
                assert x.shape == (64, SAMPLES), x.shape
                covariances.append(covariance(x))
                names.append(f"{subject} run {run:2d} {annotation} {name:10s} cue {cue:5.2f} s")

    covariances = np.stack(covariances)
    eigenvalues = np.linalg.eigvalsh(covariances)
    assert np.array_equal(covariances, covariances.transpose(0, 2, 1))
    assert (eigenvalues[:, 0] > 0).all() and (np.diff(eigenvalues) >= 0).all()
    save(args.out / "covariances.npy", covariances)
    save(args.out / "eigenvalues.npy", eigenvalues)

    for i, (name, w) in enumerate(zip(names, eigenvalues)):
        print(f"{i} {name}  min {w[0]:.4e}  max {w[-1]:.4e}  cond {w[-1] / w[0]:.3e}  trace {w.sum():.4e}")
    smallest, largest = eigenvalues[:, 0].min(), eigenvalues[:, -1].max()
    print(f"all: min {smallest:.4e}  max {largest:.4e}")


if __name__ == "__main__":
    main()
