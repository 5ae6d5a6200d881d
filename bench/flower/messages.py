#!/usr/bin/env python3
"""Time of the messages of a site, in a real deployment of Flower on loopback.

    .venv/bin/python bench/flower/messages.py ROOT

ROOT holds recordings of subjects 1 to 8 of PhysionetMI (imagery runs). Four sites with two subjects
each read them, recentre each subject and train 5 rounds of the paper's network: 10 messages a site.
`.venv` is the environment that `./test` makes. Prints the time that the site's app needs for its first
and its tenth message, and for its introduction; medians over the sites.
"""

import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python" / "tests"))

from flower import loop
from flower.deployment import NAMES, Deployment

from fedspd import _core

ROUNDS = 5

CLIENT = '''
"""The app's client. It notes the time of every message."""

import json
import time
from pathlib import Path

from fedspd.flower import client_app


def timed(message, context, call_next):
    begin = time.perf_counter()
    reply = call_next(message, context)
    entry = [message.metadata.message_type, time.perf_counter() - begin]
    with (Path(context.node_config["state"]) / "times.jsonl").open("a") as file:
        file.write(json.dumps(entry) + "\\n")
    return reply


app = client_app(mods=[timed])
'''


def times(state):
    return [json.loads(line) for line in (state / "times.jsonl").read_text().splitlines()]


def main(root):
    changes = [change for change in loop.settings(rounds=ROUNDS) if not change.startswith("data.")]
    changes += ["data.name=physionet-mi", "data.subjects=1-8", "align.kind=riemannian"]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        deployment = Deployment(folder)
        try:
            (deployment.app / "fedspd_app" / "client_app.py").write_text(CLIENT)
            (deployment.app / "fedspd_app" / "experiment.toml").write_text(_core.resolve("", "sample", changes))
            deployment.start_superlink()
            for name in NAMES:
                (folder / "states" / name).mkdir(parents=True)
                deployment.register(name)
                deployment.start_node(name, root=str(Path(root).resolve()))
            if deployment.run(folder / "run").wait(600) != 0:
                raise SystemExit(deployment.log("launcher"))
            sites = [times(folder / "states" / name) for name in NAMES]
        finally:
            deployment.close()
    rounds = [[seconds for kind, seconds in site if kind != "query"] for site in sites]
    rows = {
        "introduction": [seconds for site in sites for kind, seconds in site if kind == "query"][: len(sites)],
        "first message": [site[0] for site in rounds],
        "tenth message": [site[2 * ROUNDS - 1] for site in rounds],
    }
    print("| | median over the sites |\n|---|---|")
    for name, seconds in rows.items():
        print(f"| {name} | {1000 * statistics.median(seconds):.0f} ms |")


if __name__ == "__main__":
    main(*sys.argv[1:])
