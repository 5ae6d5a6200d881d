"""Alignment of SPD matrices."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from fedspd import mean_logeuclid, mean_riemannian, whiten

MEANS = {"riemannian": mean_riemannian, "logeuclid": mean_logeuclid}


class Recenter(TransformerMixin, BaseEstimator):
    """Riemannian alignment: ``G^-1/2 X G^-1/2`` carries the mean ``G`` of the training matrices to the identity.

    With ``groups`` (subjects, sessions) each group has a mean of its own, which takes away what makes groups differ. No
    label is used. A group that ``fit`` did not see is recentred at the mean of the matrices that ``transform`` is given of it,
    or refused.

    Parameters
    ----------
    metric : {"riemannian", "logeuclid"}
        Which mean.
    unseen : {"own", "refuse"}
        What happens to groups that ``fit`` did not see.

    Attributes
    ----------
    reference_ : ndarray, shape (n, n)
        The mean of all training matrices; ``None`` if there were groups.
    references_ : dict
        The mean of each group; empty if there were no groups.

    References
    ----------
    Zanini et al., "Transfer learning: a Riemannian geometry framework with applications to brain-computer interfaces", IEEE
    Trans. Biomed. Eng. 65, 2018.
    """

    def __init__(self, metric="riemannian", *, unseen="own"):
        self.metric = metric
        self.unseen = unseen

    def fit(self, X, y=None, groups=None):
        """Find the mean of SPD matrices ``(trials, n, n)``, and of each group if there are groups."""
        X = self._matrices(X, reset=True)
        if self.metric not in MEANS:
            raise ValueError(f"unknown metric {self.metric!r}; it must be 'riemannian' or 'logeuclid'")
        if self.unseen not in ("own", "refuse"):
            raise ValueError(f"unseen is {self.unseen!r}; it must be 'own' or 'refuse'")
        mean = MEANS[self.metric]
        groups = [] if groups is None else self._groups(X, groups)
        self.reference_ = None if groups else mean(X)
        self.references_ = {group: mean(X[chosen]) for group, chosen in groups}
        return self

    def transform(self, X, groups=None):
        """Recentre SPD matrices ``(trials, n, n)``, each at the mean of its group if there are groups."""
        check_is_fitted(self)
        X = self._matrices(X, reset=False)
        if groups is None:
            if self.reference_ is None:
                raise ValueError("groups is missing: fit was told whose each matrix is, transform must be too")
            return whiten(X, self.reference_.astype(X.dtype))
        out = np.empty_like(X)
        for group, chosen in self._groups(X, groups):
            if group in self.references_:
                reference = self.references_[group]
            elif self.unseen == "own":
                reference = MEANS[self.metric](X[chosen])
            else:
                raise ValueError(f"group {group} was not there in fit")
            out[chosen] = whiten(X[chosen], reference.astype(X.dtype))
        return out

    def fit_transform(self, X, y=None, groups=None):
        """Fit and recentre the same matrices."""
        return self.fit(X, y, groups).transform(X, groups)

    def _matrices(self, X, *, reset):
        X = validate_data(self, X, reset=reset, ensure_2d=False, allow_nd=True, dtype=[np.float64, np.float32], order="C")
        if X.ndim != 3 or X.shape[1] != X.shape[2]:
            raise ValueError(f"Recenter takes SPD matrices of shape (trials, n, n); found {X.shape}")
        if reset:
            self.n_features_in_ = X.shape[1]
        return X

    def _groups(self, X, groups):
        groups = column_or_1d(groups)
        check_consistent_length(X, groups)
        return [(group, groups == group) for group in np.unique(groups)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.three_d_array = True
        return tags
