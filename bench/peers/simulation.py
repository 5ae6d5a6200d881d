#!/usr/bin/env python3
"""Runs one federated SPDnet workload with fedspd, Flower's simulation engine and Apple's pfl.

    python3 bench/peers/simulation.py [--clients 100 1000 10000] [--participation 0.01 0.1]
                                      [--engines fedspd flower pfl] [--fresh]

Prints rounds per second and peak memory as a Markdown table.

**Workload.** Each client holds 20 synthetic covariances, 64 x 64 in f64: 16 for training and 4 for
validation, one of each class. The network is the paper's: BiMap 64x18, ReEig(1e-2), LogEig,
linear head with 4 classes. A client trains 2 epochs with a new Adam, learning rate 1e-3. Batches
hold at most 64 trials, so a client makes 2 steps. The server averages all parameters uniformly and
projects W onto the Stiefel manifold.

**Validation.** No engine validates in the timed rounds (`run.validate_every` of fedspd).

**Peers.** Both run the network "fused by hand" of contenders.py, the fastest in torch that we know.
Flower has two Ray workers of one thread each. pfl has two processes of one thread each under
torchrun, or one process where a round has one client. fedspd has two threads.

**Time.** The script records when an engine reports the end of a round. Set-up lasts until the end
of the first round: start, data, first messages. Later rounds count: at least 3 rounds and at least
20 seconds. The script stops a cell after 10 minutes in total. Its rate is then an upper bound
("below"), because the interrupted round counts as done.

**Memory.** The largest sum of the proportional set sizes (PSS) of all processes of an engine,
sampled at most twice a second. Every engine holds the trials of all clients in memory. fedspd
generates them and holds them twice: as generated and as the network reads them. The peers map one
file, which their processes share, and read all of it before they train. 10,000 clients have 6.6 GB
of trials: fedspd needs 14 GB of memory, and the file 6.6 GB of disk while the script runs.

Environments, trials, logs and results are in target/simulation. A finished cell is not run again
without --fresh. Linux only, because of /proc. Compare numbers of one run only.
"""

import argparse
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / "target" / "simulation"
RESULTS = CACHE / "results.json"
TRIALS_FILE = CACHE / "trials.npy"

# Flower 1.42 asks for a certifi that the package index did not have when this was written.
PACKAGES = {
    "flower": ["flwr[simulation]==1.41.0", "ray==2.55.1", "torch==2.15.0", "numpy==2.4.6"],
    "pfl": ["pfl[pytorch]==0.6.0", "torch==2.15.0", "numpy==2.4.6"],
}
ENGINES = ["fedspd", *PACKAGES]

CHANNELS, DIMENSION, CLASSES = 64, 18, 4
TRAINING, VALIDATION = 16, 4  # trials of a client
BATCH, EPOCHS, RATE = 64, 2, 1e-3
CORES = 2

ROUNDS, SECONDS, LIMIT = 3, 20.0, 600.0
ENDLESS = 1_000_000  # rounds; the script stops an engine that has done enough
MARK = "simulation:"  # begins the lines by which the peers report

Cell = dict[str, Any]


def bytes_of_trials(clients: int) -> int:
    return clients * (TRAINING + VALIDATION) * CHANNELS * CHANNELS * 8


def environment(engine: str) -> Path:
    """Returns a Python with the packages of a peer."""
    python = CACHE / engine / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", CACHE / engine], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES[engine]], check=True)
    return python


def command(engine: str, clients: int, participation: float, folder: Path) -> list[str]:
    if engine == "fedspd":
        settings = {
            "data.name": "generated",
            "data.generated.subjects": clients,
            "data.generated.trials": TRAINING + VALIDATION,
            "data.generated.channels": CHANNELS,
            "data.generated.classes": CLASSES,
            "split.train": TRAINING / (TRAINING + VALIDATION),
            "split.val": VALIDATION / (TRAINING + VALIDATION),
            "split.test": 0,
            "model.dims": f"[{DIMENSION}]",
            "model.epsilon": 1e-2,
            "train.lr": RATE,
            "train.batch": BATCH,
            "train.scheduler": "constant",
            "federated.subjects_per_client": 1,
            "federated.participation": participation,
            "federated.epochs_local": EPOCHS,
            "federated.rounds": ENDLESS,
            # The peers write no checkpoints either.
            "run.checkpoint_every": ENDLESS,
            "run.validate_every": ENDLESS,
        }
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        program = [str(ROOT / "target" / "release" / "fedspd"), "run", "sample", *words]
        return [*program, "--threads", str(CORES), "--progress", "json", "--out", str(folder / "run")]
    python = str(CACHE / engine / "bin" / "python")
    cohort = str(round(clients * participation))
    if engine == "flower":
        # As a module and not as a script: Ray then sends functions by name and not by value.
        return [python, "-c", "import simulation_flower; simulation_flower.main()", str(clients), cohort, str(folder)]
    # pfl 0.6.0 crashes in a process that has no client of a round.
    processes = min(CORES, int(cohort))
    launch = [] if processes == 1 else ["-m", "torch.distributed.run", f"--nproc-per-node={processes}", "--standalone"]
    return [python, *launch, str(HERE / "simulation_pfl.py"), str(clients), cohort]


