"""`tune`: make an adapter from a metric, a base model and human judgements."""

from __future__ import annotations

import json
import platform
import resource
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from monge.encoders import adapter as adapter_files
from monge.encoders import digests
from monge.encoders.protocol import identify
from monge.errors import DataError, InvalidSetting, UsageError
from monge.metrics.axes import BatchCentre, CorpusCentre, Idf
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import resolve
from monge.scoring.fit import fit
from monge.scoring.transport import TransportMetric, bind_metric
from monge.scoring.windows import REFERENCES
from monge.tuning import checkpoint
from monge.tuning.adapted_blocks import Method
from monge.tuning.card import card_text, curve_svg
from monge.tuning.examples import Examples, content_digest
from monge.tuning.labelled import Labelled
from monge.tuning.learner import Learner
from monge.tuning.lessons import DataLocation, Lesson, open_lesson, read_grades
from monge.tuning.loop import Loop, Schedule, State, Told
from monge.tuning.objectives import TuningObjective, make_objective
from monge.tuning.pair_objectives import PairObjective
from monge.tuning.splitting import Parts, hold_out, keep_apart
from monge.tuning.teacher import Teacher, distil_objective
from monge.types import CorpusStats

if TYPE_CHECKING:
    pass
from monge.tuning.judge import (
    MIN_GROUP,
    SCORED_AT_ONCE,
    MetricJudge,
    agreement,
    fit_affine_map,
    held_scores,
    start_affine,
)

Watch = Callable[[Told], None]


@dataclass(frozen=True)
class Plan:
    """All settings that decide the weights of a run.

    `lessons` may be given in the form of the command line: ``Plan("twmd", "wmt15+wmt16", "wmt/")``.
    """

    metric: str
    lessons: str | Sequence[str | Lesson]
    data: str | Path
    dev: str | float = 0.1
    model: str = "auto"
    settings: Sequence[str] = ()
    pairs: Sequence[str] | None = None
    human: str | None = None
    text: str = "raw"
    grades: str | None = None
    teacher: Teacher | None = None
    method: Method = field(default_factory=Method)
    schedule: Schedule = field(default_factory=Schedule)

    @property
    def parsed_lessons(self) -> list[Lesson]:
        """The lessons in order, parsed."""
        lessons = [self.lessons] if isinstance(self.lessons, str) else self.lessons
        return [
            lesson if isinstance(lesson, Lesson) else Lesson.parse(lesson) for lesson in lessons
        ]

    @property
    def data_location(self) -> DataLocation:
        """The location of the judgements, and how they are read."""
        grades = read_grades(self.grades)
        _, spec = resolve(self.metric, tuple(self.settings))
        against = spec.against.name if isinstance(spec, MetricSpec) else REFERENCES
        return DataLocation(
            self.data, self.pairs, self.human, self.text, grades, self.schedule.seed, against
        )

    def facts(self) -> dict[str, Any]:
        """Return the plan as JSON data, without the directory of the data."""
        fields = {**asdict(self), "lessons": [asdict(lesson) for lesson in self.parsed_lessons]}
        return json.loads(  # type: ignore[no-any-return]
            json.dumps({name: value for name, value in fields.items() if name != "data"})
        )


@dataclass(frozen=True)
class TuningResult:
    """The result of a run: the directory of the adapter, and its card."""

    directory: Path
    card: dict[str, Any]


@dataclass
class _OpenedPlan:
    """A plan with its data read and its model loaded."""

    learner: Learner
    judge: MetricJudge
    parts: Parts
    loop: Loop

    @property
    def lessons(self) -> list[Examples | Labelled]:
        return self.parts.lessons

    @property
    def held(self) -> Examples | Labelled:
        return self.parts.held

    def agreement(self, held: Examples | Labelled | None = None) -> float:
        """Return the agreement with held-out judgements, or the accuracy on held-out labels."""
        held = self.held if held is None else held
        if isinstance(held, Examples):
            return agreement(self.judge, held)
        objective = self.loop.objectives[0]
        assert isinstance(objective, PairObjective)
        return objective.agreement(held, self.judge)

    @property
    def metric(self) -> TransportMetric:
        return self.judge.metric


