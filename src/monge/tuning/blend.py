"""`tune blend`: fit a linear blend of metrics on human scores, and write it with its card."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from monge import api
from monge.datasets.output import check_writable, write_text
from monge.datasets.segment_scores import GivenScores
from monge.errors import DataError, InvalidSetting, UsageError
from monge.metrics.blend import LinearSum
from monge.metrics.blend_file import FORMAT, BlendFile, check_blend_path, parse_blend
from monge.metrics.presets import is_built_in
from monge.scoring.bound import BoundMetric
from monge.tuning.blend_members import (
    BlendMember,
    find_score_files,
    open_members,
    read_score_files,
    score_members,
    sign_members,
)
from monge.tuning.blend_plan import ALL, HELD_OUT, ROWS, BlendPlan
from monge.tuning.blend_weights import (
    BlendSample,
    FittedWeights,
    draw_folds,
    fit_weights,
    measure_agreements,
    predict_out_of_fold,
)
from monge.tuning.examples import Examples
from monge.tuning.lessons import Lesson, open_lesson
from monge.tuning.seen_rows import check_unseen, find_held_out
from monge.tuning.splitting import group_by_shared_text, judgement_texts
from monge.types import Array, CorpusStats

BLEND = "blend"
"""What is tuned where it is no metric but a blend of several; the name of its figures in a card."""
FEWEST, FEWEST_PER_MEMBER = 20, 10
"""A blend needs so many judgements, and so many for each member."""
STATISTIC = "r"


@dataclass(frozen=True)
class FittedBlend:
    """A blend that was written: its file, and its card."""

    path: Path
    card: dict[str, Any]

    def load(self) -> api.Metric:
        """Return the blend as a metric."""
        return api.load(str(self.path))


def fit_blend(
    plan: BlendPlan, output: str | Path, *, watch: Callable[[int], None] | None = None
) -> FittedBlend:
    """Fit the weights of a blend on human scores, and write it to a file that ends in .json.

    `watch` is called with the number of judgements scored since its last call.

    Raises:
        InvalidSetting: for members that make no blend, or an adapter that learned from the rows.
        DataError: for too few judgements, or a member whose scores are all the same.
    """
    name = _check_plan(plan, output)
    members = open_members(plan)
    score_files = find_score_files(plan, members)
    every_row = _open_judgements(plan, members, score_files)
    known_scores = read_score_files(score_files, every_row)
    dev = None if plan.dev is None else _open_dev(plan, members)
    places = _choose_rows(plan, members, every_row, score_files, dev)
    examples = every_row.select(places)
    known_scores = {member: column[places] for member, column in known_scores.items()}
    scores = score_members(members, examples, known_scores, watch)
    sample = _make_sample(examples, scores * sign_members(members))
    _check_sample(examples, members, sample)
    folds = draw_folds(sample.items, plan.folds, plan.seed)
    fitted = fit_weights(sample, folds, signed=plan.signed)
    if not fitted.weights.any():
        raise DataError(
            f"no member agrees with the human scores of {examples.name}: every weight is 0 "
            "(--signed allows negative weights)"
        )
    predicted = predict_out_of_fold(sample, folds, signed=plan.signed)
    card = _make_card(name, plan, members, examples, fitted)
    card["signature"] = _sign(parse_blend(card))
    card["cross_validation"] = {
        "folds": plan.folds,
        **_describe_agreement(plan, members, sample, predicted),
    }
    if dev is not None:
        card["tested_on"] = {
            "data": dev.name,
            **_test_blend(plan, members, parse_blend(card), dev, watch),
        }
    write_text(output, json.dumps(card, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    return FittedBlend(Path(output), card)


def _check_plan(plan: BlendPlan, output: str | Path) -> str:
    """Return the name of the blend; raise for a plan that makes none, before anything is read."""
    name = check_blend_path(output)
    check_writable(output)
    if is_built_in(name):
        raise UsageError(f"-o {output}: a metric of monge is called {name}: take another name")
    if len(plan.metrics) < 2:
        got = f"got {plan.metrics[0]}" if plan.metrics else "got none"
        raise UsageError(f"a blend has two members or more (-m NAME -m NAME), {got}")
    if plan.folds < 2:
        raise InvalidSetting(f"--folds takes a whole number of at least 2, got {plan.folds}")
    if plan.rows not in ROWS:
        raise InvalidSetting(f"--rows takes {', '.join(ROWS)}, got {plan.rows!r}")
    return name


def _open_judgements(
    plan: BlendPlan, members: Sequence[BlendMember], score_files: Mapping[str, GivenScores]
) -> Examples:
    """Read the judgements of all lessons; raise where a member's adapter has learned from them."""
    texts = [plan.lessons] if isinstance(plan.lessons, str) else plan.lessons
    if not texts:
        raise InvalidSetting("nothing to fit on: give --train DATASET")
    lessons = [_parse_lesson(text) for text in texts]
    names = "+".join(lesson.data for lesson in lessons)
    if plan.rows == ALL:
        for member, bound in _find_scoring(members, score_files).items():
            check_unseen(bound, member, [lesson.data for lesson in lessons])
    opened = [_open_scores(lesson, plan) for lesson in lessons]
    return opened[0] if len(opened) == 1 else _join(names, opened)


