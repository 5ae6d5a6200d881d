# /// script
# requires-python = ">=3.11"
# dependencies = ["numpy==2.4.6", "scipy==1.17.1"]
# ///
"""Makes the golden .npz and .mat files (see README.md).

Expected values follow from `wave`, which the tests compute again. The script is reproducible, byte
for byte.
"""

import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

HERE = Path(__file__).parent


def wave(*shape):
    """Returns an array. Value i, in C order, is ((7919 i) mod 1000 - 500) / 8, exact in float32."""
    count = int(np.prod(shape))
    return ((7919 * np.arange(count) % 1000 - 500) / 8.0).reshape(shape)


def types():
    """Returns arrays of every supported type, in both byte orders, and every kind of shape."""
    arrays = {}
    for order in "<>":
        for kind in ("f4", "f8"):
            arrays[f"{order}{kind}"] = wave(2, 3, 4).astype(order + kind)
        for kind in ("i2", "i4", "i8"):
            info = np.iinfo(kind)
            arrays[f"{order}{kind}"] = np.array([info.min, -1, 0, 1, info.max], order + kind)
        for kind in ("u2", "u4"):
            info = np.iinfo(kind)
            arrays[f"{order}{kind}"] = np.array([0, 1, 2, info.max - 1, info.max], order + kind)
        arrays[f"{order}u8"] = np.array([0, 1, 2, 2**53, 2**63 - 1], order + "u8")
        arrays[f"{order}U"] = np.array([["C3", "µV", ""], ["Fp1", "手", "🙂 a"]], order + "U4")
    arrays["|i1"] = np.array([-128, -1, 0, 1, 127], "i1")
    arrays["|u1"] = np.array([0, 1, 2, 254, 255], "u1")
    arrays["|b1"] = np.array([[True, False], [False, True]])
    arrays["|S"] = np.array([b"left", b"", b"feet\0\0", "µ".encode()], "S6")
    arrays["beyond"] = np.array([2**64 - 1], "<u8")
    arrays["special"] = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324])
    arrays["fortran"] = np.asfortranarray(wave(2, 3, 4))
    arrays["fortran_big"] = np.asfortranarray(wave(3, 2).astype(">f4"))
    arrays["fortran_text"] = np.asfortranarray([["a", "b", "c"], ["d", "e", "f"]])
    arrays["fortran_integers"] = np.asfortranarray(np.arange(6).reshape(2, 3))
    arrays["single"] = np.array(2.5)
    arrays["empty"] = np.zeros((0, 3))
    arrays["no_columns"] = np.zeros((3, 0))
    arrays["one"] = wave(7)
    return arrays


def versions(path):
    """Writes headers in all versions of the format; NumPy uses later ones only if necessary."""
    with zipfile.ZipFile(path, "w") as archive:
        for version in ((1, 0), (2, 0), (3, 0)):
            with archive.open(f"v{version[0]}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, wave(2, 3), version=version)
        archive.writestr(zipfile.ZipInfo("notes.txt"), "not an array")


def mat(name, variables, **options):
    """Writes a file with SciPy and replaces the date in its header."""
    path = HERE / name
    scipy.io.savemat(path, variables, **options)
    with path.open("r+b") as file:
        file.write(b"MATLAB 5.0 MAT-file, golden".ljust(116))


def classes():
    variables = {
        "double": wave(3, 4),
        "single": wave(2, 3, 4).astype("f4"),
        "char": "left hand",
        "logical": np.array([[True, False, True]]),
        "complex": wave(2, 3) + 1j * wave(6)[::-1].reshape(2, 3),
        "scalar": 2.5,
        "empty": np.zeros((0, 3)),
        "cell": np.array([1.0, "two"], object),
        "structure": {"field": wave(2, 2), "nested": {"deeper": 1.0}},
        "sparse": scipy.sparse.csc_matrix(np.eye(3)),
        "a_variable_with_a_long_name": np.array([[7.0]]),
    }
    for kind in ("int8", "int16", "int32", "int64"):
        info = np.iinfo(kind)
        variables[kind] = np.array([[info.min, -1, 0, 1, info.max]], kind)
    for kind in ("uint8", "uint16", "uint32", "uint64"):
        info = np.iinfo(kind)
        variables[kind] = np.array([[0, 1, 2, info.max - 1, info.max]], kind)
    return variables


def by_hand(path, order, compressed):
    """Writes a file with valid features that SciPy does not write.

    They are the other byte order, and numbers in a smaller type than their class.
    """

    def element(kind, data):
        if 0 < len(data) <= 4:
            return struct.pack(order + "I", len(data) << 16 | kind) + data.ljust(4, b"\0")
        return struct.pack(order + "II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    def variable(name, values, code, kind, flags=0):
        dtype = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}[kind]
        parts = [values.real, values.imag] if flags & 0x0800 else [values]
        content = element(6, struct.pack(order + "II", code | flags, 0))
        content += element(5, struct.pack(order + f"{values.ndim}i", *values.shape))
        content += element(1, name.encode())
        for part in parts:
            content += element(kind, part.astype(order + dtype).tobytes("F"))
        content = struct.pack(order + "II", 14, len(content)) + content
        if not compressed:
            return content
        content = zlib.compress(content)
        return struct.pack(order + "II", 15, len(content)) + content

    header = b"MATLAB 5.0 MAT-file, golden".ljust(124) + struct.pack(order + "HH", 0x0100, 0x4D49)
    small = np.arange(15.0).reshape(3, 5)
    expected = {}
    with path.open("wb") as file:
        file.write(header)
        for kind in (1, 2, 3, 4, 5, 6, 7, 9, 12, 13):
            expected[f"as_{kind}"] = small
            file.write(variable(f"as_{kind}", small, 6, kind))
        expected["label"] = np.array([[1.0], [2.0], [3.0]])
        file.write(variable("label", expected["label"], 6, 2))
        expected["wave"] = wave(4, 5, 3)
        file.write(variable("wave", expected["wave"], 6, 9))
        expected["complex"] = wave(2, 2) + 1j * wave(8)[4:].reshape(2, 2)
        file.write(variable("complex", expected["complex"], 7, 7, flags=0x0800))
    loaded = scipy.io.loadmat(path)
    for name, values in expected.items():
        np.testing.assert_array_equal(loaded[name], values)


def main():
    np.savez(HERE / "types.npz", **types())
    np.savez_compressed(HERE / "types_compressed.npz", **types())
    np.savez(HERE / "refused.npz", objects=np.array([1, "two", None], object), records=np.zeros(2, "f8,i4"),
             half=np.zeros(2, "f2"), complex=np.zeros(2, "c16"), date=np.zeros(2, "M8[s]"))
    versions(HERE / "versions.npz")
    mat("classes.mat", classes())
    mat("classes_compressed.mat", classes(), do_compression=True)
    mat("weibo2014.mat", {"data": wave(4, 10, 6), "label": np.array([[1], [2], [3], [4], [5], [7]], "u1")}, do_compression=True)
    by_hand(HERE / "big_endian.mat", ">", False)
    by_hand(HERE / "big_endian_compressed.mat", ">", True)
    by_hand(HERE / "little_endian.mat", "<", False)
    scipy.io.savemat(HERE / "level4.mat", {"x": wave(2, 3)}, format="4")


if __name__ == "__main__":
    main()
