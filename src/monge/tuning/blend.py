"""`tune blend`: fit a linear blend of metrics on human scores, and write it with its card."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from monge import api
from monge.datasets.output import check_writable, write_text
from monge.datasets.segment_scores import GivenScores, given_scores
from monge.errors import DataError, InvalidSetting, UnknownName, UsageError
from monge.metrics.blend_file import (
    FORMAT,
    BlendFile,
    check_blend_path,
    name_members,
    parse_blend,
)
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import Spec, check_fitting, fitting, is_built_in, resolve
from monge.scoring.bound import BoundMetric
from monge.scoring.scorer import vector_members
from monge.scoring.windows import REFERENCES
from monge.tuning.blend_weights import (
    BlendSample,
    FittedWeights,
    draw_folds,
    fit_weights,
    measure_agreements,
    predict_out_of_fold,
)
from monge.tuning.examples import Examples
from monge.tuning.lessons import DataLocation, Lesson, open_lesson
from monge.tuning.seen_rows import ALL, HELD_OUT, ROWS, check_unseen, keep_held_out
from monge.tuning.splitting import group_by_shared_text, judgement_texts
from monge.types import Array, CorpusStats, Segment

BLEND = "blend"
"""What is tuned where it is no metric but a blend of several."""
FEWEST, FEWEST_PER_MEMBER = 20, 10
"""A blend needs so many judgements, and so many for each member."""
STATISTIC = "r"


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
                   "--folds": self.folds, "--rows": self.rows, "--seed": self.seed}  # fmt: skip
        usual = {"--model": "auto", "--human": None, "--text": "raw", "--folds": 10,
                 "--rows": ALL, "--seed": 12345}  # fmt: skip
        words += [f"{name} {v}" for name, v in options.items() if v != usual[name]]
        words += [f"--set {_quote(setting)}" for setting in self.settings]
        words += [f"--scores {_quote(option)}" for option in self.scores]
        return " ".join([*words, *(["--signed"] if self.signed else [])])


def _quote(word: str) -> str:
    return f"'{word}'" if any(mark in word for mark in "*()[]?$& ") else word


@dataclass(frozen=True)
class FittedBlend:
    """A blend that was written: its file, and its card."""

    path: Path
    card: dict[str, Any]

    def load(self) -> api.Metric:
        """Return the blend as a metric."""
        return api.load(str(self.path))


@dataclass(frozen=True)
class _Member:
    """A member before its weight is known: its name in the blend, its metric, ready to score."""

    name: str
    metric: api.Metric
    model: str

    @cached_property
    def bound(self) -> BoundMetric | None:
        """The metric where it compares vectors, else None."""
        return next(iter(vector_members([self.metric.scorer])), None)

    def record(self, weight: float, mean: float, deviation: float) -> dict[str, Any]:
        """Return the entry of the member in the file of the blend."""
        constants = {"weight": weight, "mean": mean, "deviation": deviation}
        spec = self.metric.spec
        model = None
        if isinstance(spec, MetricSpec) and self.bound is not None:
            identity = self.bound.identity.model
            model = {
                "name": identity.name,
                "weights": identity.weights,
                "tokenizer": identity.tokenizer,
                "config": identity.config,
            }
            spec = replace(spec, encoder=replace(spec.encoder, model=self.model))
        settings = spec.written()
        return {"metric": self.metric.name, **constants, "settings": settings, "model": model}


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
    members = _open_members(plan)
    score_files = _read_given_scores(plan, members)
    examples = _open_judgements(plan, members, score_files)
    scores = _score_members(members, examples, score_files, watch)
    sample = _make_sample(examples, scores * _directions(members))
    folds = draw_folds(sample.items, plan.folds, plan.seed)
    _check_sample(examples, members, sample)
    fitted = fit_weights(sample, folds, signed=plan.signed)
    if not fitted.weights.any():
        raise DataError(
            f"no member agrees with the human scores of {examples.name}: every weight is 0 "
            "(--signed allows negative weights)"
        )
    predicted = predict_out_of_fold(sample, folds, signed=plan.signed)
    card = _make_card(name, plan, members, examples, fitted)
    card["signature"] = _sign(parse_blend(card))
    card["cross_validation"] = _describe_validation(plan, members, sample, predicted)
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
        raise UnknownName("choice of --rows", plan.rows, ROWS)
    return name


def _open_members(plan: BlendPlan) -> list[_Member]:
    """Load the members; raise for metrics that cannot be members."""
    check_fitting(plan.metrics, plan.settings)
    resolved: list[tuple[str, Spec]] = []
    for text in plan.metrics:
        name, spec = resolve(text, fitting(text, plan.settings))
        if not isinstance(spec, MetricSpec | LexicalSpec):
            raise UsageError(
                f"{text} cannot be a member of a blend: members are transport metrics and lexical "
                "metrics (monge metrics lists them)"
            )
        if (name, spec) in resolved:
            raise UsageError(f"{text} is given twice: a member counts once, by its weight")
        resolved.append((name, spec))
    members = []
    for member, (name, spec) in zip(
        name_members([name for name, _ in resolved]), resolved, strict=True
    ):
        own = spec.encoder.model if isinstance(spec, MetricSpec) else "auto"
        metric = api.bind(name, spec, model=plan.model)
        if metric.scorer.against != REFERENCES:
            raise UsageError(
                f"{name} compares with the source: the members of a blend compare with references"
            )
        members.append(_Member(member, metric, plan.model if own == "auto" else own))
    return members


def _read_given_scores(plan: BlendPlan, members: Sequence[_Member]) -> dict[str, GivenScores]:
    """Return the files of out-of-fold scores by member."""
    score_files = {scores.name: scores for scores in given_scores(plan.scores)}
    names = [member.name for member in members]
    unknown = next((name for name in score_files if name not in names), None)
    if unknown is not None:
        raise UnknownName("member of --scores", unknown, names)
    return score_files


def _open_judgements(
    plan: BlendPlan, members: Sequence[_Member], score_files: Mapping[str, GivenScores]
) -> Examples:
    """Read the judgements of all lessons; raise where a member's adapter has learned from them."""
    texts = [plan.lessons] if isinstance(plan.lessons, str) else plan.lessons
    if not texts:
        raise InvalidSetting("nothing to fit on: give --train DATASET")
    lessons = [Lesson.parse(text) for text in texts]
    wrong = next((lesson for lesson in lessons if lesson.objective not in ("auto", "score")), None)
    if wrong is not None or any(lesson.weight != 1 for lesson in lessons):
        raise InvalidSetting(
            "a blend is fitted on human scores, all of the same weight: --train takes "
            f"DATASET[(OPTION=VALUE,…)], got {', '.join(texts)}"
        )
    names = "+".join(lesson.data for lesson in lessons)
    own = {m.name: m.bound for m in members if m.bound is not None and m.name not in score_files}
    if plan.rows == ALL:
        for member, bound in own.items():
            check_unseen(bound, member, [lesson.data for lesson in lessons])
    opened = [_open_scores(lesson, plan) for lesson in lessons]
    examples = opened[0] if len(opened) == 1 else _join(names, opened)
    return keep_held_out(examples, own, plan.location) if plan.rows == HELD_OUT else examples


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


