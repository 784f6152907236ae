"""The studies with the paper's own default configuration (A.5), read as those with ours are."""

from __future__ import annotations

import re
from dataclasses import replace

from sensitivity_pages.readings import Studies

from monge.evaluation import Sensitivity
from monge.evaluation.sensitivity.effects import Effect

ENDING = "-a5"
"""How the names of these studies end."""
METRICS = {
    "moverscore@v1": "moverscore",
    "moverscore-2@v1": "moverscore-2",
    "bertscore[weights=idf]": "bertscore",
}
_DRAWN = re.compile(r"corpora/(random-\d+)-\{lang\}\.txt")


def is_of_paper(name: str) -> bool:
    """Return whether a study has the paper's default configuration."""
    return name.endswith(ENDING)


def ours(studies: Studies) -> dict[str, Sensitivity]:
    """Return the studies with our default configuration."""
    return {name: study for name, study in studies.items() if not is_of_paper(name)}


def of_paper(studies: Studies) -> dict[str, Sensitivity]:
    """Return the studies with the paper's, under the names and settings that ours have.

    Of the summaries' three statistics Pearson's r is the one that ours have.
    """
    renamed = {}
    for name, study in studies.items():
        if is_of_paper(name):
            key = name.removesuffix(ENDING).removesuffix("-pearson")
            renamed[key] = replace(
                study, effects=tuple(_rename(effect) for effect in study.effects)
            )
    return renamed


def _rename(effect: Effect) -> Effect:
    """Return an effect with our name of the metric and the names of drawn corpora."""
    levels = tuple(
        replace(setting_level, setting=_DRAWN.sub(r"\1", setting_level.setting))
        for setting_level in effect.levels
    )
    spreads = {
        group: replace(spread, best=_DRAWN.sub(r"\1", spread.best))
        for group, spread in effect.spreads.items()
    }
    return replace(
        effect,
        metric=METRICS.get(effect.metric, effect.metric),
        levels=levels,
        spreads=spreads,
    )
