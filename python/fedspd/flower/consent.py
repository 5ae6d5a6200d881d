"""Studies that ask for a site: a person looks at them and approves them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from fedspd import _core
from fedspd.flower.client import default_state


def review(policy: Path) -> None:
    """Prints what each study asks for, and what would leave the site."""
    text = policy.read_text()
    studies = _core.review(text, policy, _state(text, policy))
    if not studies:
        print("No study has asked for this site yet.")
    for study, approved, lines in studies:
        print(f"Study {study}: {'approved' if approved else 'not approved'}")
        for line in lines:
            print(textwrap.fill(line, 100, initial_indent="- ", subsequent_indent="  "))
        print()


def approve(policy: Path, study: str) -> None:
    """Approves a study of exactly this configuration."""
    _core.approve(_state(policy.read_text(), policy), study)
    print(f"Study {study} is approved. Its runs may train at this site.")


def _state(text: str, policy: Path) -> Path:
    return Path(_core.policy(text, policy) or default_state())
