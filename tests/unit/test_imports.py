"""What importing costs, and what the package shows."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import monge


def test_public_names_are_there():
    for name in ("score", "load", "fit", "explain"):
        assert callable(getattr(monge, name))
    assert all(hasattr(monge, name) for name in monge.__all__)


def test_import_brings_no_heavy_library():
    heavy = (
        "('torch', 'transformers', 'scipy.stats', 'ot', 'pandas', 'pyarrow', 'sacrebleu', "
        "'nltk', 'matplotlib', 'ray')"
    )
    code = (
        f"import sys, monge; monge.score; monge.load; print(*[name for name in {heavy} if name "
        f"in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_the_modules_of_scoring_import_each_other_in_one_direction():
    """No cycles, imports under TYPE_CHECKING and inside functions included."""
    folder = Path(monge.__file__).parent / "scoring"
    imports = {
        path.stem: {
            node.module.removeprefix("monge.scoring.")
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("monge.scoring.")
        }
        for path in folder.glob("*.py")
    }
    order = graphlib.TopologicalSorter(imports)
    order.prepare()  # raises CycleError, which names the modules
    assert "run" in imports and "windows" in imports["run"]
