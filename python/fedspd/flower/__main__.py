"""``python -m fedspd.flower``: keys for a deployment, and runs that say how they ended."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main(words: list[str] | None = None) -> int:
    """Does what the words ask for, and gives the exit code."""
    parser = argparse.ArgumentParser(prog="python -m fedspd.flower", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run an app to its end; exits non-zero if it failed")
    run.add_argument("app", help="the folder of the app")
    run.add_argument("superlink", nargs="?", help="the connection, by its name in Flower's config.toml")
    run.add_argument("--run-config", "-c", action="append", default=[], help="values to change, as with flwr run")
    keys = verbs.add_parser("keys", help="make a certificate for the server and keys for the nodes, or more of them later")
    keys.add_argument("folder", type=Path)
    keys.add_argument("--host", action="append", default=[], help="a name or address of the server; may be repeated")
    keys.add_argument("--site", action="append", default=[], help="the name of a site; may be repeated; more can be added later")
    keys.add_argument("--renew", action="store_true", help="replace the certificate and the key of the server")
    arguments = parser.parse_args(words)
    if arguments.verb == "run":
        from fedspd.flower.launch import launch

        return launch(arguments.app, arguments.superlink, arguments.run_config)
    from fedspd.flower.keys import make

    try:
        made = make(arguments.folder, arguments.host, arguments.site, renew=arguments.renew)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    for path in made:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
