#!/usr/bin/env python3
"""Compares our kernels with NumPy/LAPACK on one thread; prints a Markdown table of ratios.

    python3 bench/compare.py

Both sides are measured in alternation, several rounds each. A round counts with its median call.
The fastest round counts, on both sides, because other programs may slow down a round. Compare only
ratios from one run. The script makes a virtual environment with NumPy if there is none.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

NUMPY = "numpy==2.4.6"
ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 9
BUDGET = 0.06  # seconds per case and round, as in the Rust program


def in_virtual_environment():
    """Restarts this script with a Python that has NumPy; installs NumPy if necessary."""
    venv = ROOT / ".venv"
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", NUMPY], check=True)
    os.execve(python, [python, __file__], {**os.environ, "FEDSPD_BENCH_READY": "1"})


if "FEDSPD_BENCH_READY" not in os.environ:
    in_virtual_environment()
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402  (threads are limited above, before BLAS starts)


def cases():
    """Yields the computations of src/main.rs, written as a NumPy user would."""
    rng = np.random.default_rng(0)

    def covariances(n, count, dtype=np.float64):
        x = rng.standard_normal((count, n, 3 * n))
        return (x @ x.transpose(0, 2, 1) / (3 * n)).astype(dtype)

    for n in (18, 22, 64):
        for dtype, name in ((np.float64, "f64"), (np.float32, "f32")):
            a = covariances(n, 64, dtype)
            yield f"eigh {name} 64 x {n} x {n}", lambda a=a: np.linalg.eigh(a)

    a, g = covariances(18, 64), covariances(18, 64)
    floor = 0.5

    def log_of_clamp():
        values, u = np.linalg.eigh(a)
        return (u * np.log(np.maximum(values, floor))[:, None, :]) @ u.transpose(0, 2, 1)

    def log_of_clamp_derivative():
        values, u = np.linalg.eigh(a)
        ut = u.transpose(0, 2, 1)
        f = np.log(np.maximum(values, floor))
        gap = values[:, :, None] - values[:, None, :]
        equal = np.abs(gap) < 1e-12
        slope = np.where(values > floor, 1 / np.maximum(values, floor), 0)
        loewner = np.where(equal, slope[:, :, None], (f[:, :, None] - f[:, None, :]) / np.where(equal, 1, gap))
        return u @ (loewner * (ut @ g @ u)) @ ut

    yield "log of clamp 64 x 18 x 18", log_of_clamp
    yield "log of clamp derivative 64 x 18 x 18", log_of_clamp_derivative

    def uf(x):
        u, _, vt = np.linalg.svd(x, full_matrices=False)
        return u @ vt

    p, k = 64, 18
    w = np.linalg.qr(rng.standard_normal((p, k)))[0]
    points = np.stack([uf(w + 0.01 * rng.standard_normal((p, k))) for _ in range(53)])

    def project(x):
        m = w.T @ x
        return x - w @ ((m + m.T) / 2)

    yield "ProjAvg 53 x 64 x 18", lambda: uf(points.mean(axis=0))
    yield "RLAvg 53 x 64 x 18", lambda: uf(w + project(points.mean(axis=0)))
    yield "polar factor 64 x 18", lambda: uf(points[0])
    yield "QR factor 64 x 18", lambda: np.linalg.qr(points[0])
    yield "tangent projection 64 x 18", lambda: project(points[0])

    c = covariances(64, 45)

    def mean():
        g = c.mean(axis=0)
        for _ in range(50):
            values, u = np.linalg.eigh(g)
            root, inverse = (u * np.sqrt(values)) @ u.T, (u / np.sqrt(values)) @ u.T
            values, u = np.linalg.eigh(inverse @ c @ inverse)
            step = ((u * np.log(values)[:, None, :]) @ u.transpose(0, 2, 1)).mean(axis=0)
            if np.linalg.norm(step) <= 1e-8:
                break
            values, u = np.linalg.eigh(step)
            g = root @ ((u * np.exp(values)) @ u.T) @ root
        return g

    yield "affine-invariant mean 45 x 64 x 64", mean


def median_nanoseconds(compute):
    """Returns the median time of one call, over as many calls as fit the budget."""
    compute()
    times, start = [], time.perf_counter()
    while time.perf_counter() - start < BUDGET or len(times) < 5:
        once = time.perf_counter_ns()
        compute()
        times.append(time.perf_counter_ns() - once)
    return statistics.median(times)


def main():
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "fedspd-bench"], cwd=ROOT, check=True)
    program = ROOT / "target" / "release" / "fedspd-bench"
    peers = list(cases())
    ours, theirs = {}, {}
    for number in range(ROUNDS):
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
        for name, compute in peers:
            theirs.setdefault(name, []).append(median_nanoseconds(compute))
        output = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        for line in map(json.loads, output.splitlines()):
            ours.setdefault(line["case"], {}).setdefault(line["simd"], []).append(line["nanoseconds"])

    paths = list(next(iter(ours.values())))
    print(f"NumPy {np.__version__} (one thread) and fedspd, one run; the fastest of {ROUNDS} rounds, each the median of its calls.\n")
    print("| case | NumPy, µs | " + " | ".join(f"{path}, µs | ratio" for path in paths) + " |")
    print("|---|---|" + "---|---|" * len(paths))
    for name, _ in peers:
        peer = min(theirs[name]) / 1e3
        row = [name, f"{peer:.1f}"]
        for path in paths:
            time_ours = min(ours[name][path]) / 1e3
            row += [f"{time_ours:.1f}", f"**{peer / time_ours:.1f}x**"]
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
