# %% [markdown]
# # Federated training between hospitals, for the engineer who deploys it
#
# Before anything is installed elsewhere, one machine is enough to see what will travel, what will stay, and what happens when a hospital drops out.
# The same objects are behind `fedspd.flower`; here a loop hands messages over instead of a network. The cells run from top to bottom, in any notebook or
# as a program.

# %%
import json
import logging
import tempfile
from pathlib import Path

import numpy as np

from fedspd import _core

logging.basicConfig(format="%(message)s")
folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## The experiment
#
# The embedded sample: real EEG of eight people, two in each of four hospitals. In a deployment this is the app's `experiment.toml`.

# %%
config = _core.resolve("", "sample", ["data.subjects=1-8", "federated.rounds=3", "federated.on_client_failure=skip"])

# %% [markdown]
# ## The hospitals
#
# Each has its own trials, and a folder for what it keeps. What is different at a hospital is what its node says with `--node-config`.

# %%
hospitals = {"charite": "1,2", "lariboisiere": "3,4", "ucl": "5,6", "karolinska": "7,8"}
sites = [
    _core.Site(config, [f"data.subjects={subjects}"], name, number, folder / name)
    for number, (name, subjects) in enumerate(hospitals.items())
]

# %% [markdown]
# This is all that a hospital says of itself before the first round. Nobody is named.

# %%
introductions = [site.introduce() for site in sites]
said = json.loads(introductions[0])
print({key: said[key] for key in ("name", "number", "trials")})

# %% [markdown]
# ## What travels
#
# Arrays by name and shape. A hospital that wants to know what leaves it looks at these.

# %%
server = _core.Coordinator(config, "sample", folder / "run", introductions, 2)
for name, shape in server.travelling:
    print(f"{name:20} {shape}")

# %% [markdown]
# ## Rounds
#
# In the second round one hospital is not heard of, and another sends a NaN: both are named, and the round is closed without them.


# %%
def train(client, epochs, since, plan):
    parameters, trials, loss = sites[client].train(
        plan["round"], epochs, plan["learning_rate"], since, plan["parameters"]
    )
    if plan["round"] == 1 and client == 1:
        broken = np.frombuffer(parameters, server.dtype).copy()
        broken[0] = np.nan
        parameters = broken.tobytes()
    return parameters, trials, loss


while not server.finished:
    plan = server.plan()
    for client, epochs, since in plan["clients"]:
        if (plan["round"], client) != (1, 3):
            server.submit(client, *train(client, epochs, since, plan))
    examination = server.close()
    for client, site in enumerate(sites):
        since = examination["since"][client]
        server.judge(client, *site.evaluate(examination["parameters"], since, examination["tested"]))
    server.advance()

# %% [markdown]
# ## The run folder
#
# That of any run: `fedspd report`, `fedspd eval` and `fedspd export` read it. The log says who did not count, and why.

# %%
events = [json.loads(line) for line in (folder / "run" / "events.jsonl").read_text().splitlines()]
for event in events:
    if event["event"] == "warning":
        print(event["text"])
dropped = [[client["client"] for client in event["dropped"]] for event in events if event["event"] == "round"]
assert dropped == [[], ["lariboisiere", "karolinska"], []]
assert (folder / "run" / "models" / "seed-0.safetensors").is_file()

# %% [markdown]
# ## From here to a deployment
#
# `fedspd flower new study` writes the Flower app, `python -m fedspd.flower keys` makes certificates and keys, and the page "Across hospitals" of the
# book goes through the rest step by step.
