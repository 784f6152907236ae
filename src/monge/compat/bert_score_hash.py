"""Translate the hash that bert-score prints into settings of monge; list what it leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monge.errors import StatisticsMismatch

_HASH = re.compile(
    r"(?P<model>.+)_L(?P<layer>\d+)_(?P<idf>no-idf|idf)_version=(?P<version>[^(]+)\(hug_trans=(?P<transformers>[^)]+)\)"
    r"(?:-(?P<rescaled>custom-rescaled|rescaled))?(?P<fast>_fast-tokenizer)?"
)
_UNTOLD = (
    "the revision and the weights of the model; how long a text may be; the precision, the device, "
    "torch's version"
)


@dataclass(frozen=True)
class FromHash:
    """The settings in a hash of bert-score."""

    model: str
    layer: int
    idf: bool
    rescaled: bool
    custom: bool
    version: str
    transformers: str
    fast: bool

    @property
    def metric(self) -> str:
        """The metric in the form of the option `-m`."""
        changed = [f"layers={self.layer}", *["weights=idf"] * self.idf]
        return f"bertscore@release[{','.join(changed)}]"

    @property
    def command(self) -> str:
        """The command that computes the same scores, as far as the hash tells."""
        rescale = " --rescale --lang LANG" * self.rescaled + " --stats BASELINE" * self.custom
        return (
            f"monge score -t HYPOTHESES -r REFERENCES -m '{self.metric}' --model "
            f"{self.model}{rescale}"
        )

    @property
    def untold(self) -> list[str]:
        """The things that change the score and are not in the hash."""
        missing = [_UNTOLD]
        if self.idf:
            missing.append(
                "the texts that idf was fitted on: monge takes the references of the run, or "
                "--idf-corpus FILE"
            )
        if self.custom:
            missing.append(
                "what the baseline file said: fit one with monge fit --baseline, or use "
                "baseline_path in Python"
            )
        elif self.rescaled:
            missing.append(
                "the language of the baseline (--lang), and whether it was there: score() of "
                "bert-score says -rescaled though it found no file and rescaled nothing"
            )
        if self.version == "0.3.12":
            missing.append("its own version: the package 0.3.13 calls itself 0.3.12")
        return missing

    def facts(self) -> dict[str, str]:
        """Return the settings by name, as texts."""
        return {
            "metric": self.metric,
            "model": self.model,
            "layer": str(self.layer),
            "weights": "idf" if self.idf else "uniform",
            "rescaled": "by a file of one's own"
            if self.custom
            else "by a published baseline"
            if self.rescaled
            else "no",
            "bert-score": self.version,
            "transformers": self.transformers,
            "tokenizer": "fast"
            if self.fast
            else "slow (monge's are fast: the same pieces but for rare faults of either)",
        }


def parse_hash(line: str) -> FromHash:
    """Parse a hash such as `roberta-large_L17_no-idf_version=0.3.12(hug_trans=4.30.2)-rescaled`."""
    match = _HASH.fullmatch(line.strip())
    if match is None:
        raise StatisticsMismatch(
            f"not a hash of bert-score: {line.strip()[:80]!r}; expected one such as "
            "'roberta-large_L17_no-idf_version=0.3.12(hug_trans=4.30.2)-rescaled', in quotes"
        )
    return FromHash(
        model=match["model"],
        layer=int(match["layer"]),
        idf=match["idf"] == "idf",
        rescaled=match["rescaled"] is not None,
        custom=match["rescaled"] == "custom-rescaled",
        version=match["version"],
        transformers=match["transformers"],
        fast=match["fast"] is not None,
    )