def _open_plan(plan: Plan) -> _OpenedPlan:
    parts = _open_lessons(plan)
    torch.manual_seed(plan.schedule.seed)
    learner = Learner(plan.model)
    metric = bind_trainable(plan, learner)
    learner.begin(max(metric.request.layers), plan.method, plan.schedule.seed)
    judge = MetricJudge(metric, learner, _fit_idf(metric, parts.lessons))
    objectives = [
        _lesson_objective(plan, k, examples, judge) for k, examples in enumerate(parts.lessons)
    ]
    for objective in objectives:
        start_affine(objective, judge)
    sizes = [lesson.batch or plan.schedule.batch for lesson in plan.parsed_lessons]
    return _OpenedPlan(
        learner, judge, parts, Loop(objectives, judge, learner.parameters, plan.schedule, sizes)
    )


def estimate(plan: Plan) -> str:
    """Describe what a plan would do and how long it takes, by timing three steps and checks."""
    ready = _open_plan(plan)
    seconds = ready.loop.time_step()
    check = _time_check(ready)
    checks = plan.schedule.epochs * plan.schedule.checks + 1
    minutes = (seconds * ready.loop.steps + check * checks) / 60
    learned_text = ", ".join(
        f"{len(examples):,} judgements of {examples.name}"
        + (f" ({left_out:,} left out: they share a text with a held-out one)" if left_out else "")
        for examples, left_out in zip(ready.lessons, ready.parts.left_out, strict=True)
    )
    layers = ", ".join(map(str, ready.metric.request.layers))
    parameters = sum(parameter.numel() for parameter in ready.learner.parameters)
    return (
        f"metric     {ready.metric.name}, layers {layers}\nmodel      {ready.learner.name}, "
        f"{parameters:,} parameters learn\nlearn from {learned_text}\nchoose by  "
        f"{len(ready.held):,} judgements of {ready.held.name}\nsteps      {ready.loop.steps} of "
        f"{plan.schedule.batch}, {checks} checks\ntime       about {minutes:.0f} min on this "
        f"machine as it is now ({seconds:.2f} s a step)\nmemory     {peak_memory() / 2**30:.1f} GB "
        "so far; a run peaks a little above\n"
    )


def _time_check(ready: _OpenedPlan) -> float:
    """Return the seconds that a check of held-out judgements takes, from the first of them."""
    first_held = ready.held.select(range(min(len(ready.held), 2 * SCORED_AT_ONCE)))
    began = time.monotonic()
    if isinstance(first_held, Labelled) or isinstance(ready.held, Labelled):
        ready.agreement(first_held)
        return (time.monotonic() - began) / len(first_held) * len(ready.held)
    held_scores(ready.judge, first_held)
    return (time.monotonic() - began) / len(first_held.rows) * len(ready.held.rows)


def tune(
    plan: Plan, output: str | Path, *, watch: Watch = lambda _: None, fresh: bool = False
) -> TuningResult:
    """Tune a model on human judgements through a metric; the adapter is written to `output`.

    An interrupted run resumes from `output`.partial if the same plan is given again.
    """
    folder, partial = checkpoint.check_output(output)
    if fresh:
        checkpoint.clear(partial)
    began = time.monotonic()
    ready = _open_plan(plan)
    learner, judge, held, loop = ready.learner, ready.judge, ready.held, ready.loop
    facts = {
        **plan.facts(),
        "base": learner.files.weights_digest,
        checkpoint.CONTENT: _content_digests(ready),
    }
    checkpoint.restore(partial, loop, facts)
    if not loop.state.curve:
        loop.check(ready.agreement(), None)
    state = loop.run(ready.agreement, lambda _: checkpoint.save(partial, loop, facts), watch)
    run_facts = {
        "seconds": round(time.monotonic() - began, 1),
        "threads": torch.get_num_threads(),
        "memory": peak_memory(),
        "affine": fit_affine_map(loop.objectives[0], judge, held),
    }
    card = _card(plan, ready, state, run_facts)
    _write(folder, partial, ready, card)
    return TuningResult(folder, card)


def _content_digests(ready: _OpenedPlan) -> list[str]:
    """Return digests of the training data of each objective, and of the held-out data."""
    learned = [objective.examples for objective in ready.loop.objectives]
    return [content_digest(examples) for examples in (*learned, ready.held)]


