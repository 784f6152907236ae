"""Verdicts on the papers' claims from kept results; tools/paper_claims.toml says what decides.

A verdict is one of VERDICTS. A claim that was tried several times holds if it holds beyond noise
in every trial, holds in part if it does in some and the opposite is seen in no more, does not hold
if the opposite is seen beyond noise in more trials, and is not settled if no interval settles it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from statistics import NormalDist
from typing import Any

from make_paper_studies import read_study
from paper_tuning_page import pick_pair, read_p, read_rows, show_interval
from repository import ROOT

CLAIMS = ROOT / "tools" / "paper_claims.toml"
HOLDS, IN_PART, FAILS, OPEN, CANNOT = VERDICTS = (
    "holds",
    "holds in part",
    "does not hold",
    "not settled",
    "cannot be tested here",
)
SAMPLE = re.compile(r"(\w+): a sample of (\d+) source segments")
MOST_SHOWN = 3
"""Up to this many trials a row of the page shows each."""


@dataclass(frozen=True)
class Trial:
    """A claim tried once: where, our margin with its interval, and the verdict of the interval."""

    place: str
    margin: float
    low: float
    high: float
    verdict: str
    figures: str = ""

    def show(self) -> str:
        """Return the margin with its interval, or with the figures it is the difference of."""
        bounds = self.figures or f"[{self.low:+.3f}, {self.high:+.3f}]"
        return f"{self.margin:+.3f} {bounds}".replace("-", "−")


@dataclass(frozen=True)
class Finding:
    """What came out for a claim: what was run, figures, verdict."""

    run: str
    figures: str
    verdict: str


def read_claims() -> list[dict[str, Any]]:
    """Return the claims of the papers."""
    claims: list[dict[str, Any]] = tomllib.loads(CLAIMS.read_text("utf-8"))["claim"]
    return claims


def name_verdict(claim: Mapping[str, Any]) -> str:
    """Return the verdict of one trial of a table."""
    return (HOLDS if claim["holds"] else FAILS) if claim["sure"] else OPEN


def join_verdicts(verdicts: Sequence[str]) -> str:
    """Return the verdict on a claim from those of its trials."""
    if len(set(verdicts)) == 1:
        return verdicts[0]
    held, failed = (verdicts.count(kind) for kind in (HOLDS, FAILS))
    return IN_PART if held >= max(failed, 1) else FAILS


def judge_interval(low: float, high: float, rule: str) -> str:
    """Return the verdict of an interval: above 0 or a bound, below 0, or within a distance of 0."""
    if rule.startswith("within"):
        bound = float(rule.removeprefix("within"))
        if low >= -bound and high <= bound:
            return HOLDS
        return FAILS if low > bound or high < -bound else OPEN
    if rule.startswith("above"):
        bound = float(rule.removeprefix("above"))
        low, high = low - bound, high - bound
    if rule == "below 0":
        low, high = -high, -low
    return HOLDS if low > 0 else FAILS if high < 0 else OPEN


def list_trials(
    lines: Sequence[str], path_of: Callable[[str], Any]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield every claim of the kept runs: table, condition, and the claim."""
    for line in lines:
        if not path_of(line).exists():
            continue
        table, _, options = line.partition(" ")
        words = options.replace("MODELS/", "").split()
        condition = [words[k + 1] for k, word in enumerate(words) if word == "--model"]
        condition += [f"layers {words[k + 1]}" for k, w in enumerate(words) if w == "--layers"]
        condition += [words[k + 1] for k, word in enumerate(words) if word == "--pairs"]
        condition += [name_stand_in(words[k + 1]) for k, w in enumerate(words) if w == "--stand-in"]
        for result in json.loads(path_of(line).read_text("utf-8"))["results"]:
            for reading in result["readings"]:
                samples = [" ".join(sample) for sample in SAMPLE.findall(str(reading["notes"]))]
                names = [*condition, reading["reading"], *(f"sampled {size}" for size in samples)]
                for claim in reading["verdict"]["claims"]:
                    if claim["ours"] is not None and claim["low"] is not None:
                        yield table, ", ".join(name for name in names if name), claim


def name_stand_in(written: str) -> str:
    """Return in words which model or adapter stands for which of the paper's: `PUBLISHED=PATH`."""
    published_model, _, path = written.partition("=")
    return f"{path.rpartition('/')[2]} for {published_model}"


