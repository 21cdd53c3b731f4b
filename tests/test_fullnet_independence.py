"""fullnet knows nothing of the reduced model, and importing it loads neither SciPy nor numba."""

import ast
import subprocess
import sys
from pathlib import Path

import fullnet

SOURCES = sorted(Path(fullnet.__file__).parent.glob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_no_import_of_the_reduced_package():
    assert len(SOURCES) > 5
    for path in SOURCES:
        assert not [name for name in imported(path) if name.split(".")[0] == "reduced"], path.name


def test_import_is_light():
    code = (
        "import sys, fullnet; "
        "print([name for name in ('scipy', 'numba', 'sympy', 'mpmath', 'reduced') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_everything_public_is_listed_and_documented():
    for name in fullnet.__all__:
        assert getattr(fullnet, name).__doc__
        assert name in fullnet.__doc__ or name == "Loss"
