"""Federated learning of SPD networks on EEG, with weights that stay on the Stiefel manifold.

This module holds the geometry: functions of NumPy arrays, float64 or float32. Estimators for
scikit-learn are in ``fedspd.sklearn``, the bridge to MOABB is in ``fedspd.moabb``.
``python -m fedspd`` runs the command.
"""

from fedspd._core import (
    ConvergenceError,
    Error,
    Model,
    NotPositiveDefiniteError,
    __version__,
    consensus,
    distance_logeuclid,
    distance_riemannian,
    eigh,
    exp_map,
    expm,
    feasibility_error,
    geodesic,
    inverse_retract,
    invsqrtm,
    isometric_vech,
    karcher_mean,
    lift,
    load_sample,
    log_map,
    logm,
    mean_logeuclid,
    mean_riemannian,
    polar,
    powm,
    proj_avg,
    qr_avg,
    qr_factor,
    r_barycenter,
    random_stiefel,
    reeig,
    ret_avg,
    retract,
    rl_avg,
    sqrtm,
    stiefel_exp,
    stiefel_log,
    tangent_project,
    transport,
    vec,
    vech,
    whiten,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from fedspd.model import TrainedModel, load_model

__all__ = [
    "ConvergenceError",
    "Error",
    "Model",
    "NotPositiveDefiniteError",
    "TrainedModel",
    "__version__",
    "consensus",
    "distance_logeuclid",
    "distance_riemannian",
    "eigh",
    "exp_map",
    "expm",
    "feasibility_error",
    "geodesic",
    "inverse_retract",
    "invsqrtm",
    "isometric_vech",
    "karcher_mean",
    "lift",
    "load_model",
    "load_sample",
    "log_map",
    "logm",
    "mean_logeuclid",
    "mean_riemannian",
    "polar",
    "powm",
    "proj_avg",
    "qr_avg",
    "qr_factor",
    "r_barycenter",
    "random_stiefel",
    "reeig",
    "ret_avg",
    "retract",
    "rl_avg",
    "sqrtm",
    "stiefel_exp",
    "stiefel_log",
    "tangent_project",
    "transport",
    "vec",
    "vech",
    "whiten",
]


def __getattr__(name: str) -> object:
    """Imports trained models when they are used, because they need more than NumPy."""
    if name in ("TrainedModel", "load_model"):
        from fedspd import model

        return getattr(model, name)
    raise AttributeError(f"module 'fedspd' has no attribute {name!r}")