def _find_scoring(
    members: Sequence[BlendMember], score_files: Mapping[str, GivenScores]
) -> dict[str, BoundMetric]:
    """Return the members that score the judgements by vectors, by name."""
    return {
        member.name: member.bound
        for member in members
        if member.bound is not None and member.name not in score_files
    }


def _choose_rows(
    plan: BlendPlan,
    members: Sequence[BlendMember],
    examples: Examples,
    score_files: Mapping[str, GivenScores],
    dev: Examples | None,
) -> list[int]:
    """Return the places of the judgements to fit on: those that adapters held out, if these are
    asked for, without those that share a text with the judgements of the report.
    """
    places = list(range(len(examples)))
    if plan.rows == HELD_OUT:
        scoring = _find_scoring(members, score_files)
        places = find_held_out(examples, scoring, plan.location)
    if dev is None:
        return places
    reported = {text for texts in judgement_texts(dev) for text in texts}
    own_texts = judgement_texts(examples)
    apart = [place for place in places if own_texts[place].isdisjoint(reported)]
    if not apart:
        raise DataError(
            f"{examples.name}: every judgement shares a text with {dev.name}, so nothing is left "
            "to fit on: give another --train or --dev"
        )
    return apart


def _parse_lesson(text: str) -> Lesson:
    """Parse a data set with options; raise for an objective or a weight, which adapters have."""
    lesson = Lesson.parse(text)
    if lesson.objective not in ("auto", "score") or lesson.weight != 1:
        raise InvalidSetting(
            "a blend is fitted on human scores, all of the same weight: --train takes "
            f"DATASET[(OPTION=VALUE,…)], got {text}"
        )
    return lesson


def _open_scores(lesson: Lesson, plan: BlendPlan) -> Examples:
    """Read the human scores of a lesson; raise where it has rankings or labels."""
    examples = open_lesson(lesson, plan.location)
    if not isinstance(examples, Examples) or examples.targets is None:
        raise InvalidSetting(
            f"{lesson.data} has rankings of outputs, or labels of pairs: a blend is fitted on "
            "human scores, such as those of wmt15, wmt16, wmt17, stsb or a table with a column "
            "human"
        )
    return examples


def _join(name: str, opened: Sequence[Examples]) -> Examples:
    """Return the judgements of several lessons in one."""
    targets = [examples.targets for examples in opened if examples.targets is not None]
    return Examples(
        name,
        tuple(row for examples in opened for row in examples.rows),
        tuple(group for examples in opened for group in examples.groups),
        targets=np.concatenate(targets),
        licence="; ".join(dict.fromkeys(examples.licence for examples in opened)),
    )


def _open_dev(plan: BlendPlan, members: Sequence[BlendMember]) -> Examples:
    """Read the judgements to report agreement on; raise where they are those of the fit."""
    lesson = _parse_lesson(str(plan.dev))
    texts = [plan.lessons] if isinstance(plan.lessons, str) else plan.lessons
    fitted = {name for text in texts for name in Lesson.parse(text).data.split("+")}
    shared = fitted & set(lesson.data.split("+"))
    if shared:
        raise InvalidSetting(f"--dev {plan.dev}: the weights are fitted on {', '.join(shared)}")
    for member in members:
        if member.bound is not None:
            check_unseen(member.bound, member.name, [lesson.data])
    return _open_scores(lesson, plan)


