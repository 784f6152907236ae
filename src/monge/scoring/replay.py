"""Checks of a replay: a run must have the statistics, or the library, that a signature names."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from monge.errors import StatisticsMismatch
from monge.metrics.signature import PLUGIN, parse
from monge.types import Signature

Expected = Sequence[Mapping[str, str]]
"""For each metric what a replay must find again: digests of statistics by kind, or the fields of a
library.
"""
_FLOATS = re.compile("~[0-9a-f]+")


def check_expected(
    name: str, expected: Mapping[str, str], signature: Signature, *, fitted: bool
) -> None:
    """Raise where a signature does not have the statistics, or the library, that a replay must
    meet.

    Where the run fitted its statistics (`fitted`), the texts behind them must be the same; the last
    bits of the floats, whose hash stands behind `~`, may be another machine's.
    """
    actual = parse(str(signature)).stats

    def comparable(digest: str | None) -> str | None:
        return _FLOATS.sub("", digest) if fitted and digest is not None else digest

    differing = [
        kind
        for kind in {**expected, **actual}
        if comparable(expected.get(kind)) != comparable(actual.get(kind))
    ]
    if differing:
        required = (
            " ".join(f"{kind}={expected[kind]}" for kind in differing if kind in expected) or "none"
        )
        present = (
            " ".join(f"{kind}={actual[kind]}" for kind in differing if kind in actual) or "none"
        )
        if PLUGIN in actual:
            raise StatisticsMismatch(
                f"{name}: the signature says {required}, this run has {present}: install the "
                "plugin in the version of the signature, or accept this one with --refit"
            )
        subject = "library" if "lib" in actual else "statistics"
        raise StatisticsMismatch(
            f"{name}: the signature's {subject} say {required}, this run gives {present}; "
            "give the same texts, --stats or --idf-corpus, or accept new ones with --refit"
        )
