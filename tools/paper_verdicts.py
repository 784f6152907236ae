"""Verdicts on the papers' claims from kept results; tools/paper_claims.toml says what decides.

A verdict is one of VERDICTS. A claim that was tried several times holds if it holds beyond noise
in every trial, does not hold if it fails beyond noise somewhere and holds nowhere, and holds in
part if it holds beyond noise in some trials; it is not settled if no interval settles it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from make_paper_studies import read_study
from paper_tuning_page import pick_pair, read_p, read_rows, show_interval
from repository import RESULTS, ROOT

CLAIMS = ROOT / "tools" / "paper_claims.toml"
HOLDS, IN_PART, FAILS, OPEN, CANNOT = VERDICTS = (
    "holds",
    "holds in part",
    "does not hold",
    "not settled",
    "cannot be tested here",
)
LARGEST_P = 0.05
"""A change with a larger p than this is not settled."""
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
    kinds = set(verdicts)
    if len(kinds) == 1:
        return next(iter(kinds))
    return IN_PART if HOLDS in kinds else FAILS


def judge_interval(low: float, high: float, rule: str) -> str:
    """Return the verdict of an interval: above 0, below 0, or within a distance of 0."""
    if rule.startswith("within"):
        bound = float(rule.removeprefix("within"))
        if low >= -bound and high <= bound:
            return HOLDS
        return FAILS if low > bound or high < -bound else OPEN
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
        for result in json.loads(path_of(line).read_text("utf-8"))["results"]:
            for reading in result["readings"]:
                for claim in reading["verdict"]["claims"]:
                    if claim["ours"] is not None and claim["low"] is not None:
                        names = [*condition, reading["reading"]]
                        yield table, ", ".join(name for name in names if name), claim


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


def find_changes(claim: Mapping[str, Any]) -> list[Trial]:
    """Return what tuning changed, with intervals, or with the p of a test where that is kept."""
    trials = []
    for reference in claim.get("tuned", ()):
        name, metric = reference.split()
        before, after = pick_pair(read_rows(name), metric=metric, statistic="pearson")
        margin = after["mean"] - before["mean"]
        if "change" in after:
            low, high, figures = after["change"]["low"], after["change"]["high"], ""
            verdict = judge_interval(low, high, claim.get("rule", ""))
        else:
            low, high, p = margin, margin, read_p(before, after)
            figures = f"({show_interval(before)} → {show_interval(after)}, p {p:.3f})"
            verdict = OPEN if p > LARGEST_P else HOLDS if margin > 0 else FAILS
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


def judge_trials(trials: Sequence[Trial], place: str = "") -> Finding:
    """Return the finding from several trials."""
    if not trials:
        return Finding("", "not run", CANNOT)
    verdict = join_verdicts([trial.verdict for trial in trials])
    places = list(dict.fromkeys(trial.place.partition(" ")[0] for trial in trials))
    run = place or ", ".join(name if "[" in name else f"`{name}`" for name in places)
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


def make_finding(claim: Mapping[str, Any], trials: Sequence[tuple[str, str, Any]]) -> Finding:
    """Return what came out for a claim."""
    if "cannot" in claim:
        return Finding("", claim["cannot"], CANNOT)
    if "tests" in claim:
        return Finding("", claim["tests"], HOLDS)
    if "judged" in claim:
        finding = JUDGES[claim["judged"]](trials)
    elif "margins" in claim:
        finding = judge_trials(find_margins(claim))
    else:
        finding = judge_trials([*find_trials(claim, trials), *find_changes(claim)])
    if "note" in claim and finding.figures != "not run":
        return Finding(finding.run, f"{finding.figures}; {claim['note']}", finding.verdict)
    return finding


NOT_RUN = Finding("", "not run", CANNOT)
Trials = Sequence[tuple[str, str, Any]]


def _read_table(name: str) -> dict[str, Any]:
    """Return the first kept run of a published table whose file name begins so."""
    paths = sorted((RESULTS / "reproduction").glob(f"{name}*.json"))
    if not paths:
        return {}
    result: dict[str, Any] = json.loads(paths[0].read_text("utf-8"))["results"][0]
    return result


def judge_data_to_text(_: Trials) -> Finding:
    """Judge whether no metric reaches a rank correlation of .3 on data-to-text."""
    table = _read_table("moverscore-9")
    if not table:
        return NOT_RUN
    rows = table["readings"][0]["rows"]
    values = [value for row in rows for value in row["ours"] if value is not None]
    verdict = HOLDS if max(values) < 0.3 else FAILS
    return Finding(
        "`moverscore-9`", f"largest of {len(values)} figures {max(values):.3f} (below .3)", verdict
    )


def judge_value_of_data_to_text(_: Trials) -> Finding:
    """Judge whether MoverScore's figures on data-to-text come out lower again."""
    table = _read_table("moverscore-9")
    if not table:
        return NOT_RUN
    row = next(
        row for row in table["readings"][0]["rows"] if row["label"] == "WMD-1 + BERT + PMEANS"
    )
    gaps = [value for value in row["difference"] if value is not None]
    verdict = HOLDS if max(gaps) < 0.01 and min(gaps) < -0.01 else FAILS
    text = f"ours minus MoverScore's own: {min(gaps):+.3f} to {max(gaps):+.3f} in {len(gaps)}"
    return Finding("`moverscore-9`", f"{text} columns (another model)", verdict)


