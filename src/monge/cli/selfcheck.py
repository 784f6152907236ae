"""`monge selfcheck`: does this installation give the numbers it should?"""

from __future__ import annotations

import json
import sys
from importlib.resources import files
from typing import Annotated

from monge import api
from monge.cli.options import option
from monge.errors import ModelError
from monge.metrics.presets import PRESETS, resolve
from monge.types import Segment

TOLERANCE = 1e-5


def selfcheck(
    update: Annotated[
        str | None, option("--update", help="Write the golden numbers to a file.", hidden=True)
    ] = None,
) -> int:
    """Compare the scores of the bundled example with the golden numbers."""
    scores = golden_scores()
    if update is not None:
        from monge.datasets.output import write_text

        write_text(update, json.dumps(scores, indent=1) + "\n")
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
            if gap > TOLERANCE:
                bad.append(f"{name} {system}: {score:.8f}, expected {golden:.8f}")
    if bad:
        raise ModelError(
            f"{len(bad)} score(s) differ from the golden numbers: " + "; ".join(bad[:5])
        )
    count = sum(len(systems) for systems in scores.values())
    sys.stdout.write(
        f"ok: {count} scores of {len(scores)} metrics, largest relative difference {worst:.1e}\n"
    )
    return 0


def golden_scores() -> dict[str, dict[str, float]]:
    """Return the score of both example systems under every metric, with the embedded model."""
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
    loaded = [api.bind(*resolve(name)) for name in PRESETS]
    scores_by_metric: dict[str, dict[str, float]] = {name: {} for name in PRESETS}
    for result in api.score_segments(loaded, rows):
        scores_by_metric[result.metric][result.system] = result.score
    return scores_by_metric
