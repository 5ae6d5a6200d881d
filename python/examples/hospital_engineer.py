# %% [markdown]
# # Federated training between hospitals, for the engineer who deploys it
#
# One machine is enough to see which data leave a hospital, which stay, and what happens when a
# hospital drops out. `rehearse` runs a deployment with its server, clients and Flower messages;
# only the network is missing. Run the cells from top to bottom, in a notebook or as a program.

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
# The `--node-config` of each node gives its name, its data, and the folder for its private state.
# Here the nodes share the embedded sample: real EEG of eight subjects, two in each hospital. A real
# hospital names its recordings: `"data": "/etc/fedspd/charite.toml", "root": "/data/eeg/edf"`.

# %%
hospitals = {"charite": "1,2", "lariboisiere": "3,4", "ucl": "5,6", "karolinska": "7,8"}
nodes = [
    {"partition-id": number, "name": name, "subjects": subjects, "state": str(folder / name)}
    for number, (name, subjects) in enumerate(hospitals.items())
]

# %% [markdown]
# ## Data that leave a hospital
#
# `watch` sees every reply. Arrays have names and shapes, everything else is text, so a hospital can
# read all that it sends.

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
print("sent before the first round:", {key: said[key] for key in ("name", "number", "trials")})
print("bytes of parameters sent in three rounds:", dict(sent))
assert len(set(sent.values())) == 1

# %% [markdown]
# ## Failures
#
# In the second round one hospital sends a NaN and another one fails. The server names both and
# closes the round without them. With `minimum_reporting=3` the run would stop instead. Started
# again, it would continue after its last round.


# %%
def trouble(message, context, call_next):
    name, kind = context.node_config["name"], message.metadata.message_type
    second = kind == "train" and message.content["task"]["round"] == 1
    if second and name == "karolinska":
        raise RuntimeError("the disk is full")
    reply = call_next(message, context)
    if second and name == "lariboisiere":
        arrays = {name: array.numpy().copy() for name, array in reply.content["message"].items()}
        next(iter(arrays.values())).flat[0] = float("nan")
        reply.content["message"] = ArrayRecord({name: Array(values) for name, values in arrays.items()})
    return reply


troubled = rehearse(
    "sample", nodes, folder / "troubled", client=client_app(mods=[trouble]), changes="federated.rounds=3", minimum_reporting=2
)

# %% [markdown]
# ## The run folder
#
# The folder is like that of any run: `fedspd report`, `fedspd eval` and `fedspd export` read it.
# The log names the clients that did not count, and why.

# %%
events = [json.loads(line) for line in (troubled / "events.jsonl").read_text().splitlines()]
for event in events:
    if event["event"] == "warning":
        print(event["text"])
dropped = [[client["client"] for client in event["dropped"]] for event in events if event["event"] == "round"]
assert dropped == [[], ["lariboisiere", "karolinska"], []]
assert any("lariboisiere" in event["text"] and "NaN" in event["text"] for event in events if event["event"] == "warning")
assert (troubled / "models" / "seed-0.safetensors").is_file()

# %% [markdown]
# ## Certificates and keys
#
# The server gets a certificate, each hospital a pair of keys. A key is registered under the name of
# its hospital, and no other hospital can use it.

# %%
for path in make(folder / "keys", ["flower.example.org"], list(hospitals)):
    print(path.name)

# %% [markdown]
# ## Deployment
#
# `fedspd flower new study` writes the Flower app. The page "Deployment across hospitals" of
# the book explains the other steps.