def judge_examples(_: Trials) -> Finding:
    """Judge how many of the two examples Lazy-EMD gets right."""
    table = _read_table("lazy-emd-1")
    if not table:
        return NOT_RUN
    claims = [
        claim
        for claim in table["readings"][0]["verdict"]["claims"]
        if claim["says"].startswith("Lazy-EMD prefers")
    ]
    right = sum(bool(claim["holds"]) for claim in claims)
    verdict = HOLDS if right == len(claims) else IN_PART if right else FAILS
    margins = ", ".join(f"{claim['ours']:+.3f}" for claim in claims)
    return Finding("`lazy-emd-1`", f"right in {right} of {len(claims)}: {margins}", verdict)


def judge_batches(_: Trials) -> Finding:
    """Judge whether batches of 32 centre as well as the corpus, within .01, on every task."""
    return _judge_tasks("batches over the corpus", "within 0.01", "within .01")


def judge_normalising(_: Trials) -> Finding:
    """Judge whether normalising changes nothing, within .01, on every task."""
    return _judge_tasks("normalised over plain", "within 0.01", "within .01")


def judge_recall(_: Trials) -> Finding:
    """Judge whether recall is never reliably behind precision or F1 over the tasks."""
    tasks = read_study("sides").get("tasks", {})
    if not tasks:
        return NOT_RUN
    behind, ahead, parts = 0, 0, []
    for title, task in tasks.items():
        for margin in task["margins"]:
            if margin["says"] in ("recall over precision", "recall over F1"):
                behind += margin["high"] < 0
                ahead += margin["low"] > 0
                if margin["high"] < 0:
                    parts.append(
                        f"{title}, {margin['says']}: {margin['value']:+.3f} "
                        f"[{margin['low']:+.3f}, {margin['high']:+.3f}]"
                    )
    verdict = HOLDS if not behind else IN_PART if ahead else FAILS
    figures = f"ahead of precision or F1 beyond noise in {ahead} of {2 * len(tasks)}, behind in "
    return Finding(
        "[sides](reproduction/studies.md#sides)",
        f"{figures}{behind}" + (f": {'; '.join(parts[:2])}" if parts else ""),
        verdict,
    )


def _judge_tasks(says: str, rule: str, shown_rule: str) -> Finding:
    """Return the finding on a margin that a study has for several tasks."""
    trials = [
        Trial(
            title,
            margin["value"],
            margin["low"],
            margin["high"],
            judge_interval(margin["low"], margin["high"], rule),
        )
        for title, task in read_study("sides").get("tasks", {}).items()
        for margin in task["margins"]
        if margin["says"] == says
    ]
    if not trials:
        return NOT_RUN
    finding = judge_trials(trials, "[sides](reproduction/studies.md#sides)")
    return Finding(finding.run, f"{finding.figures} ({shown_rule})", finding.verdict)


def judge_layers(trials: Trials) -> Finding:
    """Judge whether the orders and the effects of centring are the same at every layer."""
    verdicts: dict[str, set[str]] = {}
    layers = set()
    for table, condition, claim in trials:
        if table == "tempered-2" and "layers" in condition:
            layers.add(condition)
            verdicts.setdefault(claim["says"], set()).add(name_verdict(claim))
    if not layers:
        return NOT_RUN
    turned = sorted(says for says, kinds in verdicts.items() if {HOLDS, FAILS} <= kinds)
    stable = len(verdicts) - len(turned)
    figures = f"{len(layers)} layers of two models: {stable} of {len(verdicts)} claims never turn"
    if turned:
        figures += f"; these hold at some layers and fail at others: {', '.join(turned)}"
    return Finding("`tempered-2 --layers`", figures, IN_PART if turned else HOLDS)


def judge_convergence(_: Trials) -> Finding:
    """Judge whether the median number of sweeps rises as the temperature falls."""
    results = [
        result
        for name in ("convergence", "convergence-e5")
        for result in read_study(name).get("results", ())
    ]
    if not results:
        return NOT_RUN
    parts, rising = [], True
    for result in results:
        rows = result["results"]
        medians = [row["median"]["value"] for row in rows]
        counts = [float("inf") if value is None else value for value in medians]
        rising = rising and all(a >= b for a, b in pairwise(counts))
        middle = next(row for row in rows if row["temperature"] == 0.01)["median"]
        last = rows[-1]["median"]
        parts.append(
            f"{result['model']}: median {middle['value']:g} [{middle['low']:g}, "
            f"{middle['high']:g}] sweeps at T = .01, {last['value']:g} at .15"
        )
    return Finding(
        "[convergence](reproduction/studies.md#convergence)",
        "; ".join(parts),
        HOLDS if rising else FAILS,
    )


def judge_vectors(_: Trials) -> Finding:
    """Judge whether corpus centring has all three properties and no centring has not."""
    results = read_study("vectors").get("results", ())
    if not results:
        return NOT_RUN
    held, without, total = 0, 0, 0
    for result in results:
        for centring in result["centrings"]:
            has_all = all(record["verdict"] == "holds" for record in centring["properties"])
            if centring["centring"] == "corpus":
                total += 1
                held += has_all
            elif centring["centring"] in ("none", "dimension", "sentence"):
                without += has_all
    verdict = HOLDS if held == total and not without else IN_PART if held else FAILS
    return Finding(
        "[vectors](reproduction/studies.md#vectors)",
        f"corpus centring has all three properties on {held} of {total} models; without it, or by "
        f"dimension or sentence, {without} of {3 * total} have",
        verdict,
    )


JUDGES: Mapping[str, Callable[[Trials], Finding]] = {
    judge.__name__: judge
    for judge in (
        judge_batches,
        judge_convergence,
        judge_data_to_text,
        judge_examples,
        judge_layers,
        judge_normalising,
        judge_recall,
        judge_value_of_data_to_text,
        judge_vectors,
    )
}
