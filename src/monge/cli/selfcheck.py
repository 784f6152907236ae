"""`monge selfcheck`: does this installation give the numbers it should?"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from monge import api
from monge.cli.options import option
from monge.errors import MissingExtra, ModelError
from monge.metrics.blend import BLENDS
from monge.metrics.lexical import LEXICAL
from monge.metrics.presets import PRESETS, resolve
from monge.types import Segment

TOLERANCE = 1e-5
Golden = Mapping[str, Mapping[str, float]]
"""The score of each example system, by metric and system."""


def selfcheck(
    update: Annotated[
        str | None, option("--update", help="Write the golden numbers to a file.", hidden=True)
    ] = None,
    only: Annotated[
        list[str] | None,
        option("--only NAME", help="Check or write this metric alone.", hidden=True),
    ] = None,
) -> int:
    """Compare the scores of the bundled example with the golden numbers."""
    names = list(dict.fromkeys(resolve(name)[0] for name in only or list_names()))
    scores, skipped = golden_scores(names)
    if update is not None:
        write_golden(Path(update), scores)
        return 0
    expected = json.loads((files("monge") / "example" / "golden.json").read_text("utf-8"))
    worst, bad = 0.0, []
    for name, systems in scores.items():
        for system, score in systems.items():
            golden = expected.get(name, {}).get(system)
            if golden is None:
                bad.append(f"{name} {system}: {score:.8f}, and no golden number for it")
                continue
            gap = abs(score - golden) / max(1.0, abs(golden))
            worst = max(worst, gap)
            if not gap <= TOLERANCE:
                bad.append(f"{name} {system}: {score:.8f}, expected {golden:.8f}")
    if bad:
        raise ModelError(
            f"{len(bad)} score(s) differ from the golden numbers: " + "; ".join(bad[:5])
        )
    count = sum(len(systems) for systems in scores.values())
    not_installed = f"; not installed: {', '.join(skipped)}" if skipped else ""
    sys.stdout.write(
        f"ok: {count} scores of {len(scores)} metrics, largest relative difference {worst:.1e}"
        f"{not_installed}\n"
    )
    return 0


def list_names() -> list[str]:
    """Return the names of all metrics that have golden numbers, in the order of the file."""
    return [*PRESETS, *BLENDS, *LEXICAL]


def write_golden(path: Path, scores: Golden) -> None:
    """Write the scores of these metrics; the rows of other metrics stay as the file has them."""
    from monge.datasets.output import write_text

    old_rows = json.loads(path.read_text("utf-8")) if path.exists() else {}
    golden = {**old_rows, **scores}
    rows = {name: golden[name] for name in list_names() if name in golden}
    write_text(str(path), json.dumps(rows, indent=1) + "\n")


def golden_scores(names: Sequence[str]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Return the scores of both example systems, and the metrics whose library is not installed.

    Metrics of vectors use the embedded model.
    """
    folder = files("monge") / "example"
    texts = {
        name: (folder / f"{name}.txt").read_text("utf-8").split("\n")[:-1]
        for name in ("system-a", "system-b", "reference")
    }
    rows = [
        Segment(str(number), texts[system][number], (texts["reference"][number],), system=system)
        for number in range(len(texts["reference"]))
        for system in ("system-a", "system-b")
    ]
    of_vectors = [api.bind(*resolve(name)) for name in names if name not in LEXICAL]
    results = api.score_segments(of_vectors, rows) if of_vectors else []
    skipped = []
    for name in (name for name in names if name in LEXICAL):
        try:
            results += api.score_segments([api.bind(*resolve(name))], rows)
        except MissingExtra:
            skipped.append(name)
    scores: dict[str, dict[str, float]] = {name: {} for name in names if name not in skipped}
    for result in results:
        scores[result.metric][result.system] = result.score
    return scores, skipped
