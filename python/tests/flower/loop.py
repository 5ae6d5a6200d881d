"""Rounds without Flower: a loop passes messages between the coordinator and its sites."""

import json

from fedspd import _core

CLIENTS = {"a": [1, 2], "b": [3, 4], "c": [5, 6], "d": [7, 8]}
"""The subjects of the sample that each client holds."""


def settings(rounds=3, **more):
    """Returns the changes to the sample configuration for all tests, as on the command line."""
    clients = ", ".join(f"{name} = {json.dumps([str(s) for s in subjects])}" for name, subjects in CLIENTS.items())
    changes = {
        "data.subjects": "1-8",
        "federated.clients": f"{{ {clients} }}",
        "federated.rounds": rounds,
        "run.threads": 1,
        "federated.on_client_failure": "skip",
    }
    changes.update(more)
    return [f"{key}={value}" for key, value in changes.items()]


def run_in_process(changes, folder, preset="sample"):
    """Runs the experiment by the command, in one process."""
    words = ["fedspd", "run", str(preset), "--out", str(folder)]
    for change in changes:
        words += ["--set", change]
    assert _core.command(words) == 0


def policy(name, number, **data):
    """Returns the policy of a site that needs no approval."""
    own = [f"{key} = {json.dumps(value)}" for key, value in data.items()]
    return "\n".join([f"name = {json.dumps(name)}", f"number = {number}", 'approval = "automatic"', "[data]", *own])


def sites(config, state, subjects=CLIENTS, own=lambda subjects: {"subjects": ",".join(map(str, subjects))}):
    """Returns one site per client, with its own subjects only."""
    return [
        _core.Site.asked(policy(name, number, **own(held)), "site.toml", state, config)
        for number, (name, held) in enumerate(subjects.items())
    ]


def coordinator(config, folder, sites, quorum=1):
    """Returns the server of the sites."""
    return _core.Coordinator(config, "sample", folder, [site.introduce() for site in sites], quorum)


def play_round(server, sites, lost=()):
    """Plays one round; lost clients do not reply."""
    # Replies may arrive in any order.
    for client, reply in reversed(train(server, sites, lost)):
        server.submit(client, reply)
    plan = server.close()
    for client, scores in evaluate(server, sites, plan, lost):
        server.score(client, scores)
    server.advance()


def train(server, sites, lost=()):
    """Returns the clients of the round and their replies."""
    plan = server.plan()
    return [
        (client, sites[client].train(server.identity, plan["exchange"], epochs, plan["learning_rate"], since, plan["message"]))
        for client, epochs, since in plan["clients"]
        if client not in lost
    ]


def evaluate(server, sites, plan, lost=()):
    """Returns all clients and their scores of the model."""
    asked = plan["validated"], plan["tested"]
    return [
        (client, site.evaluate(server.identity, plan["message"], plan["since"][client], *asked))
        for client, site in enumerate(sites)
        if client not in lost
    ]


def play(server, sites):
    """Plays all remaining rounds."""
    while not server.finished:
        play_round(server, sites)
