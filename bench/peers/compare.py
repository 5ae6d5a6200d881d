#!/usr/bin/env python3
"""Times SPDnet by fedspd, plain torch, spd_learn and torch fused by hand, on one thread.

    python3 bench/peers/compare.py [f64|f32]

Prints a Markdown table of medians and ratios. The argument is the precision; f64 is the default.
The script makes its own virtual environment (torch is a large download). The contenders take turns
for several rounds. A round counts with its median call. The fastest round counts, for every
contender, because other programs may slow down a round. Compare only ratios from one run.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

PACKAGES = ["torch==2.15.0", "spd_learn==0.2.1"]
PEERS = ["torch", "spd_learn", "torch_fused"]
ROUNDS = 5
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")}


def environment():
    """Returns a Python with the peers installed."""
    python = HERE / ".venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", HERE / ".venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def run(name, command):
    """Runs a contender.

    Returns nanoseconds by case, peak memory in kilobytes, and the instruction set if it is printed.
    """
    path = {"FEDSPD_SIMD": "avx2"} if name == "fedspd_avx2" else {}
    result = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **ONE_THREAD, **path})
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    times = {line["case"]: line["nanoseconds"] for line in lines if "case" in line}
    return times, *(next((line[key] for line in lines if key in line), None) for key in ("kilobytes", "simd"))


def main(precision):
    python = environment()
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "fedspd-bench", "--bin", "network"], cwd=ROOT, check=True)
    ours = [ROOT / "target" / "release" / "network", precision]
    contenders = {
        "fedspd": ours,
        "fedspd_avx2": ours,
        **{name: [python, HERE / "contenders.py", name, precision] for name in PEERS},
    }
    best, memory, simd = {name: {} for name in contenders}, {}, None
    for turn in range(ROUNDS):
        for name, command in contenders.items():
            print(f"\rround {turn + 1} of {ROUNDS}: {name:<12}", end="", file=sys.stderr, flush=True)
            times, kilobytes, found = run(name, command)
            simd = simd or found
            memory[name] = max(memory.get(name, 0), kilobytes)
            for case, nanoseconds in times.items():
                best[name][case] = min(best[name].get(case, nanoseconds), nanoseconds)
    print(file=sys.stderr)
    print(f"{', '.join(PACKAGES)} and fedspd on {simd}, {precision}, one thread; the fastest of {ROUNDS} rounds, each the median of its calls.\n")
    print(f"| case | {simd} | AVX2 | torch | | AVX2 | spd_learn | torch fused by hand | | AVX2 |\n|---|---|---|---|---|---|---|---|---|---|")

    def row(case, unit, scale, values):
        ours, avx2, torch, library, fused = (values[name] / scale for name in ("fedspd", "fedspd_avx2", *PEERS))
        # The ratio is to the faster of torch and spd_learn.
        best = min(torch, library)
        print(f"| {case} | {ours:.1f} {unit} | {avx2:.1f} {unit} | {torch:.1f} {unit} | **{best / ours:.1f}x** | {best / avx2:.1f}x"
              f" | {library:.1f} {unit} | {fused:.1f} {unit} | **{fused / ours:.1f}x** | {fused / avx2:.1f}x |")

    for case in best["fedspd"]:
        row(case.replace(f" {precision}", ""), "µs", 1e3, {name: best[name][case] for name in best})
    row("peak memory of the process", "MB", 1024, memory)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "f64")
