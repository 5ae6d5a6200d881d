"""Input checks of the estimators. A message names the argument, the place and the value found."""

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import validate_data

#: Trials or matrices, float64 or float32.
Floats = NDArray[Any]


def floats(estimator: Any, X: ArrayLike, *, reset: bool) -> Floats:
    """Returns an array of real numbers, without a copy if X is one already."""
    if np.iscomplexobj(X):
        raise ValueError("X holds complex numbers; expected real ones")
    # `check_finite` runs later, because scikit-learn does not report the place of a NaN.
    options = dict(ensure_2d=False, allow_nd=True, ensure_all_finite=False, dtype=[np.float64, np.float32], order="C")
    found: Floats = validate_data(estimator, X, reset=reset, **options)
    return found


def check_finite(X: Floats, axes: Sequence[str]) -> None:
    """Refuses NaN and infinity, and names the place along the named axes."""
    if np.isfinite(X.min()) and np.isfinite(X.max()):
        return
    place = tuple(np.argwhere(~np.isfinite(X))[0])
    value = "NaN" if np.isnan(X[place]) else X[place]
    raise ValueError(f"X is {value} at " + ", ".join(f"{axis} {number}" for axis, number in zip(axes, place)))


def whole(name: str, value: Any) -> int:
    """Returns a whole number of Python or NumPy as an int."""
    try:
        return operator.index(value)
    except TypeError:
        raise ValueError(f"{name} is {value!r}; it must be a whole number") from None


def between(name: str, value: Any, low: float, high: float) -> float:
    """Returns a number strictly between two bounds."""
    if isinstance(value, (int, float, np.integer, np.floating)) and low < value < high:
        return float(value)
    bounds = f"above {low:g}" if high == np.inf else f"above {low:g} and below {high:g}"
    raise ValueError(f"{name} is {value!r}; it must be a number {bounds}")


def threads(n_jobs: int | None) -> int:
    """Returns the number of threads for scikit-learn's ``n_jobs``."""
    jobs = None if n_jobs is None else whole("n_jobs", n_jobs)
    if jobs == 0:
        raise ValueError("n_jobs is 0; it must be a number of threads, or -1 for all cores, -2 for all but one, and so on")
    return int(effective_n_jobs(jobs))


def names(name: str, value: Any) -> list[str]:
    """Returns a sequence of names as a list. Refuses a single string."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ValueError(f"{name} is {value!r}; it must be a sequence of names")
    return [str(one) for one in value]


def per_trial(name: str, values: ArrayLike, trials: int) -> NDArray[Any]:
    """Returns an array with one value per trial."""
    found = np.asarray(values)
    if found.shape != (trials,):
        raise ValueError(f"expected {name} of shape ({trials},), one for each trial of X, found {found.shape}")
    return found


def owners(groups: ArrayLike, trials: int) -> NDArray[Any]:
    """Returns the group of each trial."""
    found = per_trial("groups", groups, trials)
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise ValueError(f"groups is NaN at trial {np.flatnonzero(np.isnan(found))[0]}")
    return found


def plain(name: str, value: Any) -> Any:
    """Returns a setting as a JSON value: a number, a string, a boolean or a list of these.

    NumPy numbers become Python numbers, because parameter grids are often arrays.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple)):
        return [plain(name, one) for one in value]
    if not isinstance(value, (bool, int, float, str)):
        raise ValueError(f"{name} is {value!r}; it must be a number or a string")
    return value
