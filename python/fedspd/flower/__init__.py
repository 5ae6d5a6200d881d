"""Federated training across machines, with Flower.

``server_app`` and ``client_app`` are a whole Flower app over the Rust core: the same server, the same clients and the same bytes as
``fedspd run``. ``ProjAvg``, ``RLAvg`` and ``Projected`` are for Flower apps of one's own, whatever their clients train with.
``fedspd flower new DIR`` writes an app to begin with; ``rehearse`` plays a deployment in one process.
"""

try:
    import flwr  # noqa: F401
except ImportError as error:
    raise ImportError("fedspd.flower needs Flower: pip install 'fedspd[flower]'") from error

from fedspd.flower.client import client_app
from fedspd.flower.projected import Projected
from fedspd.flower.rehearsal import rehearse
from fedspd.flower.server import Settings, server_app
from fedspd.flower.strategies import ProjAvg, RLAvg

__all__ = ["ProjAvg", "Projected", "RLAvg", "Settings", "client_app", "rehearse", "server_app"]
