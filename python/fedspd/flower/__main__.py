"""``python -m fedspd.flower``: keys for a deployment, runs with an exit code, and studies at a site."""

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
    review = verbs.add_parser("review", help="show in plain words what studies ask of this site, and what would leave it")
    approve = verbs.add_parser("approve", help="approve a study: from then on its runs may train here")
    for verb in (review, approve):
        verb.add_argument("policy", type=Path, help="the policy of the site, site.toml")
    approve.add_argument("study", help="the SHA-256 of the study, as shown by review")
    arguments = parser.parse_args(words)
    if arguments.verb == "run":
        from fedspd.flower.launch import launch

        return launch(arguments.app, arguments.superlink, arguments.run_config)
    if arguments.verb in ("review", "approve"):
        from fedspd.flower import consent

        try:
            if arguments.verb == "review":
                consent.review(arguments.policy)
            else:
                consent.approve(arguments.policy, arguments.study)
        except (OSError, ValueError) as error:
            print(f"error: {error}", file=sys.stderr)
            return 1
        return 0
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
