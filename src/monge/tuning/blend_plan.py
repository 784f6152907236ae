"""The plan of a blend: its members, its data, and how its weights are fitted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from monge.tuning.lessons import DataLocation

ALL, HELD_OUT = "all", "held-out"
ROWS = (ALL, HELD_OUT)
"""The judgements that weights are fitted on: all, or those that the members' adapters held out."""


@dataclass(frozen=True)
class BlendPlan:
    """All settings that decide the weights of a blend.

    Attributes:
        metrics: The names of the members, as `-m` takes them: transport and lexical metrics.
        lessons: The human scores to fit on: data sets joined by +, as `--train` takes them.
        data: The directory of the published files; for `table`, the file.
        model: The model of members that name none.
        settings: `AXIS=VALUE` changes of every member that has the axis.
        pairs: Only these groups, such as `*-en`; all by default.
        human: The column of human scores, where there are several.
        text: Which version of the texts is scored: raw or tokenised.
        folds: The number of parts for cross-validation.
        signed: Whether weights may be negative.
        rows: `all`, or `held-out`: only the judgements that the members' adapters held out.
        scores: Files of out-of-fold scores by member, MEMBER=FILE, in place of the member's own.
        dev: Other human scores, to report agreement on: data sets joined by +. Judgements that
            share a text with them are left out of the fit.
        seed: The seed of the folds and the resamples.

    Examples:
        >>> from monge.tuning import BlendPlan
        >>> BlendPlan(["twmd", "sbert"], "wmt15+wmt16", "wmt/").folds
        10
    """

    metrics: Sequence[str]
    lessons: str | Sequence[str]
    data: str | Path
    model: str = "auto"
    settings: Sequence[str] = ()
    pairs: Sequence[str] | None = None
    human: str | None = None
    text: str = "raw"
    folds: int = 10
    signed: bool = False
    rows: str = ALL
    scores: Sequence[str] = ()
    dev: str | None = None
    seed: int = 12345

    @property
    def location(self) -> DataLocation:
        """The location of the judgements, and how they are read."""
        return DataLocation(self.data, self.pairs, self.human, self.text, {}, self.seed)

    @property
    def command(self) -> str:
        """The command line of the plan, with a placeholder for the directory of the data."""
        lessons = [self.lessons] if isinstance(self.lessons, str) else self.lessons
        words = ["monge tune blend", *(f"-m {_quote(name)}" for name in self.metrics)]
        words += [f"--train {_quote(lesson)}" for lesson in lessons]
        words.append("--data DIR")
        words += [f"--pairs {_quote(','.join(self.pairs))}"] if self.pairs else []
        options = {"--model": self.model, "--human": self.human, "--text": self.text,
                   "--folds": self.folds, "--rows": self.rows, "--dev": self.dev,
                   "--seed": self.seed}  # fmt: skip
        usual = {"--model": "auto", "--human": None, "--text": "raw", "--folds": 10,
                 "--rows": ALL, "--dev": None, "--seed": 12345}  # fmt: skip
        words += [f"{name} {v}" for name, v in options.items() if v != usual[name]]
        words += [f"--set {_quote(setting)}" for setting in self.settings]
        words += [f"--scores {_quote(option)}" for option in self.scores]
        return " ".join([*words, *(["--signed"] if self.signed else [])])


def _quote(word: str) -> str:
    return f"'{word}'" if any(mark in word for mark in "*()[]?$& ") else word
