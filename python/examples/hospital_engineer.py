# %% [markdown]
# # Federated training between hospitals, for the engineer who deploys it
#
# Before anything is installed elsewhere, one machine is enough to see what will travel, what will stay, and what happens when a hospital drops out.
# `rehearse` plays a deployment with the server, the clients and the messages of Flower that the hospitals will have; only the network is missing.
# The cells run from top to bottom, in any notebook or as a program.

# %%
import collections
import json
import logging
import tempfile
from pathlib import Path

from flwr.app import Array, ArrayRecord

from fedspd.flower import client_app, rehearse
from fedspd.flower.keys import make

logging.basicConfig(format="%(message)s")
folder = Path(tempfile.mkdtemp())

# %% [markdown]
# ## The hospitals
#
# What each node will say with `--node-config`: who it is, what it reads, and where it keeps what must not leave it. Here they share the embedded sample, real EEG
# of eight people, two in each hospital; a hospital has its own recordings: `"data": "/etc/fedspd/charite.toml", "root": "/data/eeg/edf"`.

# %%
hospitals = {"charite": "1,2", "lariboisiere": "3,4", "ucl": "5,6", "karolinska": "7,8"}
nodes = [
    {"partition-id": number, "name": name, "subjects": subjects, "state": str(folder / name)}
    for number, (name, subjects) in enumerate(hospitals.items())
]

# %% [markdown]
# ## What leaves a hospital
#
# Every reply passes here. Numbers have names and shapes, the rest is text: a hospital that wants to know what it sends reads it.

# %%
sent = collections.Counter()
introductions = {}


def watch(name, asked, reply):
    arrays = [array for record in reply.content.array_records.values() for array in record.values()]
    sent[name] += sum(len(array.data) for array in arrays)
    if asked.metadata.message_type == "query":
        introductions[name] = json.loads(reply.content["task"]["introduction"])


rehearse("sample", nodes, folder / "run", watch=watch, changes="federated.rounds=3")
said = introductions["charite"]
print("said before the first round:", {key: said[key] for key in ("name", "number", "trials")})
print("bytes of parameters sent in three rounds:", dict(sent))
assert len(set(sent.values())) == 1

# %% [markdown]
# ## When something goes wrong
#
# In the second round one hospital sends a NaN and another one fails. Both are named, and the round is closed without them. With `minimum_reporting=3` the run
# would stop there instead, and go on from its last round when it is started again.


# %%
def trouble(message, context, call_next):
    name, kind = context.node_config["name"], message.metadata.message_type
    second = kind == "train" and message.content["task"]["round"] == 1
    if second and name == "karolinska":
        raise RuntimeError("the disk is full")
    reply = call_next(message, context)
    if second and name == "lariboisiere":
        arrays = {name: array.numpy().copy() for name, array in reply.content["parameters"].items()}
        next(iter(arrays.values())).flat[0] = float("nan")
        reply.content["parameters"] = ArrayRecord({name: Array(values) for name, values in arrays.items()})
    return reply


troubled = rehearse(
    "sample", nodes, folder / "troubled", client=client_app(mods=[trouble]), changes="federated.rounds=3", minimum_reporting=2
)

# %% [markdown]
# ## The run folder
#
# That of any run: `fedspd report`, `fedspd eval` and `fedspd export` read it. The log says who did not count, and why.

# %%
events = [json.loads(line) for line in (troubled / "events.jsonl").read_text().splitlines()]
for event in events:
    if event["event"] == "warning":
        print(event["text"])
dropped = [[client["client"] for client in event["dropped"]] for event in events if event["event"] == "round"]
assert dropped == [[], ["lariboisiere", "karolinska"], []]
assert (troubled / "models" / "seed-0.safetensors").is_file()

# %% [markdown]
# ## Certificates and keys
#
# The server's certificate, and a pair of keys for each hospital; a key is registered under the name of its hospital, and is nobody else's.

# %%
for path in make(folder / "keys", ["flower.example.org"], list(hospitals)):
    print(path.name)

# %% [markdown]
# ## From here to a deployment
#
# `fedspd flower new study` writes the Flower app, and the page "Across hospitals" of the book goes through the rest step by step.