def _score_members(
    members: Sequence[_Member],
    examples: Examples,
    score_files: Mapping[str, GivenScores],
    watch: Callable[[int], None] | None,
) -> Array:
    """Return the scores [n, k] of the members as they are, those of a file where there is one."""
    columns: dict[str, Array] = {}
    by_group: dict[str, list[int]] = {}
    for place, group in enumerate(examples.groups):
        by_group.setdefault(group, []).append(place)
    rows_by_group: dict[str, Sequence[Segment]] = {
        group: [examples.rows[k] for k in places] for group, places in by_group.items()
    }
    for name, file in score_files.items():
        columns[name] = np.zeros(len(examples.rows))
        for group, values in file.of(rows_by_group)[0].items():
            columns[name][by_group[group]] = values
    own = [member for member in members if member.name not in score_files]
    if own:
        rows = [replace(row, id=str(k), system="") for k, row in enumerate(examples.rows)]
        labels = [member.name for member in own]
        metrics = [member.metric for member in own]
        results = api.score_segments(metrics, rows, watch=api.Watch(watch), names=labels)
        columns |= {name: result.segments for name, result in zip(labels, results, strict=True)}
    return np.stack([columns[member.name] for member in members], axis=1)


def _directions(members: Sequence[_Member]) -> Array:
    """Return 1 for a member [k] whose higher scores are better, -1 for a distance."""
    return np.array(
        [1.0 if member.metric.scorer.bounds.higher_is_better else -1.0 for member in members]
    )


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


def _check_sample(examples: Examples, members: Sequence[_Member], sample: BlendSample) -> None:
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
    members: Sequence[_Member],
    examples: Examples,
    fitted: FittedWeights,
) -> dict[str, Any]:
    """Return the file of the blend: its members with constants, its data, how it was made."""
    means = fitted.means * _directions(members)
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


def _describe_validation(
    plan: BlendPlan, members: Sequence[_Member], sample: BlendSample, predicted: Array
) -> dict[str, Any]:
    """Return the out-of-fold figures of the blend, those of every member alone, and the verdict."""
    columns = [predicted, *(sample.scores.T)]
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
        "folds": plan.folds,
        "statistic": STATISTIC,
        "error": float(np.sqrt(np.mean((predicted - sample.targets) ** 2))),
        "agreement": agreement,
        "best_member": best.name,
        "beats_best_member": low > 0,
        "verdict": verdict,
    }
