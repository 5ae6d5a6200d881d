"""The ``fedspd`` command: the same function that the binary calls."""

import signal
import sys

from fedspd import _core


def main() -> int:
    """Run the command with the words of ``sys.argv`` and give its exit code."""
    # Python's handler only takes a note, to be read when the interpreter runs again, and the interpreter waits for
    # the command. The command listens by itself where there is something to finish first.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.command(["fedspd", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
