"""The ``fedspd`` command: the same function that the binary calls."""

import signal
import sys

from fedspd import _core


def main() -> int:
    """Runs the command with the arguments in ``sys.argv`` and returns its exit code."""
    # Python's handler would act only after the command returns. The command itself handles Ctrl-C
    # where it must finish something first.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.command(["fedspd", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
