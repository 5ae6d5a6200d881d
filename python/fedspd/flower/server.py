"""The server: Flower carries the messages, the Rust core makes their content."""

from __future__ import annotations

import difflib
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.serverapp import Grid, ServerApp

from fedspd import _core
from fedspd.flower import messages
from fedspd.flower.gather import GRACE, gather
from fedspd.flower.roster import Roster

log = logging.getLogger("fedspd")


@dataclass(frozen=True)
class Settings:
    """Settings of a deployment, in ``[tool.flwr.app.config]`` with hyphens for underscores."""

    clients: int
    """The number of clients. The run waits for all of them before its first round."""
    out: str
    """The run folder on the server. An unfinished run in this folder is continued."""
    changes: str = ""
    """Changes to the configuration, such as ``federated.rounds=10; train.lr=0.01``."""
    minimum_reporting: int = 1
    """The quorum. With fewer counted replies a round is not closed and the run stops.

    Start it again to continue.
    """
    straggler_cutoff_time: float = 600.0
    """Seconds after which a round goes on without the clients that have not replied."""
    on_client_failure: str = "skip"
    """``skip`` or ``stop``. Replaces the experiment's ``federated.on_client_failure``.

    ``changes`` takes precedence.
    """
    patience: float = 3600.0
    """Seconds to wait for all clients before the first round."""

    @classmethod
    def of(cls, run_config: Mapping[str, Any]) -> Settings:
        """Returns the settings in an app's configuration.

        Refuses unknown keys, because a typing error could disable the quorum.
        """
        names = {field.name.replace("_", "-"): field.name for field in fields(cls)}
        for key in run_config:
            if key not in names:
                near = difflib.get_close_matches(key, names, 1)
                hint = f"; did you mean `{near[0]}`?" if near else f"; there are {', '.join(names)}"
                raise ValueError(f"unknown key `{key}` under [tool.flwr.app.config]{hint}")
        for key in ("clients", "out"):
            if key not in run_config:
                raise ValueError(f"`{key}` is missing under [tool.flwr.app.config]")
        return cls(**{names[key]: value for key, value in run_config.items()})

    def __post_init__(self) -> None:
        whole, number = (int,), (int, float)
        for name, kinds, least in [
            ("clients", whole, 1),
            ("minimum_reporting", whole, 1),
            ("straggler_cutoff_time", number, 1e-3),
            ("patience", number, 0),
        ]:
            value = getattr(self, name)
            if type(value) not in kinds or not least <= value < math.inf:
                kind = "a whole number" if kinds is whole else "a number"
                raise ValueError(f"`{name.replace('_', '-')}` is {value!r}; it must be {kind} of {least:g} or more")
        for name in ("out", "changes", "on_client_failure"):
            if not isinstance(getattr(self, name), str):
                raise ValueError(f"`{name.replace('_', '-')}` is {getattr(self, name)!r}; it must be text")

    def configuration(self, source: str | Path) -> tuple[str, str]:
        """Returns the resolved configuration of a file or built-in experiment, and its name."""
        path = Path(source)
        text = path.read_text() if path.is_file() else ""
        changes = [change.strip() for change in self.changes.split(";") if change.strip()]
        # First, so that the user's changes take precedence.
        changes.insert(0, f"federated.on_client_failure={self.on_client_failure}")
        return _core.resolve(text, str(source), changes), path.stem


def server_app(source: str | Path) -> ServerApp:
    """Returns a Flower server for a configuration file or a built-in experiment."""
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        for handler in logging.getLogger("flwr").handlers:
            log.addHandler(handler)
        log.setLevel(logging.INFO)
        run_rounds(grid, source, Settings.of(context.run_config))

    return app


def run_rounds(grid: Grid, source: str | Path, settings: Settings) -> None:
    """Runs all remaining rounds."""
    config, name = settings.configuration(source)
    roster = Roster(grid, config, settings.clients, settings.straggler_cutoff_time)
    introductions = roster.await_all(settings.patience)
    folder = Path(settings.out).expanduser()
    server = _core.Coordinator(config, name, folder, introductions, settings.minimum_reporting)
    log.info("%d of %d rounds are done; the run is in %s", *server.rounds, folder)
    try:
        while not server.finished:
            _Round(grid, server, roster, config, settings.straggler_cutoff_time).run()
            log.info("round %d of %d is done", *server.rounds)
    except BaseException:
        if not server.finished:
            server.abandon()
        raise


@dataclass
class _Round:
    grid: Grid
    server: _core.Coordinator
    roster: Roster
    config: str
    cutoff: float

    def run(self) -> None:
        plan = None
        while plan is None:
            self._exchange()
            plan = self.server.close()
        self._evaluate(plan)
        self.server.advance()

    def _exchange(self) -> None:
        connected = self.roster.refresh()
        plan = self.server.plan()
        arrays, (round_, exchange) = messages.pack(plan["message"]), plan["exchange"]
        asked = {}
        for client, epochs, since in plan["clients"]:
            if client not in connected:
                self.server.fail(client, "its node is not connected")
                continue
            task = {"round": round_, "exchange": exchange, "epochs": epochs, "learning-rate": plan["learning_rate"]}
            asked[client] = self._message(client, "train", arrays, {**task, **messages.since(since)})
        gather(self.grid, asked, self.cutoff, self._trained, self.server.fail)

    def _evaluate(self, plan: dict[str, Any]) -> None:
        asked_for = {key: plan[key] for key in ("validated", "tested")}
        if not any(asked_for.values()):
            return
        connected = self.roster.refresh()
        arrays = messages.pack(plan["message"])
        asked = {}
        for client, since in enumerate(plan["since"]):
            if client not in connected:
                self.server.no_scores(client, "its node is not connected")
                continue
            asked[client] = self._message(client, "evaluate", arrays, {**asked_for, **messages.since(since)})
        gather(self.grid, asked, self.cutoff, self._scored, self.server.no_scores)

    def _message(self, client: int, kind: str, arrays: ArrayRecord, task: dict[str, Any]) -> Message:
        said = {**task, "run": self.server.identity, "study": _core.study(self.config)}
        content = RecordDict({messages.PARTS: arrays, "task": ConfigRecord(said)})
        return Message(content, self.roster.nodes[client], kind, ttl=self.cutoff + GRACE)

    def _trained(self, client: int, content: RecordDict) -> None:
        self.server.submit(client, messages.unpack(content))

    def _scored(self, client: int, content: RecordDict) -> None:
        self.server.score(client, messages.unpack(content))
