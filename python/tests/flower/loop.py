"""Rounds without Flower: the coordinator and its sites in one process, messages handed over by a loop."""

import json

from fedspd import _core

CLIENTS = {"a": [1, 2], "b": [3, 4], "c": [5, 6], "d": [7, 8]}
"""Who has which subjects of the sample."""


def settings(rounds=3, **more):
    """Changes to the sample that every test begins with, as on the command line."""
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
    """The same run by the command."""
    words = ["fedspd", "run", str(preset), "--out", str(folder)]
    for change in changes:
        words += ["--set", change]
    assert _core.command(words) == 0


def sites(config, state, subjects=CLIENTS, own=lambda subjects: [f"data.subjects={','.join(map(str, subjects))}"]):
    """One site for each client, with its own subjects alone."""
    return [
        _core.Site(config, own(held), name, number, state)
        for number, (name, held) in enumerate(subjects.items())
    ]


def coordinator(config, folder, sites, quorum=1):
    """The server of these sites."""
    return _core.Coordinator(config, "sample", folder, [site.introduce() for site in sites], quorum)


def play_round(server, sites, lost=()):
    """One round; nothing is heard of those who are lost."""
    # Replies may come in any order.
    for client, reply in reversed(train(server, sites, lost)):
        server.submit(client, reply)
    examination = server.close()
    for client, verdicts in judge(server, sites, examination, lost):
        server.judge(client, verdicts)
    server.advance()


def train(server, sites, lost=()):
    """The clients that were asked, and their replies."""
    plan = server.plan()
    return [
        (client, sites[client].train(server.identity, plan["exchange"], epochs, plan["learning_rate"], since, plan["message"]))
        for client, epochs, since in plan["clients"]
        if client not in lost
    ]


def judge(server, sites, examination, lost=()):
    """All clients, and what the model made of their trials."""
    asked = examination["validated"], examination["tested"]
    return [
        (client, site.evaluate(server.identity, examination["message"], examination["since"][client], *asked))
        for client, site in enumerate(sites)
        if client not in lost
    ]


def play(server, sites):
    """All rounds that are left."""
    while not server.finished:
        play_round(server, sites)
