"""The hash that bert-score prints, as settings of monge: what it says, and what it does not tell."""

from __future__ import annotations

import re
from dataclasses import dataclass

from monge.errors import StatisticsMismatch

_HASH = re.compile(
    r"(?P<model>.+)_L(?P<layer>\d+)_(?P<idf>no-idf|idf)_version=(?P<version>[^(]+)\(hug_trans=(?P<transformers>[^)]+)\)"
    r"(?:-(?P<rescaled>custom-rescaled|rescaled))?(?P<fast>_fast-tokenizer)?"
)
_UNTOLD = (
    "the revision and the weights of the model; how long a text may be; the precision, the device, torch's version"
)


@dataclass(frozen=True)
class FromHash:
    """What a hash of bert-score says."""

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
        """The metric as `-m` takes it."""
        changed = [f"layers={self.layer}", *["weights=idf"] * self.idf]
        return f"bertscore@release[{','.join(changed)}]"

    @property
    def command(self) -> str:
        """The command that computes the same, as far as the hash tells."""
        rescale = " --rescale --lang LANG" * self.rescaled + " --stats BASELINE" * self.custom
        return f"monge score -t HYPOTHESES -r REFERENCES -m '{self.metric}' --model {self.model}{rescale}"

    @property
    def untold(self) -> list[str]:
        """What moves the score and is not in the hash."""
        found = [_UNTOLD]
        if self.idf:
            found.append(
                "the texts that idf was fitted on: monge takes the references of the run, or --idf-corpus FILE"
            )
        if self.custom:
            found.append(
                "what the baseline file said: fit one with monge fit --baseline, or use baseline_path in Python"
            )
        elif self.rescaled:
            found.append(
                "the language of the baseline (--lang), and whether it was there: score() of bert-score says -rescaled "
                "though it found no file and rescaled nothing"
            )
        if self.version == "0.3.12":
            found.append("its own version: the package 0.3.13 calls itself 0.3.12")
        return found

    def facts(self) -> dict[str, str]:
        """The settings by name, in words."""
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
    """What a hash such as `roberta-large_L17_no-idf_version=0.3.12(hug_trans=4.30.2)-rescaled` says."""
    found = _HASH.fullmatch(line.strip())
    if found is None:
        raise StatisticsMismatch(
            f"not a hash of bert-score: {line.strip()[:80]!r}; expected one such as "
            "'roberta-large_L17_no-idf_version=0.3.12(hug_trans=4.30.2)-rescaled', in quotes"
        )
    return FromHash(
        model=found["model"],
        layer=int(found["layer"]),
        idf=found["idf"] == "idf",
        rescaled=found["rescaled"] is not None,
        custom=found["rescaled"] == "custom-rescaled",
        version=found["version"],
        transformers=found["transformers"],
        fast=found["fast"] is not None,
    )