def _test_blend(
    plan: BlendPlan,
    members: Sequence[BlendMember],
    blend: BlendFile,
    dev: Examples,
    watch: Callable[[int], None] | None,
) -> dict[str, Any]:
    """Return the agreement of the fitted blend and of its members on judgements of its own."""
    scores = score_members(members, dev, {}, watch)
    sample = _make_sample(dev, scores * sign_members(members))
    assert isinstance(blend.spec.formula, LinearSum)
    blended = np.zeros(len(sample))
    for member, column in zip(members, scores.T, strict=True):
        upward = member.metric.scorer.bounds.higher_is_better
        term = blend.spec.formula.terms[member.name]
        blended = blended + term.weigh(column, higher_is_better=upward)
    return _describe_agreement(plan, members, sample, blended)


def _sign(blend: BlendFile) -> str | None:
    """Return the signature of a blend; None where a member takes statistics from other texts."""
    scorer = api.bind(blend.name, blend.spec).scorer
    signature = None if scorer.fits else scorer.signed(CorpusStats(""))
    return None if signature is None else str(signature)


def _make_sample(examples: Examples, scores: Array) -> BlendSample:
    """Return what weights are fitted on; rows that share a text are of the same item."""
    assert examples.targets is not None
    items = np.zeros(len(examples.rows), dtype=np.intp)
    for item, places in enumerate(group_by_shared_text(judgement_texts(examples))):
        items[places] = item
    groups = {name: k for k, name in enumerate(dict.fromkeys(examples.groups))}
    labels = np.array([groups[name] for name in examples.groups], dtype=np.intp)
    return BlendSample(scores, examples.targets, labels, items)


def _check_sample(examples: Examples, members: Sequence[BlendMember], sample: BlendSample) -> None:
    """Raise for too few judgements, or a member whose scores are all the same."""
    least = max(FEWEST, FEWEST_PER_MEMBER * len(members))
    if len(sample) < least:
        raise DataError(
            f"{examples.name}: {len(sample)} judgements are too few for the weights of "
            f"{len(members)} members: {least} at least"
        )
    for member, column in zip(members, sample.scores.T, strict=True):
        if float(column.std()) <= 1e-9 * max(1.0, float(np.abs(column).max())):
            raise DataError(
                f"{member.name} gives all {len(sample):,} judgements of {examples.name} the score "
                f"{column[0]:g}: it cannot be weighed; leave it out"
            )


def _make_card(
    name: str,
    plan: BlendPlan,
    members: Sequence[BlendMember],
    examples: Examples,
    fitted: FittedWeights,
) -> dict[str, Any]:
    """Return the file of the blend: its members with constants, its data, how it was made."""
    means = fitted.means * sign_members(members)
    constants = zip(members, fitted.weights, means, fitted.deviations, strict=True)
    return {
        "monge_blend": FORMAT,
        "name": name,
        "members": {
            member.name: member.record(float(weight), float(mean), float(deviation))
            for member, weight, mean, deviation in constants
        },
        "ridge": fitted.strength,
        "signed": plan.signed,
        "rows": plan.rows,
        "learned_from": [
            {
                "data": examples.name,
                "judgements": len(examples),
                "groups": list(dict.fromkeys(examples.groups)),
                "licence": examples.licence,
            }
        ],
        "command": plan.command,
        "made_with": {"monge": version("monge"), "python": platform.python_version()},
    }


def _describe_agreement(
    plan: BlendPlan, members: Sequence[BlendMember], sample: BlendSample, blended: Array
) -> dict[str, Any]:
    """Return the agreement of blended scores, that of every member alone, and the verdict."""
    columns = [blended, *(sample.scores.T)]
    blend, *alone = measure_agreements(sample, columns, seed=plan.seed)
    agreement: dict[str, Any] = {
        BLEND: {"value": blend.value, "interval": list(blend.interval)},
    }
    for member, own in zip(members, alone, strict=True):
        gap = blend.minus(own)
        agreement[member.name] = {
            "value": own.value,
            "interval": list(own.interval),
            "blend_minus_this": [gap.value, *gap.interval],
        }
    best = max(members, key=lambda member: float(agreement[member.name]["value"]))
    gap, low, high = agreement[best.name]["blend_minus_this"]
    difference = f"{gap:+.4f} [{low:+.4f}, {high:+.4f}]"
    verdict = (
        f"The blend agrees better with people than its best member, {best.name}: {difference}."
        if low > 0
        else f"The blend does not beat its best member, {best.name}: {difference}."
    )
    return {
        "judgements": len(sample),
        "items": int(sample.items.max()) + 1,
        "statistic": STATISTIC,
        "agreement": agreement,
        "best_member": best.name,
        "beats_best_member": low > 0,
        "verdict": verdict,
    }