def bind_trainable(plan: Plan, learner: Learner) -> TransportMetric:
    """Bind the metric to the trainable model; a batch mean replaces a corpus mean."""
    name, spec = resolve(plan.metric, tuple(plan.settings))
    if not isinstance(spec, MetricSpec):
        raise UsageError(
            f"{name} has no single transport through one encoder: tune twmd, bertscore, "
            "moverscore, sbert …"
        )
    if isinstance(spec.centre, CorpusCentre):
        sides = "separate" if spec.centre.sides == "separate" else "joint"
        spec = replace(spec, centre=BatchCentre("batch", size=plan.schedule.batch, sides=sides))
    return bind_metric(name, spec, learner)


def _open_lessons(plan: Plan) -> Parts:
    """Read training and held-out judgements: part of the first lesson, or another data set."""
    if not plan.parsed_lessons:
        raise InvalidSetting("nothing to learn from: give --train DATASET")
    opened = [open_lesson(lesson, plan.data_location) for lesson in plan.parsed_lessons]
    if isinstance(plan.dev, float):
        parts = hold_out(opened, plan.dev, plan.schedule.seed)
        if len(parts.held) < MIN_GROUP:
            count = len(opened[0])
            enough = next(
                (share / 10 for share in range(1, 6) if share / 10 * count >= 1.2 * MIN_GROUP), None
            )
            raise DataError(
                f"{opened[0].name}: {plan.dev:g} of {count} judgements is {len(parts.held)}, too "
                f"few to choose by ({MIN_GROUP} at least): "
                f"{'' if enough is None else f'give --dev {enough:g}, or '}give more judgements, "
                "or a data set to choose by (--dev DATASET)"
            )
        return parts
    if plan.dev in [name for lesson in plan.parsed_lessons for name in lesson.data.split("+")]:
        raise InvalidSetting(f"--dev {plan.dev} is among the data that is learned from")
    lesson, first = Lesson.parse(plan.dev), plan.parsed_lessons[0]
    chosen = open_lesson(lesson, plan.data_location)
    if isinstance(chosen, Labelled) and not _same_kind(opened[0], chosen, first, lesson):
        raise InvalidSetting(
            f"--dev {plan.dev} has pairs to choose by: the first --train must learn "
            f"{lesson.objective} of the same labels, it learns {first.objective}:{first.data}"
        )
    return keep_apart(opened, chosen)


def _same_kind(learned: Examples | Labelled, held: Labelled, first: Lesson, dev: Lesson) -> bool:
    """Return whether held-out pairs have the labels that the first lesson learns."""
    return (
        isinstance(learned, Labelled)
        and learned.classes == held.classes
        and first.objective == dev.objective
    )


def _fit_idf(metric: TransportMetric, lessons: Sequence[Examples | Labelled]) -> CorpusStats | None:
    """Fit idf on the training references, if the metric weighs by it."""
    if not isinstance(metric.spec.weights, Idf):
        return None
    with_scores = [examples for examples in lessons if isinstance(examples, Examples)]
    texts = dict.fromkeys(
        text for examples in with_scores for row in examples.rows for text in row.references
    )
    own = dict.fromkeys(row.hypothesis for examples in with_scores for row in examples.rows)
    if not with_scores:  # pairs alone: the second sentences stand for references
        pairs = [pair for pairs in lessons if isinstance(pairs, Labelled) for pair in pairs.pairs]
        own, texts = (dict.fromkeys(pair[side] for pair in pairs) for side in (0, 1))
    return fit(
        metric,
        references=list(texts),
        hypotheses=list(own) if metric.needs.include_hypotheses else [],
    )


def _lesson_objective(
    plan: Plan, number: int, examples: Examples | Labelled, judge: MetricJudge
) -> TuningObjective:
    lesson, seed = plan.parsed_lessons[number], plan.schedule.seed
    kind = lesson.objective
    if kind == "auto":
        kind = "rank" if isinstance(examples, Examples) and examples.better is not None else "score"
    if kind == "mse" and not judge.metric.raw.higher_is_better:
        raise InvalidSetting(
            f"mse brings the score itself to the human score, and {judge.metric.name} is a "
            "distance: take score, which learns a slope"
        )
    width = 0
    if kind == "nli":
        width = len(judge.sentences(["."])[0])
    elif kind == "classify":
        width = len(judge.joint_vectors([(".", ".")], lesson.pool)[0])
    if kind != "distil":
        return make_objective(kind, examples, lesson.weight, width, seed, lesson.pool)
    assert isinstance(examples, Examples)
    if plan.teacher is None:
        raise InvalidSetting(
            f"distil:{lesson.data} learns from a teacher: give --teacher METRIC and --teacher-model"
        )
    teacher_lesson = lesson.for_teacher
    translated = None if teacher_lesson is None else open_lesson(teacher_lesson, plan.data_location)
    assert translated is None or isinstance(translated, Examples)
    return distil_objective(examples, plan.teacher, lesson, translated, seed)


