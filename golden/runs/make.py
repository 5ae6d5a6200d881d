"""Makes runs of all kinds and the hashes of their numbers (see README.md)."""

import csv
import hashlib
import json
import struct
import tempfile
from pathlib import Path

import numpy as np

from fedspd import _core

HERE = Path(__file__).parent
HASHES = HERE / "hashes.json"

COVARIANCES = {
    "data.name": "generated",
    "data.generated.subjects": 6,
    "data.generated.trials": 24,
    "data.generated.channels": 6,
    "data.generated.samples": 64,
    "data.generated.sfreq": 64.0,
    "data.generated.classes": 3,
    "model.dims": [4],
    "train.lr": 0.01,
    "train.batch": 8,
    "federated.subjects_per_client": 1,
    "federated.rounds": 5,
    "run.threads": 2,
}
TRIALS = {
    **COVARIANCES,
    "model.kind": "eegnet",
    "data.generated.classes": 2,
    "data.generated.samples": 128,
    "data.generated.sfreq": 128.0,
}
del TRIALS["model.dims"]
ONE_PLACE = {"mode": "centralised", "train.epochs": 12, "train.early_stop": 4}
ALONE = {**ONE_PLACE, "mode": "local"}
HALF = {"federated.participation": 0.5}
CARRIED = {"federated.carry_state": True}
WINDOWS = {**COVARIANCES, "data.name": "three-windows.npz", "federated.subjects_per_client": 2}
for key in [key for key in WINDOWS if key.startswith("data.generated")]:
    del WINDOWS[key]

def without_rounds(settings):
    """Removes the number of rounds, which has no effect in other modes than federated."""
    return {key: value for key, value in settings.items() if key != "federated.rounds"}


RUNS = {
    "spdnet-f64": {**COVARIANCES, "run.seeds": [0, 1]},
    "spdnet-f32-half-momentum": {
        **COVARIANCES,
        **HALF,
        "model.precision": "f32",
        "federated.aggregation": "rl-avg",
        "federated.server_momentum": 0.5,
        "federated.server_lr": 0.7,
    },
    "spdnet-prox-carried": {
        **COVARIANCES,
        **CARRIED,
        "federated.prox_mu": 0.1,
        "federated.aggregation": "rl-avg",
        "federated.epochs_local": "{ default = 2, 'client 2' = 3 }",
    },
    "spdnet-centralised": {**without_rounds(COVARIANCES), **ONE_PLACE, "model.dims": [5, 3]},
    "spdnet-local": {**without_rounds(COVARIANCES), **ALONE},
    "spdnet-aligned-held-out": {
        **COVARIANCES,
        "align.kind": "riemannian",
        "split.held_out_subjects": "5,6",
        "model.head": "isometric-vech",
    },
    "spdnet-three-windows": {**WINDOWS, "align.kind": "log-euclidean", "align.fit": "all", "model.dropout": 0.2},
    "spdnet-karcher-by-trials": {
        **WINDOWS,
        "federated.aggregation": "karcher",
        "federated.weights": "by-trials",
        "train.scheduler": "cosine",
        "train.optimizer": "riemannian-sgd",
        "run.validate_every": 2,
    },
    "spdnet-euclidean-landing": {
        **COVARIANCES,
        "federated.aggregation": "euclidean",
        "train.optimizer": "landing",
        "run.eval_every": 3,
    },
    "spdnet-ret-avg": {**COVARIANCES, "federated.aggregation": "ret-avg", "train.optimizer": "riemannian-adam"},
    "tangent-qr-avg": {**COVARIANCES, "federated.aggregation": "qr-avg", "model.dims": []},
    "eegnet-f32": {**TRIALS, "model.fedbn": "all", "align.kind": "euclidean"},
    "eegnet-f64-half-carried": {**TRIALS, **HALF, **CARRIED, "model.fedbn": "statistics", "model.precision": "f64"},
    "eegnet-centralised-held-out": {**without_rounds(TRIALS), **ONE_PLACE, "split.held_out_subjects": "6"},
    "eegnet-local": {**without_rounds(TRIALS), **ALONE},
}

