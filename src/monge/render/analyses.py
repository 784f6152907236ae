"""An analysis of word vectors as text, from its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monge.render.cells import pad

KINDS = ("baseline", "self", "intra")


def analysis_text(found: Mapping[str, Any]) -> str:
    """Similarities by layer under every centring, then the three properties."""
    centrings = found["centrings"]
    lines = [
        f"{found['model']} ({found['weights']}): {found['texts']} texts, {found['words']} words, "
        f"{found['recurring']} of them in {found['contexts']} texts or more; {found['pairs']} pairs a similarity, "
        f"batches of {found['batch']}, seed {found['seed']}"
    ]
    if found["skipped"]:
        lines.append(f"{found['skipped']} text(s) longer than the model reads were left out")
    depth = len(centrings[0]["levels"]["baseline"])
    lines += ["", pad("", 5) + "".join(pad(f"    {one['centring']}", 29) for one in centrings)]
    lines.append("layer" + "".join("  " + "".join(pad(kind, 9, "r") for kind in KINDS) for _ in centrings))
    for layer in range(depth):
        cells = [
            "  " + "".join(pad(f"{one['levels'][kind][layer]['value']:.3f}", 9, "r") for kind in KINDS)
            for one in centrings
        ]
        lines.append(pad(str(layer), 5, "r") + "".join(cells))
    lines.append("")
    for one in centrings:
        for number, what in enumerate(one["properties"], start=1):
            head = pad(one["centring"] if number == 1 else "", 10)
            lines.append(f"{head} {number} {pad(what['name'], 28)} {pad(what['verdict'], 6)} {what['why']}")
    return "\n".join(line.rstrip() for line in lines) + "\n"
