"""Estimators for scikit-learn.

They take SPD matrices ``(trials, n, n)`` or raw trials ``(trials, channels, samples)``. They train
exactly as ``fedspd run`` and use the terms of its configuration. The same settings, trials and seed
give the same bytes.
"""

from fedspd.sklearn._eegnet import EEGNetClassifier
from fedspd.sklearn._federated import FederatedSPDNetClassifier
from fedspd.sklearn._recenter import Recenter
from fedspd.sklearn._spdnet import SPDNetClassifier

__all__ = ["EEGNetClassifier", "FederatedSPDNetClassifier", "Recenter", "SPDNetClassifier"]
