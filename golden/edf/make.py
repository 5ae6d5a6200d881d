# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6", "mne==1.13.2"]
# ///
"""Makes the golden EDF+ and BDF+ files and MNE's values of them (see README.md).

The script writes the files byte by byte from a seeded generator. They hold no personal recording.
"""

import json
from pathlib import Path

import mne
import numpy as np

SEED = 20261116
HERE = Path(__file__).parent
RECORDS = 4


def field(value, width):
    """Returns a header field, padded with blanks."""
    value = value if isinstance(value, bytes) else str(value).encode()
    assert len(value) <= width, value
    return value.ljust(width)


def annotation_list(onset, duration, *texts):
    """Returns one time-stamped annotation list."""
    times = onset.encode() + (b"\x15" + duration.encode() if duration else b"")
    return times + b"\x14" + b"".join(text.encode() + b"\x14" for text in texts) + b"\x00"


def write(path, bits, record_duration, signals, lists):
    """Writes a continuous file with annotations.

    signals: (label, unit, physical range, digital range, samples); samples are None for the
    annotation signal. lists: the annotation bytes of each record.
    """
    room = max(map(len, lists))
    room += -room % (bits // 8)
    counts = [room // (bits // 8) if s[4] is None else len(s[4]) // RECORDS for s in signals]
    version, kind = (b"0", "EDF+C") if bits == 16 else (b"\xffBIOSEMI", "BDF+C")
    out = field(version, 8) + field("X X X X", 80) + field("Startdate 16-NOV-2026 X X X", 80)
    out += field("16.11.26", 8) + field("10.20.30", 8) + field(256 * (1 + len(signals)), 8) + field(kind, 44)
    out += field(RECORDS, 8) + field(record_duration, 8) + field(len(signals), 4)
    columns = [
        [(s[0], 16) for s in signals],
        [("electrode", 80) for _ in signals],
        [(s[1], 8) for s in signals],
        [(s[2][0], 8) for s in signals],
        [(s[2][1], 8) for s in signals],
        [(s[3][0], 8) for s in signals],
        [(s[3][1], 8) for s in signals],
        [("HP:0.1Hz LP:75Hz", 80) for _ in signals],
        [(count, 8) for count in counts],
        [("", 32) for _ in signals],
    ]
    out += b"".join(field(*entry) for column in columns for entry in column)
    for record in range(RECORDS):
        for (*_, samples), count in zip(signals, counts):
            if samples is None:
                out += lists[record].ljust(room, b"\x00")
                continue
            for sample in samples[record * count : (record + 1) * count]:
                out += int(sample).to_bytes(bits // 8, "little", signed=True)
    path.write_bytes(out)


def keep(name, raw):
    """Stores MNE's samples in microvolts, sample by sample, and the annotations."""
    np.save(HERE / f"{name}_samples.npy", np.ascontiguousarray(raw.get_data().T * 1e6))
    found = raw.annotations
    rows = zip(found.onset, found.duration, found.description)
    what = {
        "sfreq": raw.info["sfreq"],
        "channels": raw.ch_names,
        "annotations": [[float(onset), float(duration), str(text)] for onset, duration, text in rows],
    }
    text = json.dumps(what, ensure_ascii=False)
    (HERE / f"{name}.json").write_text(text + "\n", encoding="utf-8")


def main():
    mne.set_log_level("ERROR")
    rng = np.random.default_rng(SEED)

    # 16 samples in records of 0.5 s; every unit that MNE and fedspd read alike; an inverted and an
    # asymmetric range.
    def digital(low, high):
        samples = rng.integers(low, high + 1, 16 * RECORDS)
        samples[:2] = low, high
        return samples

    full, odd = (-32768, 32767), (-2048, 2047)
    signals = [
        ("Fc5.", "uV", (-8092, 8092), (-8092, 8092), digital(-8092, 8092)),
        ("C3", b"\xb5V", (-3276.8, 3276.7), full, digital(*full)),
        ("Cz", "mV", (-1.5, 2.25), odd, digital(*odd)),
        ("EDF Annotations", "", (-1, 1), full, None),
        ("C4", "V", ("1e-4", "-2e-4"), full, digital(*full)),
        *[(f"A{i}", "uV", (-100 - i, 33.7 + i), odd, digital(*odd)) for i in range(6)],
    ]
    lists = [
        annotation_list("+0.25", "", "") + annotation_list("+0.3", "0.125", "T1", "look left"),
        annotation_list("+0.75", "", "") + annotation_list("+0.26", "", "blink"),
        annotation_list("+1.25", "", "") + annotation_list("+2.0625", "0.1", "Müdigkeit: 10 µV"),
        annotation_list("+1.75", "", ""),
    ]
    write(HERE / "small.edf", 16, 0.5, signals, lists)
    keep("edf", mne.io.read_raw_edf(HERE / "small.edf", preload=True))

    full = (-(2**23), 2**23 - 1)
    signals = [
        *[(f"B{i}", "uV", (-262144, 262143 - i), full, digital(*full)) for i in range(9)],
        ("BDF Annotations", "", (-1, 1), full, None),
    ]
    lists = [
        annotation_list(f"+{record}", "", "") + annotation_list(f"+{record}.5", "0.25", f"T{record % 3}")
        for record in range(RECORDS)
    ]
    write(HERE / "small.bdf", 24, 1, signals, lists)
    keep("bdf", mne.io.read_raw_bdf(HERE / "small.bdf", preload=True))


if __name__ == "__main__":
    main()
