"""Trained models: predictions on files, arrays and MNE's epochs."""

import json
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedspd._core import Model, model_of_run

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
        align: Literal["all", "online"] = "all",
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
        align : {"all", "online"}
            With ``"online"``, each trial is aligned on the trials of its subject so far. Report such
            scores apart.
        """
        if align not in ("all", "online"):
            raise ValueError(f'align is {align!r}; it must be "all" or "online"')
        online = align == "online"
        if online and calibration is not None:
            raise ValueError("online alignment has no calibration: give either align or calibration")
        if isinstance(data, (str, os.PathLike)):
            if not (subjects is None or isinstance(subjects, str)):
                raise ValueError('subjects is a sequence; for files it is a text such as "1-10,12"')
            _, probabilities, notes = self.model.predict_files(
                os.fspath(data), root=root, subjects=subjects, calibration=calibration, online=online
            )
        elif is_epochs(data):
            trials, facts = read_epochs(data)
            owners = [subjects or "1"] * len(trials) if subjects is None or isinstance(subjects, str) else list(subjects)
            _, probabilities, notes = self.model.predict_trials(
                trials, **facts, subjects=owners, calibration=calibration, online=online
            )
        elif calibration is None and subjects is None and not online:
            probabilities, notes = self.model.predict_proba(prepared(data)), []
            branches = self.preparation["making"]["branches"]
            alignment = branches[0].get("alignment") if branches else None
            if alignment:
                notes.append(f"the model was trained on aligned trials ({alignment}); the array is taken as aligned already")
        else:
            raise ValueError(
                "an array holds prepared trials, which are not aligned again: give neither subjects nor calibration nor align"
            )
        for note in notes:
            logger.warning("%s", note)
        return probabilities

    def predict(self, data: Any, **options: Any) -> NDArray[np.str_]:
        """Returns the most probable class of each trial. Options are those of ``predict_proba``."""
        predicted: NDArray[np.str_] = np.asarray(self.classes)[np.argmax(self.predict_proba(data, **options), axis=1)]
        return predicted

    def stream(self, subject: str) -> "Stream":
        """Begins the stream of one subject: its trials are predicted while they arrive.

        Raises ``ValueError`` if the model aligns nobody: use ``predict_proba`` then.
        """
        if self.model.online_note:
            logger.warning("%s", self.model.online_note)
        return Stream(self, subject)


class Stream:
    """The trials of one subject, in their order.

    Each trial is aligned on the unlabelled trials so far and itself. The alignment starts at the
    mean of the people that the model was trained on, which counts as one trial. A model that was
    trained without ``align.population`` starts at the first trial.

    Attributes
    ----------
    subject : str
        The name of the subject.
    """

    def __init__(self, model: TrainedModel, subject: str) -> None:
        self.subject = subject
        self._classes = model.classes
        self._stream = model.model.stream(subject)
        self._noted: set[str] = set()

    def predict_proba(self, trials: Any) -> NDArray[np.float64]:
        """Returns the class probabilities ``(trials, classes)`` of the next trials.

        Parameters
        ----------
        trials : mne.Epochs or array
            The next trials of the subject, often only one. An array has the shape of the trials in
            training, with the number of trials first. It is prepared as the model says, but not
            aligned or z-scored: covariances in square microvolts, or filtered samples in microvolts.
            A trial that cannot be used is an error and leaves the alignment unchanged.
        """
        if is_epochs(trials):
            samples, facts = read_epochs(trials)
            probabilities, notes = self._stream.predict_trials(samples, **facts)
        else:
            probabilities, notes = self._stream.predict_prepared(prepared(trials))
        # A stream says everything once.
        for note in notes:
            if note not in self._noted:
                self._noted.add(note)
                logger.warning("%s", note)
        return probabilities

    def predict(self, trials: Any) -> NDArray[np.str_]:
        """Returns the most probable class of each of the next trials."""
        predicted: NDArray[np.str_] = np.asarray(self._classes)[np.argmax(self.predict_proba(trials), axis=1)]
        return predicted


def is_epochs(data: Any) -> bool:
    """Whether data are MNE's epochs."""
    return hasattr(data, "get_data") and hasattr(data, "ch_names")


def read_epochs(epochs: Any) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Returns the samples of MNE's epochs in microvolts, and what is known of them."""
    facts = {
        "channels": list(epochs.ch_names),
        "sfreq": float(epochs.info["sfreq"]),
        "band": (float(epochs.info["highpass"]), float(epochs.info["lowpass"])),
        "window": (float(epochs.tmin), float(epochs.tmax)),
    }
    return np.ascontiguousarray(epochs.get_data()) * 1e6, facts


def prepared(trials: ArrayLike) -> NDArray[np.float64]:
    """Returns an array of prepared trials for the core."""
    return np.ascontiguousarray(trials, dtype=np.float64)


def load_model(path: str | os.PathLike[str]) -> TrainedModel:
    """Loads a model file, or the model of a run folder with one model."""
    file = Path(path)
    return TrainedModel(Model((model_of_run(file) if file.is_dir() else file).read_bytes()))
