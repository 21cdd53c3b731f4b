"""Each derivation script runs alone, passes its own checks, and writes exactly the page in the tree."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sympy as sp

from reduced import derive

ROOT = Path(__file__).parent.parent
SCRIPTS = sorted((ROOT / "derivations").glob("[0-9]*.py"))


def test_the_six_derivations_are_there():
    assert [script.name[:2] for script in SCRIPTS] == ["01", "02", "03", "04", "05", "06"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_writes_the_page_in_the_tree(script, tmp_path):
    copy = shutil.copy(script, tmp_path)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": script.name[:2]}
    done = subprocess.run(
        [sys.executable, "-W", "error", copy], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    written = (tmp_path / script.name).with_suffix(".md").read_text(encoding="utf-8")
    assert written == script.with_suffix(".md").read_text(encoding="utf-8")
    assert written.count("Checked") >= 8


def test_a_false_step_stops_the_page():
    page = derive.Page("A page")
    x = sp.Symbol("x")
    page.check("(x+1)^2=x^2+2x+1", (x + 1) ** 2 - x**2 - 2 * x - 1)
    with pytest.raises(derive.DerivationError, match="does not hold"):
        page.check("(x+1)^2=x^2+1", (x + 1) ** 2 - x**2 - 1)
    with pytest.raises(derive.DerivationError, match="does not hold"):
        page.check_true("one is two", sp.Eq(1, 2))
    assert page.markdown() == "# A page\n\n> Checked by substitution: $(x+1)^2=x^2+2x+1$.\n"
