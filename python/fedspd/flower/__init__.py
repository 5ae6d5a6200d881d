"""Federated training across machines, with Flower.

``server_app`` and ``client_app`` make a complete Flower app over the Rust core. Server, clients and
resulting bytes are the same as with ``fedspd run``. ``ProjAvg``, ``RLAvg`` and ``Projected`` are
strategies for your own Flower apps, whatever library their clients use. ``fedspd flower new DIR``
writes an app to start from. ``rehearse`` runs a deployment in one process.
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
