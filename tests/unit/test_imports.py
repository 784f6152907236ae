"""What importing costs, and what the package shows."""

from __future__ import annotations

import subprocess
import sys

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
