"""Recordings of a hospital: small EDF+ files and their dataset definition."""

import numpy as np

CHANNELS = ["C3", "C4", "Cz", "Pz"]
SFREQ = 128
CLASSES = {"left": "left_hand", "right": "right_hand"}

DEFINITION = f"""
name = "hospital"
title = "Imagined movements of either hand"
licence = "not for sharing"
format = "edf"
files = "S{{subject:3}}/S{{subject:3}}R{{run:2}}.edf"
sfreq = {SFREQ}
interval = [0, 1]
band = [8, 32]

[[events]]
classes = {{ left = "left_hand", right = "right_hand" }}
"""


def write_subject(folder, subject, trials=12):
    """Writes two runs with 10 Hz over one hemisphere or the other."""
    for run in (1, 2):
        rng = np.random.default_rng([subject, run])
        seconds = 2 * trials + 2
        times = np.arange(seconds * SFREQ) / SFREQ
        signals = 10 * rng.standard_normal((len(CHANNELS), len(times)))
        events = []
        for trial in range(trials):
            side = trial % 2
            begin = 1 + 2 * trial
            during = (times >= begin) & (times <= begin + 1)
            signals[side, during] += 15 * np.sin(2 * np.pi * 10 * times[during])
            events.append((begin, list(CLASSES)[side]))
        path = folder / f"S{subject:03}" / f"S{subject:03}R{run:02}.edf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(edf(signals, events))


def edf(signals, events):
    """Returns an EDF+ file (Kemp and Olivan, 2003) with records of 1 s, from -200 to 200 uV."""
    seconds = signals.shape[1] // SFREQ
    digital = np.clip(np.round(signals / 200 * 32767), -32768, 32767).astype("<i2")
    room = 60
    fields = [
        [*CHANNELS, "EDF Annotations"],
        [""] * (len(CHANNELS) + 1),
        ["uV"] * len(CHANNELS) + [""],
        ["-200"] * len(CHANNELS) + ["-1"],
        ["200"] * len(CHANNELS) + ["1"],
        ["-32767"] * len(CHANNELS) + ["-32768"],
        ["32767"] * (len(CHANNELS) + 1),
        [""] * (len(CHANNELS) + 1),
        [str(SFREQ)] * len(CHANNELS) + [str(room)],
        [""] * (len(CHANNELS) + 1),
    ]
    widths = [16, 80, 8, 8, 8, 8, 8, 80, 8, 32]
    begin = ["0", "X X X X", "Startdate 01-JAN-2026 X X X", "01.01.26", "10.00.00"]
    header = "".join(text.ljust(width) for text, width in zip(begin, [8, 80, 80, 8, 8]))
    header += f"{256 * (len(CHANNELS) + 2):<8}{'EDF+C':<44}{seconds:<8}{1:<8}{len(CHANNELS) + 1:<4}"
    header += "".join(text.ljust(width) for column, width in zip(fields, widths) for text in column)
    records = []
    for second in range(seconds):
        notes = f"+{second}\x14\x14\x00"
        notes += "".join(f"+{onset}\x151\x14{text}\x14\x00" for onset, text in events if onset == second)
        part = digital[:, second * SFREQ : (second + 1) * SFREQ]
        records.append(part.tobytes() + notes.encode().ljust(2 * room, b"\x00"))
    return header.encode("ascii") + b"".join(records)
