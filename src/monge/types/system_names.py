"""The names of systems without the endings of their files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_ENDINGS = re.compile(
    r"(?<=.)(?:\.(?:txt|text|tok|detok|out|hyp|tsv|csv|jsonl?|parquet|gz|xz))+\Z",
    re.IGNORECASE | re.DOTALL,
)
"""The file endings at the end of a name, unless the name is nothing else."""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Map each name to the name without file endings, if all names stay distinct."""
    unique_names = list(dict.fromkeys(names))
    shorter = {name: _ENDINGS.sub("", name) for name in unique_names}
    counts = Counter(shorter.values())
    return {name: shorter[name] if counts[shorter[name]] == 1 else name for name in unique_names}
