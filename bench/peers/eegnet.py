#!/usr/bin/env python3
"""Times EEGNet by fedspd, torch and braindecode, on one thread and on two.

    python3 bench/peers/eegnet.py

Prints Markdown tables of medians and ratios. The script uses the virtual environment of compare.py
and adds braindecode. torch runs in its default layout and in channels-last, which suits its
convolutions better. braindecode's EEGNet has the same sizes except for three defaults: sixteen taps
in the separable convolution, max-norm constraints, and its own batch-normalisation constants. The
contenders take turns. A round counts with its median call. The fastest round counts, for every
contender.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

PACKAGES = ["torch==2.15.0", "braindecode==1.8.1"]
PEERS = ["torch", "torch_channels_last", "braindecode"]
ROUNDS, BATCH, BUDGET = 2, 64, 1.0
SHAPES = ((64, 480, 160, 4), (60, 800, 200, 7))
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def torch_network(channels, samples, rate, classes):
    """Returns the paper's layers in plain torch."""
    import torch
    from torch import nn

    temporal, separable = max(round(0.5 * rate), 32), max(round(rate / 8), 8)
    return nn.Sequential(
        nn.Conv2d(1, 8, (1, temporal), padding="same", bias=False),
        nn.BatchNorm2d(8),
        nn.Conv2d(8, 16, (channels, 1), groups=8, bias=False),
        nn.BatchNorm2d(16), nn.ELU(), nn.AvgPool2d((1, 4)), nn.Dropout(0.25),
        nn.Conv2d(16, 16, (1, separable), padding="same", groups=16, bias=False),
        nn.Conv2d(16, 16, 1, bias=False),
        nn.BatchNorm2d(16), nn.ELU(), nn.AvgPool2d((1, 8)), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(16 * (samples // 32), classes),
    )


def contender(name, threads):
    """Times one peer and prints the same JSON lines as the Rust program."""
    import torch

    torch.set_num_threads(threads)
    for channels, samples, rate, classes in SHAPES:
        torch.manual_seed(0)
        x, y = torch.randn(BATCH, channels, samples), torch.arange(BATCH) % classes
        if name == "braindecode":
            # braindecode imports torchaudio, whose wheels do not load with a torch built for
            # another CUDA. Its EEGNet does not use torchaudio, so a mock replaces it.
            from unittest.mock import MagicMock

            sys.modules |= {name: MagicMock() for name in ("torchaudio", "torchaudio.functional", "torchaudio.transforms")}
            from braindecode.models import EEGNet

            network = EEGNet(n_chans=channels, n_outputs=classes, n_times=samples, F1=8, D=2, F2=16, kernel_length=max(round(0.5 * rate), 32), drop_prob=0.25)
        else:
            network, x = torch_network(channels, samples, rate, classes), x[:, None]
            if name == "torch_channels_last":
                network, x = network.to(memory_format=torch.channels_last), x.contiguous(memory_format=torch.channels_last)
        optimiser, loss = torch.optim.Adam(network.parameters(), lr=1e-3), torch.nn.CrossEntropyLoss()

        def infer(count):
            with torch.inference_mode():
                return network(x[:count])

        def step():
            optimiser.zero_grad()
            loss(network(x), y).backward()
            optimiser.step()

        def measure(case, compute):
            compute()
            start, times = time.perf_counter(), []
            while time.perf_counter() - start < BUDGET or len(times) < 3:
                once = time.perf_counter_ns()
                compute()
                times.append(time.perf_counter_ns() - once)
            print(json.dumps({"case": f"{case} {channels}x{samples}", "nanoseconds": statistics.median(times)}), flush=True)

        network.eval()
        measure("inference of one trial", lambda: infer(1))
        measure("inference of 64 trials", lambda: infer(BATCH))
        network.train()
        measure("training step", step)
    print(json.dumps({"kilobytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss}))


def run(name, command, threads):
    """Runs a contender.

    Returns nanoseconds by case, peak memory in kilobytes, and the instruction set if it is printed.
    """
    path = {"FEDSPD_SIMD": "avx2"} if name == "fedspd_avx2" else {}
    limits = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    result = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **limits, **path})
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    times = {line["case"]: line["nanoseconds"] for line in lines if "case" in line}
    return times, *(next((line[key] for line in lines if key in line), None) for key in ("kilobytes", "simd"))


def main():
    sys.path.insert(0, str(HERE))
    import compare

    compare.PACKAGES = PACKAGES
    python = compare.environment()
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "fedspd-bench", "--bin", "eegnet"], cwd=ROOT, check=True)
    for threads in (1, 2):
        ours = [ROOT / "target/release/eegnet", str(threads)]
        commands = {"fedspd": ours, "fedspd_avx2": ours}
        commands |= {name: [python, __file__, name, str(threads)] for name in PEERS}
        best, memory, simd = {name: {} for name in commands}, {}, None
        for turn in range(ROUNDS):
            for name, command in commands.items():
                print(f"\r{threads} threads, round {turn + 1} of {ROUNDS}: {name:<20}", end="", file=sys.stderr, flush=True)
                times, kilobytes, found = run(name, command, threads)
                simd = simd or found
                memory[name] = max(memory.get(name, 0), kilobytes)
                for case, nanoseconds in times.items():
                    best[name][case] = min(best[name].get(case, nanoseconds), nanoseconds)
        print(file=sys.stderr)
        print(f"\n{threads} thread{'s' if threads > 1 else ''}, f32, fedspd on {simd}; the fastest of {ROUNDS} rounds, each the median of its calls.\n")
        heads = "".join(f" {name} | | AVX2 |" for name in ("torch", "torch, channels last", "braindecode"))
        print(f"| case | {simd} | AVX2 |{heads}\n|{'---|' * 12}")

        def row(case, unit, scale, digits, values):
            ours, avx2 = values["fedspd"], values["fedspd_avx2"]
            columns = [f"{x / scale:.{digits}f} {unit}" for x in (ours, avx2)]
            for name in PEERS:
                # Only fedspd has a preparation step: the peers read trials directly.
                peer = values.get(name)
                columns += [f"{peer / scale:.2f} {unit}", f"**{peer / ours:.1f}x**", f"{peer / avx2:.1f}x"] if peer else ["-", "", ""]
            print(f"| {case} | {' | '.join(columns)} |")

        for case in best["fedspd"]:
            row(case, "ms", 1e6, 3, {name: times[case] for name, times in best.items() if case in times})
        row("peak memory of the process", "MB", 1024, 0, memory)


if __name__ == "__main__":
    contender(sys.argv[1], int(sys.argv[2])) if len(sys.argv) > 2 else main()