def descendants() -> list[int]:
    """Returns all descendants of this process, including orphans, which become its children."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # The name in parentheses may hold spaces; the state and the parent follow it.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found: list[int] = []
    waiting = [os.getpid()]
    while waiting:
        own = children.get(waiting.pop(), [])
        found += own
        waiting += own
    return found


def proportional_memory() -> int:
    """Returns the bytes that all processes of the engine hold, a shared page counted once."""
    total = 0
    for process in descendants():
        try:
            rollup = Path(f"/proc/{process}/smaps_rollup").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
    return total


def end(process: subprocess.Popen[str]) -> None:
    """Ends an engine with all its processes."""
    while running := descendants():
        for one in running:
            try:
                os.kill(one, signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait()
        try:
            while os.waitpid(-1, 0)[0]:
                pass
        except ChildProcessError:
            pass


def ends_round(line: str) -> bool:
    """Returns whether a line reports the end of a round."""
    return line.startswith(MARK) or '"what":"rounds"' in line


def measure(engine: str, clients: int, participation: float) -> Cell:
    """Runs an engine until it has done enough rounds or the time is up."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    quiet = {"FLWR_TELEMETRY_ENABLED": "0", "RAY_USAGE_STATS_ENABLED": "0"}
    variables = {**os.environ, **threads, **quiet, "PYTHONPATH": str(HERE), "SIMULATION_TRIALS": str(TRIALS_FILE)}
    log = CACHE / f"{engine}-{clients}-{participation}.log"
    ends: list[float] = []
    with tempfile.TemporaryDirectory(prefix="sim") as folder, log.open("w") as lines:
        start = time.perf_counter()
        process = subprocess.Popen(
            command(engine, clients, participation, Path(folder)),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables, cwd=folder,
        )

        def read() -> None:
            for line in process.stdout or ():
                now = time.perf_counter()
                if ends_round(line):
                    ends.append(now)
                else:
                    lines.write(line)

        reader = threading.Thread(target=read)
        reader.start()
        peak, enough = 0, False
        try:
            while process.poll() is None and not enough and time.perf_counter() - start < LIMIT:
                before = time.perf_counter()
                peak = max(peak, proportional_memory())
                # The kernel walks all pages of a process for its PSS. The pause limits this to 1/50
                # of a core.
                time.sleep(max(0.5, 50 * (time.perf_counter() - before)))
                enough = len(ends) > ROUNDS and ends[-1] - ends[0] >= SECONDS
            failed = process.poll() is not None
        finally:
            stop = time.perf_counter()
            end(process)
            reader.join()
    if failed:
        sys.exit(f"error: {engine} exited early with code {process.returncode}\nhint: its output is in {log.relative_to(ROOT)}")
    times = summary(ends, start) if enough else unfinished(ends, start, stop)
    return {"engine": engine, "clients": clients, "participation": participation, "enough": enough, "peak": peak, **times}


def summary(ends: list[float], start: float) -> Cell:
    """Counts rounds and seconds after the first round."""
    return {"rounds": len(ends) - 1, "set_up": ends[0] - start, "seconds": ends[-1] - ends[0]}


def unfinished(ends: list[float], start: float, stop: float) -> Cell:
    """Counts the interrupted round as done, so that the rate is an upper bound."""
    return {"rounds": len(ends), "set_up": ends[0] - start, "seconds": stop - ends[0]} if ends else {"rounds": 0}


