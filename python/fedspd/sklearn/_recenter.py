"""Alignment of SPD matrices."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fedspd import NotPositiveDefiniteError, eigh, mean_logeuclid, mean_riemannian, whiten
from fedspd.sklearn._checks import Floats, check_finite, floats, owners

if TYPE_CHECKING:
    from typing_extensions import Self

MEANS = {"riemannian": mean_riemannian, "logeuclid": mean_logeuclid}


class Recenter(TransformerMixin, BaseEstimator):
    """Riemannian alignment: ``G^-1/2 X G^-1/2`` maps the mean ``G`` of the training matrices to I.

    With ``groups`` (subjects, sessions) each group is recentred at its own mean, which removes
    differences between groups. Labels are not used. A group that is new in ``transform`` is
    recentred at the mean of its matrices in that call, or refused.

    Parameters
    ----------
    metric : {"riemannian", "logeuclid"}
        The metric of the mean.
    unseen : {"own", "refuse"}
        Whether groups that ``fit`` did not see get their own mean or are refused.

    Attributes
    ----------
    reference_ : ndarray, shape (n, n)
        The mean of all training matrices; ``None`` with groups.
    references_ : dict
        The mean of each group; empty without groups.

    References
    ----------
    Zanini et al., "Transfer learning: a Riemannian geometry framework with applications to
    brain-computer interfaces", IEEE Trans. Biomed. Eng. 65, 2018.
    """

    n_features_in_: int

    def __init__(self, metric: str = "riemannian", *, unseen: str = "own") -> None:
        self.metric = metric
        self.unseen = unseen

    def fit(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> "Self":
        """Computes the mean of SPD matrices ``(trials, n, n)``, or of each group."""
        matrices = self._matrices(X, reset=True)
        if self.metric not in MEANS:
            raise ValueError(f"unknown metric {self.metric!r}; it must be 'riemannian' or 'logeuclid'")
        if self.unseen not in ("own", "refuse"):
            raise ValueError(f"unseen is {self.unseen!r}; it must be 'own' or 'refuse'")
        mean = MEANS[self.metric]
        own = [] if groups is None else self._groups(matrices, groups)
        self.reference_ = None if own else mean(matrices)
        self.references_ = {group: mean(matrices[chosen]) for group, chosen in own}
        return self

    def transform(self, X: ArrayLike, groups: ArrayLike | None = None) -> Floats:
        """Recentres SPD matrices ``(trials, n, n)`` at the mean, or each group at its own."""
        check_is_fitted(self)
        matrices = self._matrices(X, reset=False)
        if groups is None:
            if self.reference_ is None:
                raise ValueError("groups is missing; fit was called with groups, so transform needs them too")
            return whiten(matrices, self.reference_.astype(matrices.dtype))
        out = np.empty_like(matrices)
        for group, chosen in self._groups(matrices, groups):
            if group in self.references_:
                reference = self.references_[group]
            elif self.unseen == "own":
                reference = MEANS[self.metric](matrices[chosen])
            else:
                raise ValueError(f"group {group} was not in fit, and unseen is 'refuse'")
            out[chosen] = whiten(matrices[chosen], reference.astype(matrices.dtype))
        return out

    def fit_transform(self, X: ArrayLike, y: object = None, groups: ArrayLike | None = None) -> Floats:
        """Fits on the matrices and recentres them."""
        return self.fit(X, y, groups).transform(X, groups)

    def _matrices(self, X: ArrayLike, *, reset: bool) -> Floats:
        """Returns SPD matrices, after a check of shape and eigenvalues."""
        matrices = floats(self, X, reset=reset)
        size = matrices.shape[-1] if reset else self.n_features_in_
        if matrices.ndim != 3 or matrices.shape[1:] != (size, size) or size == 0:
            expected = "(trials, n, n)" if reset else f"(trials, {size}, {size}), as in fit"
            raise ValueError(f"Recenter takes X of shape {expected}, found {matrices.shape}")
        check_finite(matrices, ["trial", "row", "column"])
        # Whitening takes any symmetric matrix, so matrices that are not SPD are refused here. The
        # message then gives their index among all trials.
        smallest = eigh(matrices)[0][:, 0]
        if smallest.min() <= 0:
            trial = int(np.argmax(smallest <= 0))
            text = f"matrix {trial} is not positive definite: its smallest eigenvalue is {smallest[trial]:.3e}"
            raise NotPositiveDefiniteError(text)
        if reset:
            self.n_features_in_ = size
        return matrices

    def _groups(self, matrices: Floats, groups: ArrayLike) -> list[tuple[Any, NDArray[np.bool_]]]:
        found = owners(groups, len(matrices))
        return [(group, found == group) for group in np.unique(found)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
