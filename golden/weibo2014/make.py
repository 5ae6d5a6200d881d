"""Writes synthetic recordings in the layout of Weibo2014 (subject_N.mat).

    python3 make.py FOLDER [SUBJECTS] [TRIALS_PER_CLASS]

They replace the real recordings where those are not available. Each file has `data`, 64 channels x
1600 samples x trials in microvolts at 200 Hz, and `label`, 1 to 7. A trial is eight seconds of
coloured noise. In class k, counted from 0, channels 8 k to 8 k + 5 have about twice the amplitude,
so that there is something to learn. The script needs plain Python only.
"""

import array
import math
import random
import struct
import sys
from pathlib import Path

CHANNELS, SAMPLES, CLASSES = 64, 1600, 7
MI_INT8, MI_INT32, MI_UINT32, MI_SINGLE, MI_MATRIX = 1, 5, 6, 7, 14
MX_SINGLE = 7


def element(kind, data):
    """Returns a data element of MATLAB level 5: type, size, data, padded to eight bytes."""
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def matrix(name, shape, numbers):
    """Returns an array in single precision, first index fastest."""
    parts = [
        element(MI_UINT32, struct.pack("<II", MX_SINGLE, 0)),
        element(MI_INT32, struct.pack(f"<{len(shape)}i", *shape)),
        element(MI_INT8, name.encode()),
        element(MI_SINGLE, numbers.tobytes()),
    ]
    return element(MI_MATRIX, b"".join(parts))


def noise(rng, length):
    """Returns noise with a rhythm near 11 Hz, from a second-order resonance."""
    angle, radius = 2 * math.pi * 11 / 200, 0.97
    a, b, x, y = 2 * radius * math.cos(angle), -radius * radius, 0.0, 0.0
    out = []
    for _ in range(length):
        x, y = a * x + b * y + rng.gauss(0, 1), x
        out.append(x + rng.gauss(0, 1))
    return out


def subject(number, trials_per_class, stretch):
    rng = random.Random(number)
    labels = [1 + i % CLASSES for i in range(CLASSES * trials_per_class)]
    rng.shuffle(labels)
    gains = [rng.uniform(0.7, 1.4) for _ in range(CHANNELS)]
    data = array.array("f")
    for label in labels:
        rows = []
        # All channels of a trial start at different samples, so that no two are equal.
        places = rng.sample(range(len(stretch) - SAMPLES), CHANNELS)
        for channel, at in enumerate(places):
            loud = 2.0 if 8 * (label - 1) <= channel < 8 * (label - 1) + 6 else 1.0
            gain = gains[channel] * loud * rng.uniform(0.9, 1.1)
            rows.append([gain * x for x in stretch[at : at + SAMPLES]])
        for column in zip(*rows):
            data.extend(column)
    header = b"MATLAB 5.0 MAT-file, made by fedspd".ljust(124) + struct.pack("<HH", 0x0100, 0x4D49)
    shape = (CHANNELS, SAMPLES, len(labels))
    return header + matrix("data", shape, data) + matrix("label", (len(labels), 1), array.array("f", labels))


def main():
    folder = Path(sys.argv[1])
    subjects, trials = (int(sys.argv[2]) if len(sys.argv) > 2 else 10), (int(sys.argv[3]) if len(sys.argv) > 3 else 80)
    folder.mkdir(parents=True, exist_ok=True)
    stretch = noise(random.Random(0), 100_000)
    for number in range(1, subjects + 1):
        (folder / f"subject_{number}.mat").write_bytes(subject(number, trials, stretch))


if __name__ == "__main__":
    main()
