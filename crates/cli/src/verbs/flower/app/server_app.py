"""The server of the app."""

from pathlib import Path

from fedspd.flower import server_app

app = server_app(Path(__file__).with_name("experiment.toml"))