def _card(
    plan: Plan, ready: _OpenedPlan, state: State, run_facts: dict[str, Any]
) -> dict[str, Any]:
    """Return the card of an adapter: its base, its lessons, its agreement, and how it was made."""
    learner, metric, held = ready.learner, ready.metric, ready.held
    files = learner.files
    return {
        "format": adapter_files.FORMAT,
        "base": {
            "name": files.name,
            "model": plan.model,
            "weights": files.weights_digest,
            "tokenizer": files.tokenizer_digest,
            "config": files.config_digest,
        },
        "metric": metric.name,
        "settings": dict(metric.spec.written()),
        "layers": list(metric.request.layers),
        "parameters": sum(parameter.numel() for parameter in learner.parameters),
        "plan": plan.facts(),
        "learned_from": _lesson_records(ready),
        "held_out": {
            "data": held.name,
            "judgements": len(held),
            "agreement": state.best_value,
            "texts_also_learned": ready.parts.shared,
            **({"statistic": _pair_statistic(ready)} if isinstance(held, Labelled) else {}),
        },
        "curve": state.curve,
        **run_facts,
        "made_with": {
            "monge": version("monge"),
            "torch": torch.__version__,
            "python": platform.python_version(),
        },
    }


def _pair_statistic(ready: _OpenedPlan) -> str:
    """Return the name of the number that says how well held-out pairs are told apart."""
    return "Pearson's r" if ready.loop.objectives[0].name == "paraphrase" else "accuracy"


def _lesson_records(ready: _OpenedPlan) -> list[dict[str, Any]]:
    """Return the data that each lesson learned from."""
    return [
        {
            "data": examples.name,
            "judgements": len(examples),
            "left_out": left_out,
            "licence": examples.licence,
        }
        for examples, left_out in zip(ready.lessons, ready.parts.left_out, strict=True)
    ]


def peak_memory() -> int:
    """Return the peak resident memory of this process in bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def _sign(ready: _OpenedPlan, name: str, digest: str) -> str:
    """Return the signature of the metric with the adapter in its model."""
    metric, files = ready.metric, ready.learner.files
    name, weights = f"{files.name}+{name}", digests.of_facts(files.weights_digest, digest)
    model = replace(identify(metric.reader.encoder), name=name, weights=weights)
    spec = replace(metric.spec, encoder=replace(metric.spec.encoder, model=name))
    stats = ready.judge.stats
    identity = metric.identity if stats is None else metric.identity_with(stats)
    return str(replace(identity, model=model, spec=spec).sign())


def _write(folder: Path, partial: Path, ready: _OpenedPlan, card: dict[str, Any]) -> None:
    """Write the adapter's directory atomically: to a temporary place, then renamed."""
    from safetensors.torch import save

    finished = partial / checkpoint.MADE
    shutil.rmtree(finished, ignore_errors=True)
    finished.mkdir(parents=True)
    tensors = {
        name: tensor.half().contiguous()
        for name, tensor in ready.learner.blocks.adapter_tensors().items()
    }
    (finished / adapter_files.WEIGHTS).write_bytes(save(tensors))
    card["sha256"] = digests.of_file(finished / adapter_files.WEIGHTS)
    card["signature"] = _sign(ready, folder.name, card["sha256"])
    (finished / adapter_files.CARD).write_text(
        json.dumps(card, indent=1, allow_nan=False) + "\n", "utf-8"
    )
    (finished / "README.md").write_text(card_text(card), "utf-8")
    (finished / "curve.svg").write_text(curve_svg(card["curve"]), "utf-8")
    try:
        finished.replace(folder)
    except OSError as error:
        raise UsageError(
            f"the adapter could not be put to {folder} ({error.strerror}): it is kept in {finished}"
        ) from None
    checkpoint.clear(partial)
