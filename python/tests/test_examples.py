"""The examples run unchanged, from top to bottom."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path):
    # The command of this interpreter comes first on the path.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    program, environment = [sys.executable, str(example)], {**os.environ, "PATH": path}
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_use_what_is_public(example):
    nodes = list(ast.walk(ast.parse(example.read_text(encoding="utf-8"))))
    imported = [alias.name for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    attributes = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    words = [word for name in imported + modules + attributes for word in name.split(".")]
    assert [word for word in words if word.startswith("_")] == []
