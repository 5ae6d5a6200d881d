"""A real deployment on loopback: SuperLink and SuperNodes as processes, with TLS and keys."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from fedspd import _core
from fedspd.flower.keys import make
from fedspd.flower.launch import command, environment

from . import loop

NAMES = list(loop.CLIENTS)

FAULTY_CLIENT = '''
"""The app's client. Some nodes misbehave, as their node-config tells them."""

import time
from pathlib import Path

from flwr.app import Array, ArrayRecord, Context

from fedspd.flower import client_app


def fault(message, context, call_next):
    kind, marker = (context.node_config.get(key) for key in ("fault", "marker"))
    # The client refuses settings that it does not know. Flower keeps a changed context.
    known = {key: value for key, value in context.node_config.items() if key not in ("fault", "marker")}
    context = Context(context.run_id, context.node_id, known, context.state, context.run_config)
    training = message.metadata.message_type == "train"
    if kind == "hang" and training and message.content["task"]["round"] == 1:
        Path(marker).touch()
        time.sleep(600)
    reply = call_next(message, context)
    if kind in ("nan", "off") and training and reply.has_content():
        arrays = {name: array.numpy().copy() for name, array in reply.content["message"].items()}
        first = next(iter(arrays))
        if kind == "nan":
            arrays[first].flat[3] = float("nan")
        else:
            arrays[first] *= 1.01
        reply.content["message"] = ArrayRecord({name: Array(values) for name, values in arrays.items()})
    return reply


app = client_app(mods=[fault])
'''


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def descendants(pid):
    """Returns all descendants of a process."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            # The name ends at the last bracket and may contain any character.
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found, next_ = [], {pid}
    while next_:
        next_ = {child for child, parent in parents.items() if parent in next_}
        found += next_
    return found


class Deployment:
    """The processes of a deployment, in one folder. `close` kills all of them."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.port = free_port()
        self.environment = {**environment(), "FLWR_HOME": str(folder / "flwr"), "PYTHONUNBUFFERED": "1"}
        self.processes = {}
        self.keys = folder / "keys"
        make(self.keys, ["127.0.0.1", "localhost"], [*NAMES, "stranger"])
        (folder / "flwr").mkdir()
        (folder / "flwr" / "config.toml").write_text(
            '[superlink]\ndefault = "loopback"\n\n[superlink.loopback]\n'
            f'address = "127.0.0.1:{self.port}"\nroot-certificates = "{self.keys / "ca.crt"}"\n'
        )
        self.app = folder / "app"
        assert _core.command(["fedspd", "flower", "new", str(self.app)]) == 0
        (self.app / "fedspd_app" / "client_app.py").write_text(FAULTY_CLIENT)
        (self.app / "fedspd_app" / "experiment.toml").write_text(_core.resolve("", "sample", loop.settings()))

    def start(self, name, *words):
        log = open(self.folder / f"{name}.log", "ab")
        process = subprocess.Popen(
            [command(words[0]), *words[1:]],
            env=self.environment,
            cwd=self.folder,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self.processes[name] = process
        return process

    def kill(self, name):
        """Kills a process and its descendants, because Flower starts them in their own sessions."""
        process = self.processes.pop(name)
        for pid in [process.pid, *descendants(process.pid)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()

    def stop(self, name):
        """Stops a node cleanly.

        The key of a killed node stays in use until the SuperLink notices that the node is gone.
        """
        self.processes[name].terminate()
        self.processes[name].wait(60)
        self.kill(name)

    def close(self):
        for name in list(self.processes):
            self.kill(name)

    def log(self, name):
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def start_superlink(self):
        keys = self.keys
        self.start(
            "superlink", "flower-superlink", "--host", "127.0.0.1", "--port", str(self.port),
            "--ssl-ca-certfile", str(keys / "ca.crt"), "--ssl-certfile", str(keys / "server.crt"),
            "--ssl-keyfile", str(keys / "server.key"), "--enable-supernode-auth",
            "--database", str(self.folder / "state.db"), "--disable-runtime-dependency-installation",
        )  # fmt: skip
        self.until(lambda: self.flwr("list").get("success"), 90, "superlink")

    def register(self, name):
        said = self.flwr("supernode", "register", str(self.keys / f"{name}.pub"), "--name", name)
        assert said.get("success"), said

    def start_node(self, name, *, process=None, keys=None, authority=None, **config):
        """Starts a node of this name with its own key, or with the given keys and authority."""
        number = NAMES.index(name)
        keys = ["--auth-supernode-private-key", str(self.keys / f"{name}.key")] if keys is None else keys
        config = {
            "partition-id": number,
            "name": name,
            "subjects": ",".join(map(str, loop.CLIENTS[name])),
            "state": str(self.folder / "states" / name),
            **config,
        }
        words = " ".join(f"{key}={json.dumps(value)}" for key, value in config.items())
        return self.start(
            process or name, "flower-supernode", "--superlink", f"127.0.0.1:{self.port}", "--host", "127.0.0.1",
            "--port", str(free_port()), "--root-certificates", str(authority or self.keys / "ca.crt"),
            *keys, "--node-config", words,
        )  # fmt: skip

    def flwr(self, *words):
        done = subprocess.run(
            [command("flwr"), *words, "--format", "json"], env=self.environment, capture_output=True, text=True
        )
        try:
            return json.loads(done.stdout[done.stdout.find("{") :])
        except ValueError:
            return {"success": False, "text": done.stdout + done.stderr}

    def run(self, out, **config):
        """Starts a run with the launcher."""
        config = {"out": str(out), **config}
        words = " ".join(f"{key.replace('_', '-')}={json.dumps(value)}" for key, value in config.items())
        log = open(self.folder / "launcher.log", "ab")
        self.processes["launcher"] = subprocess.Popen(
            [sys.executable, "-m", "fedspd.flower", "run", str(self.app), "--run-config", words],
            env=self.environment, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip
        return self.processes["launcher"]

    def until(self, holds, seconds, *logs):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if holds():
                return
            time.sleep(0.5)
        raise AssertionError("\n".join(self.log(name)[-4000:] for name in logs))
