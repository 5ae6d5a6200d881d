"""Starts a run and waits for its end. ``flwr run`` reports success even if the run fails later."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

PRIVATE = {
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "NO_COLOR": "1",
}
"""Settings that stop all traffic to outsiders: telemetry and update checks are off."""


SCRIPTS = sysconfig.get_path("scripts")
"""The folder of the Flower commands that belong to this Python."""


def environment() -> dict[str, str]:
    """Returns this process's environment, with telemetry and update checks off.

    The path includes ``SCRIPTS``, because Flower commands find each other on the path.
    """
    return {**os.environ, **PRIVATE, "PATH": os.pathsep.join([SCRIPTS, os.environ.get("PATH", "")])}


def command(name: str) -> str:
    """Returns the path of a Flower command."""
    return str(Path(SCRIPTS) / name)


def launch(app: str, superlink: str | None, run_config: list[str], poll: float = 5.0) -> int:
    """Runs an app to its end and returns an exit code.

    The code is 0 if the run completed, 1 if it failed or was stopped, 130 after Ctrl-C.
    """
    where = [superlink] if superlink else []
    changes = [word for change in run_config for word in ("--run-config", change)]
    begun = _json("run", app, *where, *changes)
    if not begun.get("success"):
        print(begun.get("error-message", begun), file=sys.stderr)
        return 1
    run = str(begun["run-id"])
    print(f"run {run} started", flush=True)
    try:
        while not (status := _status(run, where)).startswith("finished"):
            time.sleep(poll)
    except KeyboardInterrupt:
        words = " ".join(["flwr", "stop", run, *where])
        print(f"run {run} continues; `{words}` stops it", file=sys.stderr)
        return 130
    print(f"run {run}: {status}", flush=True)
    if status == "finished:completed":
        return 0
    logged = subprocess.run(
        [command("flwr"), "log", run, *where, "--show"], env=environment(), capture_output=True, text=True, check=False
    )
    print(logged.stdout + logged.stderr, file=sys.stderr)
    return 1


def _status(run: str, where: list[str]) -> str:
    """Returns the status of the run; asks up to 20 times if the SuperLink does not answer."""
    last: dict[str, Any] = {}
    for _ in range(20):
        last = _json("list", *where, "--run-id", run)
        if last.get("success") and last.get("runs"):
            found = last["runs"][0]
            if found.get("status-details") not in (None, "", "N/A"):
                print(found["status-details"], file=sys.stderr, flush=True)
            return str(found["status"])
        time.sleep(3)
    return f"finished:unknown ({last.get('error-message', last)})"


def _json(verb: str, *words: str) -> dict[str, Any]:
    done = subprocess.run(
        [command("flwr"), verb, *words, "--format", "json"], env=environment(), capture_output=True, text=True, check=False
    )
    start = done.stdout.find("{")
    try:
        said: dict[str, Any] = json.loads(done.stdout[start:])
    except ValueError:
        return {"success": False, "error-message": (done.stdout + done.stderr).strip()}
    return said
