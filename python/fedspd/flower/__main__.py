"""``python -m fedspd.flower``: keys for a deployment, and runs with an exit code."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def main(words: list[str] | None = None) -> int:
    """Runs the command and returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m fedspd.flower", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="run an app until it ends; the exit code is non-zero if it failed")
    run.add_argument("app", help="the folder of the app")
    run.add_argument("superlink", nargs="?", help="the name of the connection in Flower's config.toml")
    run.add_argument("--run-config", "-c", action="append", default=[], help="values to change, as with flwr run")
    keys = verbs.add_parser("keys", help="make a server certificate and node keys, or add more later")
    keys.add_argument("folder", type=Path)
    keys.add_argument("--host", action="append", default=[], help="a host name or address of the server; may be repeated")
    keys.add_argument("--site", action="append", default=[], help="a site name; may be repeated; more sites can be added later")
    keys.add_argument("--renew", action="store_true", help="replace the server's certificate and key")
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
