"""Bridge between MOABB and this package.

The estimators of ``fedspd.sklearn`` are the last step of a pipeline in MOABB's evaluations, after
pyRiemann's ``Covariances``. ``PIPELINES`` is a folder of such pipeline files for
``moabb.benchmark``.
"""

import os
from pathlib import Path

import pandas as pd

#: The folder with pipeline files.
PIPELINES = str(Path(__file__).with_name("pipelines"))


def results(folder: str | os.PathLike[str], metric: str = "accuracy") -> pd.DataFrame:
    """Returns the test scores of a run folder as MOABB results, one row per seed and client.

    Parameters
    ----------
    folder : path
        A run folder, as written by ``fedspd run``.
    metric : str
        The score: ``"accuracy"``, ``"macro_f1"`` or another metric in the run's ``results.csv``.

    Returns
    -------
    pandas.DataFrame
        The columns that MOABB's analysis and plots take: score, time, samples, subject, session,
        channels, n_sessions, dataset and pipeline. The column seed is added. The time is the
        duration of the whole run in seconds, divided by the number of seeds. Samples are the
        training trials of the client.
    """
    folder = Path(folder)
    rows = pd.read_csv(folder / "results.csv")
    manifest = pd.read_json(folder / "manifest.json", typ="series")
    shards = pd.read_json(folder / "shards.json", typ="series")
    clients = {
        (seed["seed"], client["name"]): sum(client["train"]) for seed in shards["seeds"] for client in seed["clients"]
    }
    found = rows[(rows["split"] == "test") & (rows["metric"] == f"final_{metric}")]
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
    ).reset_index(drop=True)
