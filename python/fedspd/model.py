"""Trained models: predictions on files, arrays and MNE's epochs."""

import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedspd._core import Model

logger = logging.getLogger("fedspd")


class TrainedModel:
    """A trained model that prepares new data as its training data were prepared.

    Attributes
    ----------
    classes : list of str
        The names of the classes, in the order of the probabilities.
    channels : list of str
        The names of the channels.
    preparation : dict
        How the training data were prepared.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.classes = model.classes
        self.channels = model.channels
        self.preparation: dict[str, Any] = json.loads(model.preparation)

    def predict_proba(
        self,
        data: Any,
        *,
        subjects: str | Sequence[str] | None = None,
        root: str | os.PathLike[str] | None = None,
        calibration: int | None = None,
    ) -> NDArray[np.float64]:
        """Returns the class probabilities ``(trials, classes)``.

        Parameters
        ----------
        data : path, mne.Epochs or array
            A recording, a folder of recordings, a definition, an ``.npz`` file, a built-in dataset,
            ``mne.Epochs``, or an array of trials that are already prepared.
        subjects : str or sequence of str, optional
            For files, the chosen subjects, such as ``"1-10,12"``. For epochs, the subject of each
            trial; one subject by default.
        root : path, optional
            The folder with the recordings of a definition or a built-in dataset.
        calibration : int, optional
            The number of first trials of each subject on which its alignment is fitted; only the
            others are predicted. By default all trials serve both.
        """
        if isinstance(data, (str, os.PathLike)):
            if not (subjects is None or isinstance(subjects, str)):
                raise ValueError('subjects is a sequence; for files it is a text such as "1-10,12"')
            _, probabilities, notes = self.model.predict_files(
                os.fspath(data), root=root, subjects=subjects, calibration=calibration
            )
        elif hasattr(data, "get_data") and hasattr(data, "ch_names"):
            probabilities, notes = self._epochs(data, subjects, calibration)
        elif calibration is None and subjects is None:
            probabilities, notes = self.model.predict_proba(prepared(data)), []
        else:
            raise ValueError("an array holds prepared trials, which are not aligned again: give neither subjects nor calibration")
        for note in notes:
            logger.warning("%s", note)
        return probabilities

    def predict(self, data: Any, **options: Any) -> NDArray[np.str_]:
        """Returns the most probable class of each trial. Options are those of ``predict_proba``."""
        predicted: NDArray[np.str_] = np.asarray(self.classes)[np.argmax(self.predict_proba(data, **options), axis=1)]
        return predicted

    def _epochs(
        self, epochs: Any, subjects: str | Sequence[str] | None, calibration: int | None
    ) -> tuple[NDArray[np.float64], list[str]]:
        trials = np.ascontiguousarray(epochs.get_data()) * 1e6
        owners = [subjects or "1"] * len(trials) if subjects is None or isinstance(subjects, str) else list(subjects)
        _, probabilities, notes = self.model.predict_trials(
            trials,
            channels=list(epochs.ch_names),
            sfreq=float(epochs.info["sfreq"]),
            band=(float(epochs.info["highpass"]), float(epochs.info["lowpass"])),
            window=(float(epochs.tmin), float(epochs.tmax)),
            subjects=owners,
            calibration=calibration,
        )
        return probabilities, notes


def prepared(trials: ArrayLike) -> NDArray[np.float64]:
    """Returns an array of prepared trials for the core."""
    return np.ascontiguousarray(trials, dtype=np.float64)


def load_model(path: str | os.PathLike[str]) -> TrainedModel:
    """Loads a model file."""
    return TrainedModel(Model(Path(path).read_bytes()))
