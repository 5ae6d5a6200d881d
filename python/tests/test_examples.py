"""The examples and the Python of the book run as they stand, from top to bottom."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "python" / "examples").glob("*.py"))


def run(program, folder):
    # The command of this interpreter, whatever else is installed.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(program, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example, tmp_path):
    assert run([sys.executable, str(example)], tmp_path)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_use_what_is_public(example):
    nodes = list(ast.walk(ast.parse(example.read_text(encoding="utf-8"))))
    imported = [alias.name for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    modules = [node.module for node in nodes if isinstance(node, ast.ImportFrom)]
    attributes = [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    words = [word for name in imported + modules + attributes for word in name.split(".")]
    assert [word for word in words if word.startswith("_")] == []


@pytest.mark.parametrize("page, count", [("python.md", 4), ("flower.md", 2)])
def test_the_book(tmp_path, page, count):
    text = (ROOT / "docs" / "src" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= count
    for block in blocks:
        run([sys.executable, "-c", block], tmp_path)
