"""Federated learning of SPD networks on EEG, with weights that stay on the Stiefel manifold."""

from fedspd._core import Error, __version__

__all__ = ["Error", "__version__"]
