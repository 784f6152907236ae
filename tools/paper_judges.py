"""The findings on the papers' claims, and the claims that a function of their own judges."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from make_paper_studies import read_study
from paper_tuning_page import BASES, pick_pair, read_rows, show_interval
from paper_verdicts import (
    CANNOT,
    FAILS,
    HOLDS,
    IN_PART,
    OPEN,
    Finding,
    Trial,
    find_changes,
    find_margins,
    find_trials,
    join_verdicts,
    judge_interval,
    judge_trials,
    name_verdict,
)
from repository import RESULTS

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
    """Tell how far our figures on data-to-text are from MoverScore's own.

    They are of another model, which settles nothing about figures that do not come out again.
    """
    table = _read_table("moverscore-9")
    if not table:
        return NOT_RUN
    row = next(
        row for row in table["readings"][0]["rows"] if row["label"] == "WMD-1 + BERT + PMEANS"
    )
    gaps = [value for value in row["difference"] if value is not None]
    text = f"ours minus MoverScore's own: {min(gaps):+.3f} to {max(gaps):+.3f} in {len(gaps)}"
    return Finding("`moverscore-9`", f"{text} columns, but with another model", OPEN)


def judge_tasks_of_tuning(_: Trials) -> Finding:
    """Judge whether tuning on inference gives a higher r than tuning on paraphrases.

    The two were measured in runs of their own, so a verdict needs intervals that do not meet.
    """
    parts, verdicts = [], []
    for base, model in BASES.items():
        (_, inference), (_, paraphrase) = (
            pick_pair(read_rows(f"{base}-{task}"), statistic="pearson")
            for task in ("entailment", "paraphrase")
        )
        sides = [row["mean_interval"] for row in (inference, paraphrase)]
        low, high = sides[0]["low"] - sides[1]["high"], sides[0]["high"] - sides[1]["low"]
        verdicts.append(judge_interval(low, high, ""))
        parts.append(f"{model}: {show_interval(inference)} against {show_interval(paraphrase)}")
    figures = f"{'; '.join(parts)}; measured apart"
    return Finding("[tuning](tuning-papers.md)", figures, join_verdicts(verdicts))


def judge_summaries_against_s3(_: Trials) -> Finding:
    """Tell how far word mover is from S3 as printed; without an interval nothing is settled."""
    table = _read_table("moverscore-2")
    if not table:
        return NOT_RUN
    rows = {row["label"]: row for row in table["readings"][0]["rows"]}
    pairs = zip(rows["WMD-1 + BERT + PMEANS"]["ours"], rows["S3-best"]["reported"], strict=False)
    leads = [figure - printed for figure, printed in pairs if figure is not None]
    ahead = sum(lead > 0 for lead in leads)
    figures = f"ahead in {ahead} of {len(leads)} columns, {min(leads):+.3f} to {max(leads):+.3f}"
    return Finding("`moverscore-2`", f"{figures}, but no interval was computed", OPEN)


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
    verdict = HOLDS if not behind else IN_PART if ahead >= behind else FAILS
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
        judge_summaries_against_s3,
        judge_tasks_of_tuning,
        judge_value_of_data_to_text,
        judge_vectors,
    )
}


def make_finding(claim: Mapping[str, Any], trials: Trials) -> Finding:
    """Return what came out for a claim."""
    if "cannot" in claim:
        return Finding("", claim["cannot"], CANNOT)
    if "tests" in claim:
        return Finding("", claim["tests"], HOLDS)
    table_trials = find_trials(claim, trials)
    if "judged" in claim and not table_trials:
        finding = JUDGES[claim["judged"]](trials)
    elif "margins" in claim:
        finding = judge_trials(find_margins(claim))
    else:
        finding = judge_trials([*table_trials, *find_changes(claim)])
    if "note" in claim and finding.figures != "not run":
        return Finding(finding.run, f"{finding.figures}; {claim['note']}", finding.verdict)
    return finding
