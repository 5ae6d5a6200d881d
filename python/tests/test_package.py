"""The package itself: import cost, memory, documentation, logging, Ctrl-C and threads."""

import inspect
import logging
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fedspd
from fedspd import _core

from conftest import random_spd
from oracles import AGAINST

GEOMETRY = [name for name in fedspd.__all__ if inspect.isbuiltin(getattr(fedspd, name)) and name != "load_sample"]


# Peak memory of a process in megabytes. `getrusage` would include the time before `exec`.
PEAK = "peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 1024\n"
linux = pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc, which only Linux has")


def alone(code):
    """Returns the output of a program in a process of its own."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@linux
def test_import_is_small():
    megabytes = float(alone(f"import re, fedspd; {PEAK}print(peak())"))
    print(f"import fedspd: {megabytes:.0f} MB; the extension has {pathlib.Path(_core.__file__).stat().st_size / 2**20:.1f} MB")
    assert megabytes < 60


def test_import_needs_numpy_alone():
    """Slow imports happen only where they are needed. The test checks modules, not times."""
    brought = set(alone("import sys, numpy; before = set(sys.modules); import fedspd; print(*set(sys.modules) - before)").split())
    assert {name.split(".")[0] for name in brought} == {"fedspd"}
    assert brought == {"fedspd", "fedspd._core"}


def test_two_threads_overlap(rng):
    """While one thread is inside a long call, another finishes several short ones.

    It could not start them if the long call held the interpreter.
    """
    long, short = random_spd(rng, 800, 100), random_spd(rng, 16, 100)
    entered, spans = threading.Event(), []

    def work():
        entered.set()
        begin = time.perf_counter()
        fedspd.logm(long)
        spans.append((begin, time.perf_counter()))

    thread = threading.Thread(target=work)
    thread.start()
    entered.wait()
    calls = []
    while thread.is_alive():
        begin = time.perf_counter()
        fedspd.logm(short)
        calls.append((begin, time.perf_counter()))
    thread.join()
    inside = [call for call in calls if spans[0][0] < call[0] and call[1] < spans[0][1]]
    assert len(inside) >= 3


# Each makes 64 MB of trials, processes a few of them, and then all.
IN_PLACE = {
    "geometry": "x = np.zeros((2048, 64, 64)); x[:] = np.eye(64); work = fedspd.feasibility_error",
    "spdnet": "x = np.zeros((2048, 64, 64)); x[:] = np.eye(64); work = fedspd.Model(open('spdnet', 'rb').read()).predict_proba",
    "single": "x = np.zeros((4096, 64, 64), np.float32); x[:] = np.eye(64); work = fedspd.Model(open('spdnet', 'rb').read()).predict_proba",
    "eegnet": "x = np.tile(np.sin(np.arange(4096.0)), (2048, 1)).reshape(16384, 8, 64); work = fedspd.Model(open('eegnet', 'rb').read()).predict_proba",
}


@linux
@pytest.mark.parametrize("what", IN_PLACE)
def test_contiguous_arrays_are_not_copied(what, rng, tmp_path):
    """A call allocates less than half the size of the array."""
    from fedspd.sklearn import EEGNetClassifier, SPDNetClassifier

    y = np.tile([0, 1], 20)
    models = {
        "spdnet": lambda: SPDNetClassifier((2,), epochs=1, unit="1").fit(random_spd(rng, 40, 64), y),
        "eegnet": lambda: EEGNetClassifier(8.0, epochs=1).fit(rng.standard_normal((40, 8, 64)), y),
    }
    kind = {"single": "spdnet"}.get(what, what)
    if kind in models:
        (tmp_path / kind).write_bytes(bytes(models[kind]().model_))
    code = (
        f"import os, re, numpy as np, fedspd; os.chdir({str(tmp_path)!r}); {IN_PLACE[what]}\n"
        f"{PEAK}assert x.nbytes == 2**26; work(x[:128]); before = peak(); work(x); print(peak() - before)"
    )
    assert float(alone(code)) < 32


@linux
def test_training_copies_trials_once_and_keeps_what_the_network_reads(rng, tmp_path):
    """At most three copies exist beside the array: the core's, the aligned, the network's."""
    code = (
        "import re, numpy as np; from fedspd.sklearn import SPDNetClassifier\n"
        "x = np.zeros((2048, 64, 64)); x[:] = np.eye(64); y = np.tile([0, 1], 1024); model = SPDNetClassifier((2,), epochs=1, unit='1')\n"
        f"{PEAK}model.fit(x[:256], y[:256]); before = peak(); model.fit(x, y); print((peak() - before) / 64)"
    )
    assert float(alone(code)) < 3.5


@pytest.mark.parametrize("name", GEOMETRY)
def test_every_function_is_documented_and_typed(name):
    function = getattr(fedspd, name)
    assert "Reference: " in function.__doc__ and "``" in function.__doc__, name
    stubs = pathlib.Path(fedspd.__file__).with_name("_core.pyi").read_text()
    parameters = re.search(rf"^def {name}\((.*?)\)", stubs, re.MULTILINE | re.DOTALL)[1]
    named = [part.split(":")[0].split("=")[0].strip() for part in re.sub(r"\[.*?\]", "", parameters).split(",")]
    assert [part for part in named if part not in ("", "*")] == list(inspect.signature(function).parameters)


def test_every_function_is_compared_with_somebody_elses():
    import test_spd, test_stiefel  # noqa: E401, F401, their tests fill AGAINST

    assert set(AGAINST) == set(GEOMETRY)
    assert {whom for all_of_them in AGAINST.values() for whom in all_of_them} == {"NumPy", "SciPy", "geoopt", "pyRiemann"}


class TestCommand:
    def run(self, *words):
        return subprocess.run([sys.executable, "-m", "fedspd", *words], capture_output=True, text=True)

    def test_it_is_the_command(self):
        assert self.run("--version").stdout == f"fedspd {fedspd.__version__}\n"
        wrong = self.run("run", "nothing")
        assert wrong.returncode == 1 and wrong.stderr.startswith("error: nothing is not a built-in experiment")

    @pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
    def test_ctrl_c_finishes_the_round(self, tmp_path):
        words = ["run", "sample", "--set", "federated.rounds=1000", "--out", str(tmp_path / "run"), "--progress", "json"]
        process = subprocess.Popen([sys.executable, "-m", "fedspd", *words], stderr=subprocess.PIPE, text=True)
        process.stderr.readline()  # a round has ended
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate()
        assert process.returncode == 130 and "interrupted after round" in rest and "fedspd resume" in rest

    @pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
    def test_ctrl_c_ends_training_in_python(self):
        code = (
            "import logging, numpy as np; from fedspd.sklearn import SPDNetClassifier\n"
            "logging.basicConfig(level=logging.DEBUG)\n"
            "try: SPDNetClassifier((2,), epochs=10**6, early_stop=0).fit(np.tile(np.eye(3), (40, 1, 1)), np.tile([0, 1], 20))\n"
            "except KeyboardInterrupt: print('interrupted')\n"
        )
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
        assert out == "interrupted\n"


def test_training_is_logged(rng, caplog):
    from fedspd.sklearn import SPDNetClassifier

    X, y = random_spd(rng, 40, 3), np.tile([0, 1], 20)
    with caplog.at_level(logging.DEBUG, logger="fedspd"):
        SPDNetClassifier((2,), epochs=3).fit(X, y)
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}
    rounds = [record.getMessage() for record in caplog.records]
    assert len(rounds) == 3 and rounds[0].startswith("round 1 of 3: 1 client, learning rate 1e-3, validation F1 ")


def test_the_sample_is_what_the_command_trains_on():
    matrices, classes, subjects, channels = fedspd.load_sample()
    assert matrices.shape == (len(classes), 64, 64) and len(subjects) == len(classes) and len(channels) == 64
    assert sorted(set(classes)) == ["feet", "hands", "left_hand", "right_hand"] and len(set(subjects)) == 10
    assert fedspd.eigh(matrices[:50])[0].min() > 0
