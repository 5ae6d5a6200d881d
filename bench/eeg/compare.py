#!/usr/bin/env python3
"""Times PhysionetMI from EDF files to covariances: fedspd on all cores, MNE in one process.

    python3 bench/eeg/compare.py ROOT [--subjects 1-109]

Prints a Markdown table. ROOT holds S001/S001R04.edf and so on. The script makes its own virtual
environment. It reads all files once before it times anything, so that disk speed does not matter.
Both sides do the same: read, band-pass 8-32 Hz, epochs of [0, 3] s, sample covariance. The script
compares their results.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PACKAGES = ["mne==1.13.2", "numpy==2.4.6", "scipy==1.17.1"]
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ROUNDS = 2  # per side; the fastest counts
RUNS = (4, 8, 12, 6, 10, 14)
WITHOUT = (88, 92, 100)  # recorded at 128 Hz


def environment():
    """Returns a Python with MNE installed."""
    python = HERE / ".venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", HERE / ".venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def files(root, subjects):
    for subject in subjects:
        if subject not in WITHOUT:
            for run in RUNS:
                yield run, root / f"S{subject:03}" / f"S{subject:03}R{run:02}.edf"


def by_mne(root, subjects):
    """Computes the covariances with MNE and NumPy."""
    import mne
    import numpy as np

    mne.set_log_level("ERROR")
    start, covariances = time.perf_counter(), []
    for run, path in files(root, subjects):
        raw = mne.io.read_raw_edf(path, preload=True)
        raw.filter(8, 32, method="iir")
        events, ids = mne.events_from_annotations(raw, event_id={"T1": 1, "T2": 2})
        epochs = mne.Epochs(raw, events, ids, tmin=0, tmax=3, baseline=None, proj=False, preload=True, event_repeated="drop", on_missing="ignore")
        covariances += [np.cov(trial) for trial in epochs.get_data() * 1e6]
    seconds = time.perf_counter() - start
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"seconds": seconds, "kilobytes": kilobytes, "trials": len(covariances), "sum": float(np.sum(covariances))}))


def by_fedspd(root, subjects, out):
    command = [ROOT / "target/release/fedspd", "data", "prepare", "physionet-mi", "--root", root, "--subjects", subjects, "--out", out, "--progress", "off"]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    # This process has no other child, so the peak belongs to fedspd.
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def main(arguments):
    first, last = map(int, arguments.subjects.split("-"))
    subjects = range(first, last + 1)
    if arguments.mne:
        return by_mne(arguments.root, subjects)
    if arguments.fedspd:
        print(json.dumps(by_fedspd(arguments.root, arguments.subjects, arguments.fedspd)))
        return None
    python = environment()
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    total = sum(len(path.read_bytes()) for _, path in files(arguments.root, subjects))
    itself = [python, __file__, arguments.root, "--subjects", arguments.subjects]
    ask = lambda *extra: json.loads(subprocess.run([*itself, *extra], check=True, capture_output=True, text=True).stdout)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "covariances.npz"
        # Both sides take turns, so that a slow phase of the machine affects both.
        ours, mne = zip(*((ask("--fedspd", out), ask("--mne")) for _ in range(ROUNDS)))
        theirs = min(mne, key=lambda run: run["seconds"])
        check = f"import numpy as np; x = np.load(r'{out}', allow_pickle=False)['X']; print(len(x), float(x.sum()))"
        trials, sum_ = subprocess.run([python, "-c", check], check=True, capture_output=True, text=True).stdout.split()
    assert int(trials) == theirs["trials"] and abs(float(sum_) / theirs["sum"] - 1) < 1e-9, (trials, sum_, theirs)
    seconds, kilobytes = min(s for s, _ in ours), max(k for _, k in ours)
    theirs["kilobytes"] = max(run["kilobytes"] for run in mne)
    print(f"{len(list(files(arguments.root, subjects)))} files ({total / 1e9:.2f} GB), {trials} trials; {', '.join(PACKAGES)}.\n")
    print("| | fedspd, all cores, file written | MNE, one process | ratio |\n|---|---|---|---|")
    print(f"| EDF to covariances | {seconds:.1f} s | {theirs['seconds']:.1f} s | **{theirs['seconds'] / seconds:.1f}x** |")
    print(f"| peak memory | {kilobytes / 1024:.0f} MB | {theirs['kilobytes'] / 1024:.0f} MB | {theirs['kilobytes'] / kilobytes:.1f}x |")
    return None


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path)
    parser.add_argument("--subjects", default="1-109")
    parser.add_argument("--mne", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--fedspd", type=Path, help=argparse.SUPPRESS)
    main(parser.parse_args())
