#!/usr/bin/env python3
"""Times one federated SPDnet run by fedspd and by torch, on the same data.

    python3 bench/peers/federated.py FILE.npz [ROUNDS]

Prints a Markdown table. The run has 53 clients, 150 rounds, 2 local epochs and ProjAvg. FILE.npz
holds covariances of PhysionetMI: `fedspd data prepare physionet-mi --root DIR --out FILE.npz`.

torch is set up with care. Two processes of one thread each train every other client. A QR
factorisation after each step keeps W orthonormal, which is cheaper than a trivialisation. An SVD
projects the mean. Both sides validate all clients after every round for the learning rate. Compare
only ratios from one run.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from compare import HERE, ROOT, environment

PROCESSES = 2


def fedspd(data, rounds, folder, path=None):
    command = [ROOT / "target" / "release" / "fedspd", "run", "sample", "--set", f"data.name={json.dumps(str(data))}"]
    command += ["--set", f"federated.rounds={rounds}", "--set", f"run.eval_every={rounds}", "--threads", str(PROCESSES)]
    variables = {**os.environ, **({"FEDSPD_SIMD": path} if path else {})}
    result = subprocess.run([*command, "--out", folder, "--quiet", "--format", "json"], check=True, capture_output=True, text=True, env=variables)
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest["wall_seconds"], json.loads(result.stdout)["macro_f1"]["mean"]


def main(data, rounds=150):
    python = environment()
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        rows["fedspd"] = fedspd(Path(data).resolve(), int(rounds), Path(folder) / "before")
        rows["fedspd on AVX2"] = fedspd(Path(data).resolve(), int(rounds), Path(folder) / "avx2", "avx2")
        for name in ("torch", "torch_fused"):
            print(f"{name} ...", file=sys.stderr, flush=True)
            command = [python, __file__, "--torch", name, data, str(rounds)]
            result = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
            rows[name] = json.loads(result.stdout.splitlines()[-1])
        # fedspd runs before and after the others, because the machine may be busy at either time.
        again = fedspd(Path(data).resolve(), int(rounds), Path(folder) / "after")
        rows["fedspd"] = min(rows["fedspd"], again)
    ours, avx2 = rows["fedspd"][0], rows["fedspd on AVX2"][0]
    print(f"{rounds} rounds, {PROCESSES} threads or processes.\n\n| | time | | to AVX2 | test macro-F1 |\n|---|---|---|---|---|")
    for name, (seconds, f1) in rows.items():
        print(f"| {name} | {seconds:.1f} s | **{seconds / ours:.1f}x** | {seconds / avx2:.1f}x | {100 * f1:.1f} |")


def torch_main(contender, data, rounds):
    """Runs the same experiment in torch; prints seconds and macro-F1."""
    import copy

    import numpy as np
    import torch
    import torch.multiprocessing as processes
    from contenders import LogOfClamp, TorchSpdNet, rectify_then_log

    file = np.load(data, allow_pickle=False)
    x, y, subject = torch.from_numpy(file["X"].astype(np.float64)), torch.from_numpy(file["y"].astype(np.int64)), file["subject"]
    subjects = sorted(set(subject.tolist()), key=lambda s: (len(str(s)), s))
    pairs = [subjects[i : i + 2] for i in range(0, len(subjects), 2)]
    random = np.random.default_rng(0)
    clients = []
    for pair in pairs:
        parts = [[], [], []]
        for who in pair:
            for label in range(len(file["classes"])):
                own = random.permutation(np.flatnonzero((subject == who) & (y.numpy() == label)))
                cuts = np.round(np.cumsum([0.75, 0.10]) * len(own)).astype(int)
                for part, piece in zip(parts, np.split(own, cuts)):
                    part.extend(piece.tolist())
        clients.append([torch.tensor(part) for part in parts])
    x.share_memory_()
    torch.manual_seed(0)
    function = {"torch": rectify_then_log, "torch_fused": LogOfClamp.apply}[contender]
    network = TorchSpdNet(function, x.shape[-1], 18, len(file["classes"]), torch.float64)
    loss = torch.nn.CrossEntropyLoss()

    def local(state, client, rate, seed):
        network.load_state_dict(state)
        optimiser = torch.optim.Adam(network.parameters(), lr=rate)
        generator = torch.Generator().manual_seed(seed)
        train = clients[client][0]
        for _ in range(2):
            for batch in train[torch.randperm(len(train), generator=generator)].split(64):
                optimiser.zero_grad()
                loss(network(x[batch]), y[batch]).backward()
                optimiser.step()
                network.retract()
        return copy.deepcopy(network.state_dict())

    def validate(state, part, client):
        network.load_state_dict(state)
        with torch.inference_mode():
            trials = clients[client][part]
            logits = network(x[trials])
            return loss(logits, y[trials]).item(), logits.argmax(1)

    def worker(place, receive, send):
        torch.set_num_threads(1)
        own = range(place, len(clients), PROCESSES)
        while (order := receive.get()) is not None:
            state, rate, round_, part = order
            if part is None:
                send.put([local(state, client, rate, round_ * len(clients) + client) for client in own])
            else:
                send.put([(client, *validate(state, part, client)) for client in own])

    context = processes.get_context("fork")
    queues = [(context.SimpleQueue(), context.SimpleQueue()) for _ in range(PROCESSES)]
    workers = [context.Process(target=worker, args=(place, *queue)) for place, queue in enumerate(queues)]
    for process in workers:
        process.start()

    def everyone(order):
        for send, _ in queues:
            send.put(order)
        return [answer for _, receive in queues for answer in receive.get()]

    state = copy.deepcopy(network.state_dict())
    schedule = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(schedule, patience=20, factor=0.5)
    start = time.perf_counter()
    for round_ in range(rounds):
        states = everyone((state, schedule.param_groups[0]["lr"], round_, None))
        state = {name: torch.stack([reply[name] for reply in states]).mean(0) for name in state}
        u, _, v = torch.linalg.svd(state["w"], full_matrices=False)
        state["w"] = u @ v
        losses = [answer[1] for answer in everyone((state, None, round_, 1))]
        plateau.step(sum(losses) / len(losses))
    seconds = time.perf_counter() - start
    answers = everyone((state, None, rounds, 2))
    for send, _ in queues:
        send.put(None)
    for process in workers:
        process.join()
    truth = torch.cat([y[clients[client][2]] for client, _, _ in answers])
    predicted = torch.cat([prediction for _, _, prediction in answers])
    scores = []
    for label in range(len(file["classes"])):
        hits = ((truth == label) & (predicted == label)).sum().item()
        scores.append(2 * hits / max(1, ((truth == label).sum() + (predicted == label).sum()).item()))
    print(json.dumps([seconds, sum(scores) / len(scores)]))


if __name__ == "__main__":
    if sys.argv[1] == "--torch":
        torch_main(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main(*sys.argv[1:])
