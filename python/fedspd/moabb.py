"""Bridge between MOABB and this package.

The estimators of ``fedspd.sklearn`` are the last step of a pipeline in MOABB's evaluations, after
pyRiemann's ``Covariances``. ``PIPELINES`` is a folder of such pipeline files for
``moabb.benchmark``.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from fedspd import _core

#: The folder with pipeline files.
PIPELINES = str(Path(__file__).with_name("pipelines"))


def results(
    folder: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], metric: str = "accuracy"
) -> pd.DataFrame:
    """Returns the test scores of run folders as MOABB results, one row per run, seed and client.

    Parameters
    ----------
    folder : path or sequence of paths
        One or several run folders, as written by ``fedspd run``.
    metric : str
        The score: ``"accuracy"``, ``"macro_f1"`` or another metric in the run's ``results.csv``.

    Returns
    -------
    pandas.DataFrame
        The columns that MOABB's analysis and plots take: score, time, samples, subject, session,
        channels, n_sessions, dataset and pipeline. The column seed is added. The time is the
        duration of the whole run in seconds, divided by the number of seeds. Samples are the
        training trials of the client. The pipeline is network and method, such as
        ``spdnet proj-avg``. Several runs are told apart by the settings in which they differ, such
        as ``spdnet proj-avg, model.dims 18``.
    """
    folders = [folder] if isinstance(folder, str | os.PathLike) else list(folder)
    runs = [_run(Path(path), metric) for path in folders]
    if len(runs) > 1:
        names = _core.distinct_names([run["pipeline"].iloc[0] for run in runs], [os.fspath(path) for path in folders])
        runs = [run.assign(pipeline=name) for run, name in zip(runs, names)]
    return pd.concat(runs, ignore_index=True)


def _run(folder: Path, metric: str) -> pd.DataFrame:
    """Returns the test scores of one run folder."""
    rows = pd.read_csv(folder / "results.csv")
    manifest = pd.read_json(folder / "manifest.json", typ="series")
    shards = pd.read_json(folder / "shards.json", typ="series")
    # A run with several folds has an entry for each: a client trains on most of its trials in turn.
    clients: dict[tuple[int, str], int] = {}
    for seed in shards["seeds"]:
        for client in seed["clients"]:
            pair = (seed["seed"], client["name"])
            clients[pair] = max(clients.get(pair, 0), sum(client["train"]))
    found = rows[(rows["split"] == "test") & (rows["metric"] == f"final_{metric}")]
    if "fold" in found:
        found = found[found["fold"].isna()]
    found = found[[pair in clients for pair in zip(found["seed"], found["client"])]]
    if found.empty:
        names = sorted(name.removeprefix("final_") for name in rows["metric"].unique() if name.startswith("final_"))
        raise ValueError(f"{folder} has no client test scores for the metric {metric!r}; available: {', '.join(names)}")
    method = found["aggregation"].where(found["mode"] == "federated", found["mode"])
    return pd.DataFrame(
        {
            "score": found["value"],
            "time": (manifest["wall_seconds"] or float("nan")) / len(manifest["seeds"]),
            "samples": [clients[pair] for pair in zip(found["seed"], found["client"])],
            "subject": found["client"],
            "session": "0",
            "channels": len(manifest["channels"]),
            "n_sessions": 1,
            "dataset": found["dataset"],
            "pipeline": found["model"] + " " + method,
            "seed": found["seed"],
        }
    )