def row(cell: Cell, ours: Cell | None) -> str:
    """Returns a line of the table; the ratio is to fedspd in the same cell."""
    if cell["rounds"]:
        rate = cell["rounds"] / cell["seconds"]
        base = ours["rounds"] / ours["seconds"] if ours and ours["enough"] else None
        below, above = ("", "") if cell["enough"] else ("below ", "above ")
        columns = [f"{below}{rate:.3g}", f"**{above}{base / rate:.1f}x**" if base else "", f"{cell['set_up']:.0f} s"]
    else:
        columns = ["no round in 10 min", "", ""]
    trials = bytes_of_trials(cell["clients"])
    sizes = [f"{cell['peak'] / 1e6:,.0f} MB", f"{trials / 1e6:,.0f} MB"]
    return f"| {cell['clients']:,} | {cell['participation']:.0%} | {cell['engine']} | {' | '.join([*columns, *sizes])} |"


def check_room(clients: int) -> None:
    """Exits if memory or disk is too small for the largest cell."""
    available = next(line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable"))
    memory, disk = int(available.split()[1]) * 1024, shutil.disk_usage(CACHE).free
    trials = bytes_of_trials(clients)
    for what, found, needed in (("memory", memory, 2.2 * trials + 2e9), ("disk", disk, 1.1 * trials)):
        if found < needed:
            sys.exit(f"error: {clients:,} clients need {needed / 1e9:.1f} GB of {what}; {found / 1e9:.1f} GB are free\nhint: give fewer --clients")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Rounds per second and memory of fedspd, Flower and pfl on one workload.")
    parser.add_argument("--clients", type=int, nargs="+", default=[100, 1_000, 10_000])
    parser.add_argument("--participation", type=float, nargs="+", default=[0.01, 0.1])
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=ENGINES)
    parser.add_argument("--fresh", action="store_true", help="discard the results of finished cells")
    chosen = parser.parse_args()
    for clients in chosen.clients:
        for participation in chosen.participation:
            if not (participation <= 1 and clients * participation >= 1):
                parser.error(f"--participation {participation:g} of {clients} clients must give 1 to {clients} clients per round")
    return chosen


def main() -> None:
    chosen = parse()
    if not Path("/proc/self/smaps_rollup").exists():
        sys.exit("error: this script measures memory through /proc/PID/smaps_rollup, which only Linux has")
    CACHE.mkdir(parents=True, exist_ok=True)
    check_room(max(chosen.clients))
    if chosen.fresh:
        RESULTS.unlink(missing_ok=True)
    results: dict[str, Cell] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=ROOT, check=True)
    pythons = {engine: environment(engine) for engine in chosen.engines if engine in PACKAGES}
    # Orphans become our children, so that memory sums and `end` include them.
    subreaper = 36
    ctypes.CDLL(None).prctl(subreaper, 1, 0, 0, 0)
    cells = [(c, p, e) for c in chosen.clients for p in chosen.participation for e in chosen.engines]
    written = None
    try:
        for place, (clients, participation, engine) in enumerate(cells, 1):
            key = f"{engine} {clients} {participation}"
            name = f"cell {place} of {len(cells)}: {engine}, {clients:,} clients, {participation:.0%}"
            if key in results:
                print(f"{name}: done before", file=sys.stderr, flush=True)
                continue
            if engine in pythons and written != clients:
                print(f"trials of {clients:,} clients ...", file=sys.stderr, flush=True)
                write = [str(pythons[engine]), "-c", "import simulation_torch; simulation_torch.write()", str(clients), str(TRIALS_FILE)]
                subprocess.run(write, check=True, cwd=HERE)
                written = clients
            print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
            cell = results[key] = measure(engine, clients, participation)
            RESULTS.write_text(json.dumps(results, indent=1))
            print(f"{cell['rounds']} rounds in {cell.get('seconds', LIMIT):.1f} s", file=sys.stderr, flush=True)
    finally:
        TRIALS_FILE.unlink(missing_ok=True)
    packages = ", ".join(sorted({package for engine in pythons for package in PACKAGES[engine]}))
    print(f"fedspd and {packages}; {CORES} cores.\n" if packages else f"{CORES} cores.\n")
    print("| clients | participation | engine | rounds/s | | set-up | peak memory | trials, one copy |")
    print("|---|---|---|---|---|---|---|---|")
    for clients, participation, engine in cells:
        print(row(results[f"{engine} {clients} {participation}"], results.get(f"fedspd {clients} {participation}")))


if __name__ == "__main__":
    main()
