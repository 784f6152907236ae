"""What a difference of two systems means to people: how often they ranked two systems that far
apart the same way.

The kept curves (`kept/differences.json`, made by tools/make_differences.py) are of system pairs of
WMT17 and WMT18 into English, and of those and of WMT24 out of English; a curve belongs to one
metric with its settings and model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from monge.metrics.languages import LANGUAGES
from monge.stats.isotonic import evaluate_steps
from monge.types import Signature

_OF_THE_RUN = frozenset({"monge", "stats", "device", "precision", "version"})
"""Fields of a signature that do not decide how far apart systems are."""


ALMOST_ALL = 0.99
"""A larger share is shown as more than this: pairs that all agree do not exclude an exception."""


@dataclass(frozen=True, slots=True)
class HumanMeaning:
    """The share of `pairs` kept system pairs, this far apart, that people ranked the same way.

    `error` is the mean difference between the shares of a year and those predicted from the
    others; `data` names the judgements.
    """

    share: float
    pairs: int
    error: float
    data: str

    @property
    def shown(self) -> str:
        """The share in per cent."""
        return f"> {ALMOST_ALL:.0%}" if self.share > ALMOST_ALL else f"{self.share:.0%}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "ranked_the_same_way": self.share,
            "pairs": self.pairs,
            "error": self.error,
            "data": self.data,
        }


def key_of(signature: Signature) -> str:
    """Return the name of a curve: the fields of a signature that differences depend on."""
    return "|".join(f"{key}:{value}" for key, value in signature.fields if key not in _OF_THE_RUN)


@cache
def _read_kept() -> Sequence[Mapping[str, Any]]:
    text = (files("monge.evaluation") / "kept" / "differences.json").read_text("utf-8")
    return json.loads(text)["collections"]  # type: ignore[no-any-return]


def find_meaning(signature: Signature, difference: float, language: str) -> HumanMeaning | None:
    """Return what a difference of two systems by a metric means; None where that is not known.

    It is known for texts of the languages of a kept collection, and for metrics with the settings
    and the model of one of its curves.
    """
    key = key_of(signature)
    for collection in _read_kept():
        curve = collection["curves"].get(key)
        if curve is None or language not in collection["languages"]:
            continue
        share = evaluate_steps(
            np.array(curve["places"]), np.array(curve["shares"]), np.array([abs(difference)])
        )
        return HumanMeaning(float(share[0]), curve["pairs"], curve["error"], collection["data"])
    return None


def describe_source(
    meaning: HumanMeaning | None, signature: Signature, language: str
) -> tuple[str, ...]:
    """Return the line that says what the column `people` is, or why there is none.

    Nothing is said of a metric that has no curve in any language.
    """
    if meaning is None:
        key = key_of(signature)
        if not language or not any(key in collection["curves"] for collection in _read_kept()):
            return ()
        name = LANGUAGES.get(language, language)
        return (f"people: not enough judgements of texts in {name} to say what a difference means",)
    return (
        f"people: of {meaning.data}, the share of pairs this far apart that people ranked the same "
        f"way ({meaning.pairs} pairs; {100 * meaning.error:.0f} points off from year to "
        "year)",
    )