SITES = {"a": "1,2", "b": "3", "c": "4,5,6"}
OF_SITES = {"federated.clients": "{ a = ['1', '2'], b = ['3'], c = ['4', '5', '6'] }"}
REHEARSALS = {
    "flower-spdnet-half-carried": {**COVARIANCES, **OF_SITES, **HALF, **CARRIED},
    "flower-eegnet-f32": {**TRIALS, **OF_SITES, "model.fedbn": "all"},
}
for settings in REHEARSALS.values():
    del settings["federated.subjects_per_client"]


def three_windows(path):
    """Writes covariances of three windows.

    Their entries are multiples of 1/4096, so that they are the same on every machine.
    """
    state, subjects, trials, inputs, n = 1, 6, 18, 3, 5
    numbers = []
    for _ in range(subjects * trials * inputs * n * 2 * n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append((state >> 33) % 127 - 63)
    factors = np.array(numbers, float).reshape(subjects * trials, inputs, n, 2 * n) / 64
    labels = np.arange(subjects * trials) % 3
    factors[np.arange(len(labels)), :, labels] *= 2
    # Without a preparation, the run would begin with a warning.
    branches = [{"band": [8, 32], "filter": "none", "window": [start, start + 1]} for start in range(inputs)]
    np.savez(
        path,
        preparation=json.dumps({"branches": branches}),
        kind="covariances",
        X=factors @ factors.transpose(0, 1, 3, 2),
        y=labels,
        classes=np.array(["feet", "left", "right"]),
        subject=np.repeat(np.arange(1, subjects + 1), trials),
        session=np.ones(len(labels), int),
        run=np.ones(len(labels), int),
        channels=np.array([f"channel {number}" for number in range(1, n + 1)]),
        inputs=np.array(["early", "middle", "late"]),
        sfreq=1.0,
        unit="1",
    )


def run(name, folder):
    """Runs one experiment in its own folder and returns the folder."""
    out = folder / name
    if name in REHEARSALS:
        from fedspd.flower import rehearse

        nodes = [
            {"partition-id": number, "name": site, "subjects": subjects, "state": str(folder / site)}
            for number, (site, subjects) in enumerate(SITES.items())
        ]
        return rehearse("sample", nodes, out, changes="; ".join(changes(REHEARSALS[name], folder)))
    words = ["fedspd", "run", "sample", "--out", str(out), "--progress", "off", "--quiet"]
    for change in changes(RUNS[name], folder):
        words += ["--set", change]
    if _core.command(words) != 0:
        raise SystemExit(f"`{name}` failed")
    return out


def changes(settings, folder):
    """Returns settings as on the command line."""
    if settings["data.name"].endswith(".npz"):
        path = folder / settings["data.name"]
        three_windows(path)
        settings = {**settings, "data.name": str(path)}
    return [f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items()]


def hashes(folder):
    """Returns the hashes of a run folder: tensors, numeric result columns, numbers of events."""
    return {
        "tensors": sha256(b"".join(tensors(path) for path in sorted((folder / "models").glob("*.safetensors")))),
        "results": sha256(results(folder / "results.csv")),
        "events": sha256(events(folder / "events.jsonl")),
    }


def sha256(text):
    return hashlib.sha256(text).hexdigest()


def tensors(path):
    """Returns names, shapes and bytes of the tensors of a model file, without its metadata."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    header.pop("__metadata__", None)
    return json.dumps(header, sort_keys=True).encode() + content[8 + length :]


def results(path):
    with path.open(newline="") as file:
        rows = [[row[key] for key in ("participation", "seed", "round", "value")] for row in csv.DictReader(file)]
    return json.dumps(rows).encode()


def events(path):
    return json.dumps([without_texts(json.loads(line)) for line in path.read_text().splitlines()]).encode()


def without_texts(value):
    """Returns a JSON value without texts, except the kind of an event and its participants."""
    if isinstance(value, dict):
        kept = ("event", "participants")
        return {key: item if key in kept else without_texts(item) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [without_texts(item) for item in value]
    return None if isinstance(value, str) else value


def main():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in [*RUNS, *REHEARSALS]:
            found[name] = hashes(run(name, Path(folder)))
    HASHES.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
