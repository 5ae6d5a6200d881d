"""Estimators for scikit-learn. They take SPD matrices ``(trials, n, n)`` or raw trials ``(trials, channels, samples)``.

The training is that of ``fedspd run``, and its words are the words of the configuration: the same settings, trials and
seed give the same bytes.
"""

from fedspd.sklearn._eegnet import EEGNetClassifier
from fedspd.sklearn._federated import FederatedSPDNetClassifier
from fedspd.sklearn._recenter import Recenter
from fedspd.sklearn._spdnet import SPDNetClassifier

__all__ = ["EEGNetClassifier", "FederatedSPDNetClassifier", "Recenter", "SPDNetClassifier"]