def find_trials(claim: Mapping[str, Any], trials: Sequence[tuple[str, str, Any]]) -> list[Trial]:
    """Return the trials of a claim, each result once: tables repeat each other's rows.

    `also` are its trials with e5-small where they have a text of their own, tuned for that model;
    those with the multilingual model, which nothing was tuned for, do not count then. With `layers`
    those at other layers than the usual one count too; `reading` keeps one reading of a table.
    """
    by_result: dict[tuple[float, float], Trial] = {}
    texts = {**dict.fromkeys(claim.get("trials", ()), False)}
    own = dict.fromkeys(claim.get("also", ()), True)
    for table, condition, outcome in trials:
        if "layers" in condition and not claim.get("layers"):
            continue
        if claim.get("reading", "") not in condition:
            continue
        if outcome["says"] not in {**texts, **own}:
            continue
        is_multilingual = "multilingual" in condition
        is_small = "e5-small" in condition and not is_multilingual
        if own and (is_multilingual or is_small != own.get(outcome["says"], False)):
            continue
        key = round(outcome["ours"], 9), round(outcome["low"], 9)
        place = f"{table} ({condition})" if condition else table
        by_result.setdefault(
            key,
            Trial(place, outcome["ours"], outcome["low"], outcome["high"], name_verdict(outcome)),
        )
    return list(by_result.values())


def read_interval(margin: float, p: float) -> tuple[float, float]:
    """Return the 95 % interval of a margin that a two-sided p implies if draws are normal.

    Where p is the least that the resamples give, the interval is narrower than this.
    """
    if p >= 1:
        return -inf, inf
    normal = NormalDist()
    width = abs(margin) * normal.inv_cdf(0.975) / normal.inv_cdf(1 - p / 2)
    return margin - width, margin + width


def find_changes(claim: Mapping[str, Any]) -> list[Trial]:
    """Return what tuning changed, with intervals, or with the p of a test where that is kept."""
    trials = []
    for reference in claim.get("tuned", ()):
        name, metric = reference.split()
        before, after = pick_pair(read_rows(name), metric=metric, statistic="pearson")
        margin = after["mean"] - before["mean"]
        if "change" in after:
            low, high, figures = after["change"]["low"], after["change"]["high"], ""
        else:
            p = read_p(before, after)
            low, high = read_interval(margin, p)
            figures = f"({show_interval(before)} → {show_interval(after)}, p {p:.3f})"
        verdict = judge_interval(low, high, claim.get("rule", ""))
        place = "[tuning](tuning-papers.md)"
        trials.append(Trial(place, margin, low, high, verdict, figures))
    return trials


def find_margins(claim: Mapping[str, Any]) -> list[Trial]:
    """Return the margins of studies that decide a claim."""
    trials = []
    for reference in claim["margins"]:
        study, _, says = reference.partition(": ")
        for margin in read_study(study).get("margins", ()):
            if margin["says"] == says:
                verdict = judge_interval(margin["low"], margin["high"], claim.get("rule", ""))
                place = f"[{study}](reproduction/studies.md#{study})"
                trials.append(Trial(place, margin["value"], margin["low"], margin["high"], verdict))
    return trials


def name_runs(trials: Sequence[Trial]) -> str:
    """Return the tables and studies of trials, with the samples that were drawn of data sets."""
    places: dict[str, list[list[str]]] = {}
    for trial in trials:
        name, _, condition = trial.place.partition(" ")
        places.setdefault(name, []).append(re.findall(r"sampled (\S+ \d+)", condition))
    parts = []
    for name, samples in places.items():
        sizes = sorted({sample for line in samples for sample in line})
        how = "sampled" if all(samples) else "in part sampled"
        title = name if "[" in name else f"`{name}`"
        parts.append(f"{title} ({how}: {', '.join(sizes)})" if sizes else title)
    return ", ".join(parts)


def judge_trials(trials: Sequence[Trial], place: str = "") -> Finding:
    """Return the finding from several trials."""
    if not trials:
        return Finding("", "not run", CANNOT)
    verdict = join_verdicts([trial.verdict for trial in trials])
    run = place or name_runs(trials)
    if len(trials) <= MOST_SHOWN:
        return Finding(run, "; ".join(trial.show() for trial in trials), verdict)
    counts = [
        f"{count} {word}"
        for word, kind in (("hold", HOLDS), ("fail", FAILS), ("not settled", OPEN))
        if (count := sum(trial.verdict == kind for trial in trials))
    ]
    ordered = sorted(trials, key=lambda trial: trial.margin)
    figures = (
        f"{len(trials)} trials: {', '.join(counts)}; from {ordered[0].show()} to "
        f"{ordered[-1].show()}"
    )
    return Finding(run, figures, verdict)
