"""`tune`: a metric, a base model and human judgements -> an adapter."""

from __future__ import annotations

import json
import platform
import resource
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from monge.encode import adapter as kept
from monge.encode import digests
from monge.encode.protocol import identify
from monge.errors import DataError, InvalidSetting, UsageError
from monge.scoring.fit import fit
from monge.scoring.measure import measure_raw
from monge.scoring.transport import TransportMetric, bind_metric
from monge.scoring.windows import Window
from monge.spec.axes import BatchCentre, CorpusCentre, Idf
from monge.spec.metric import MetricSpec
from monge.spec.presets import resolve
from monge.stats import pearson
from monge.tune import checkpoint
from monge.tune.blocks import Method
from monge.tune.card import card_text, curve_svg
from monge.tune.examples import Examples, Labelled, content_digest
from monge.tune.learner import Learner, Live, sentence_vectors
from monge.tune.lessons import Lesson, Place, open_lesson, read_grades
from monge.tune.loop import Loop, Schedule, State, Told
from monge.tune.objectives import Affine, Objective, ScoreObjective, objective
from monge.tune.splitting import Parts, hold_out, keep_apart
from monge.tune.teacher import Teacher, distilled
from monge.types import CorpusStats, Segment

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding

Watch = Callable[[Told], None]
A_GROUP = 10
"""So many held-out scores make a correlation of their own."""
SCORED_AT_ONCE = 64
"""Segments of held-out data that are scored together."""


@dataclass(frozen=True)
class Plan:
    """Everything that decides which weights a run ends with.

    `lessons` may be given as they are written on the command line: ``Plan("twmd", "wmt15+wmt16", "wmt/")``.
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
    def learned(self) -> list[Lesson]:
        """What is learned from, in order."""
        given = [self.lessons] if isinstance(self.lessons, str) else self.lessons
        return [one if isinstance(one, Lesson) else Lesson.written(one) for one in given]

    @property
    def place(self) -> Place:
        """Where the judgements lie, and how they are read."""
        grades = read_grades(self.grades)
        return Place(self.data, self.pairs, self.human, self.text, grades, self.schedule.seed)

    def facts(self) -> dict[str, Any]:
        """The plan as JSON says it; the directory of the data is not part of it."""
        said = {**asdict(self), "lessons": [asdict(one) for one in self.learned]}
        return json.loads(json.dumps({name: value for name, value in said.items() if name != "data"}))  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Tuned:
    """What a run made: the directory of the adapter, and its card."""

    directory: Path
    card: dict[str, Any]


class MetricJudge:
    """The metric that learns: scores and sentence vectors with gradients."""

    def __init__(self, metric: TransportMetric, learner: Learner, stats: CorpusStats | None) -> None:
        self.metric, self.stats = metric, stats
        self._live = Live(learner, metric.request)
        self._sign = 1.0 if metric.raw.higher_is_better else -1.0

    def scores(self, rows: Sequence[Segment]) -> Tensor:
        """The metric's scores [n], larger is better."""
        together = [replace(row, system="") for row in rows]
        window = Window(together, _encoding(self._live))
        stats = {"": self.stats or CorpusStats(self.metric.reader.key)}
        return self._sign * measure_raw(window, self.metric, stats).parts["score"]

    def sentences(self, texts: Sequence[str]) -> Tensor:
        """Means over the pieces of each text, specials left out [n, d]."""
        return sentence_vectors(self.metric, self._live, texts)


def _encoding(live: Live) -> Encoding:
    return live  # type: ignore[return-value]  # a window asks it for nothing but `read`


@dataclass
class _Ready:
    """A plan with its data and its model opened."""

    learner: Learner
    judge: MetricJudge
    parts: Parts
    loop: Loop

    @property
    def lessons(self) -> list[Examples | Labelled]:
        return self.parts.lessons

    @property
    def held(self) -> Examples:
        return self.parts.held

    @property
    def metric(self) -> TransportMetric:
        return self.judge.metric


def _ready(plan: Plan) -> _Ready:
    parts = _lessons(plan)
    torch.manual_seed(plan.schedule.seed)
    learner = Learner(plan.model)
    metric = trainable(plan, learner)
    learner.begin(max(metric.request.layers), plan.method, plan.schedule.seed)
    judge = MetricJudge(metric, learner, _statistics(metric, parts.lessons))
    objectives = [_objective(plan, k, one, judge) for k, one in enumerate(parts.lessons)]
    for one in objectives:
        _start_affine(one, judge)
    sizes = [one.batch or plan.schedule.batch for one in plan.learned]
    return _Ready(learner, judge, parts, Loop(objectives, judge, learner.parameters, plan.schedule, sizes))


def estimate(plan: Plan) -> str:
    """What a plan would do, in words, and how long it takes about: three steps and a part of a check are timed."""
    ready = _ready(plan)
    seconds = ready.loop.timed()
    some = ready.held.of(range(min(len(ready.held), 2 * SCORED_AT_ONCE)))
    began = time.monotonic()
    held_scores(ready.judge, some)
    check = (time.monotonic() - began) / len(some.rows) * len(ready.held.rows)
    checks = plan.schedule.epochs * plan.schedule.checks + 1
    minutes = (seconds * ready.loop.steps + check * checks) / 60
    taught = ", ".join(
        f"{len(one):,} judgements of {one.name}"
        + (f" ({left_out:,} left out: they share a text with a held-out one)" if left_out else "")
        for one, left_out in zip(ready.lessons, ready.parts.left_out, strict=True)
    )
    return (
        f"metric     {ready.metric.name}, layers {', '.join(map(str, ready.metric.request.layers))}\n"
        f"model      {ready.learner.name}, {sum(p.numel() for p in ready.learner.parameters):,} parameters learn\n"
        f"learn from {taught}\n"
        f"choose by  {len(ready.held):,} judgements of {ready.held.name}\n"
        f"steps      {ready.loop.steps} of {plan.schedule.batch}, {checks} checks\n"
        f"time       about {minutes:.0f} min on this machine as it is now ({seconds:.2f} s a step)\n"
        f"memory     {peak_memory() / 2**30:.1f} GB so far; a run peaks a little above\n"
    )


def tune(plan: Plan, output: str | Path, *, watch: Watch = lambda _: None, fresh: bool = False) -> Tuned:
    """Tune a model on human judgements through a metric; the adapter is written to `output`.

    A run that was interrupted goes on from `output`.partial when the same plan is given again.
    """
    folder, partial = checkpoint.places(output)
    if fresh:
        checkpoint.clear(partial)
    began = time.monotonic()
    ready = _ready(plan)
    learner, judge, held, loop = ready.learner, ready.judge, ready.held, ready.loop
    facts = {**plan.facts(), "base": learner.files.weights_digest, checkpoint.CONTENT: _content(ready)}
    checkpoint.restore(partial, loop, facts)
    if not loop.state.curve:
        loop.check(agreement(judge, held), None)
    state = loop.run(lambda: agreement(judge, held), lambda _: checkpoint.save(partial, loop, facts), watch)
    about = {
        "seconds": round(time.monotonic() - began, 1),
        "threads": torch.get_num_threads(),
        "memory": peak_memory(),
        "affine": _affine(loop.objectives[0], judge, held),
    }
    card = _card(plan, ready, state, about)
    _write(folder, partial, ready, card)
    return Tuned(folder, card)


def _content(ready: _Ready) -> list[str]:
    """What identifies the data: digests of what each objective learns from, and of what is held out."""
    learned = [objective.examples for objective in ready.loop.objectives]
    return [content_digest(examples) for examples in (*learned, ready.held)]


def trainable(plan: Plan, learner: Learner) -> TransportMetric:
    """The metric bound to the model that learns; a corpus mean becomes that of a batch, as in Tempered WMD."""
    name, spec = resolve(plan.metric, tuple(plan.settings))
    if not isinstance(spec, MetricSpec):
        raise UsageError(
            f"{name} has no single transport through one encoder: tune twmd, bertscore, moverscore, sbert …"
        )
    if isinstance(spec.centre, CorpusCentre):
        spec = replace(spec, centre=BatchCentre("batch", size=plan.schedule.batch, sides=spec.centre.sides))
    return bind_metric(name, spec, learner)


def _lessons(plan: Plan) -> Parts:
    """The judgements to learn from, and those held out: a part of the first ones, or a data set of its own."""
    if not plan.learned:
        raise InvalidSetting("nothing to learn from: give --train DATASET")
    opened = [open_lesson(lesson, plan.place) for lesson in plan.learned]
    if isinstance(plan.dev, float):
        parts = hold_out(opened, plan.dev, plan.schedule.seed)
        if len(parts.held) < A_GROUP:
            count = len(opened[0])
            enough = next((share / 10 for share in range(1, 6) if share / 10 * count >= 1.2 * A_GROUP), None)
            raise DataError(
                f"{opened[0].name}: {plan.dev:g} of {count} judgements is {len(parts.held)}, too few to choose by "
                f"({A_GROUP} at least): {'' if enough is None else f'give --dev {enough:g}, or '}"
                "give more judgements, or a data set to choose by (--dev DATASET)"
            )
        return parts
    if plan.dev in [name for one in plan.learned for name in one.data.split("+")]:
        raise InvalidSetting(f"--dev {plan.dev} is among the data that is learned from")
    chosen = open_lesson(Lesson.written(plan.dev), plan.place)
    if not isinstance(chosen, Examples):
        raise InvalidSetting(f"--dev takes a data set of judgements or a fraction, got the file {plan.dev}")
    return keep_apart(opened, chosen)


def _statistics(metric: TransportMetric, lessons: Sequence[Examples | Labelled]) -> CorpusStats | None:
    """Idf of the references that are learned from, where the metric weighs by it."""
    if not isinstance(metric.spec.weights, Idf):
        return None
    judged = [one for one in lessons if isinstance(one, Examples)]
    texts = dict.fromkeys(text for one in judged for row in one.rows for text in row.references)
    own = dict.fromkeys(row.hypothesis for one in judged for row in one.rows)
    return fit(metric, references=list(texts), hypotheses=list(own) if metric.needs.include_hypotheses else [])


def _objective(plan: Plan, number: int, examples: Examples | Labelled, judge: MetricJudge) -> Objective:
    lesson, seed = plan.learned[number], plan.schedule.seed
    kind = lesson.objective
    if kind == "auto":
        kind = "rank" if isinstance(examples, Examples) and examples.better is not None else "score"
    width = len(judge.sentences(["."])[0]) if kind == "nli" else 0
    if kind != "distil":
        return objective(kind, examples, lesson.weight, width, seed)
    assert isinstance(examples, Examples)
    if plan.teacher is None:
        raise InvalidSetting(f"distil:{lesson.data} learns from a teacher: give --teacher METRIC and --teacher-model")
    others = lesson.for_teacher
    translated = None if others is None else open_lesson(others, plan.place)
    assert translated is None or isinstance(translated, Examples)
    return distilled(examples, plan.teacher, lesson, translated, seed)


def _start_affine(objective: Objective, judge: MetricJudge) -> None:
    """Begin the affine map of scores where least squares puts it on the first judgements."""
    if not isinstance(objective, ScoreObjective) or objective.correlate:
        return
    some = range(min(256, len(objective)))
    with torch.no_grad():
        scores = judge.scores([objective.examples.rows[k] for k in some]).numpy()
    assert objective.examples.targets is not None
    slope, intercept = np.polyfit(scores, objective.examples.targets[list(some)], 1) if scores.std() > 1e-9 else (1, 0)
    head = objective.head
    assert isinstance(head, Affine)
    with torch.no_grad():
        head.slope.fill_(float(slope))
        head.intercept.fill_(float(intercept))


def held_scores(judge: MetricJudge, held: Examples) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The scores [n] of held-out segments, without gradients."""
    with torch.no_grad():
        found = [
            judge.scores(held.rows[at : at + SCORED_AT_ONCE]).numpy() for at in range(0, len(held.rows), SCORED_AT_ONCE)
        ]
    return np.concatenate(found)


def agreement(judge: MetricJudge, held: Examples) -> float:
    """Agreement with held-out people, the mean over groups: Pearson's r with scores, Kendall's tau of rankings.

    Groups with fewer than `A_GROUP` held-out scores, which are standardised by group, count as one together.
    """
    scores = held_scores(judge, held)
    groups = np.array(held.groups)
    if held.better is not None:
        signs = np.sign(scores[held.better[:, 0]] - scores[held.better[:, 1]])
        owners = groups[held.better[:, 0]]
        return float(np.mean([signs[owners == name].mean() for name in dict.fromkeys(owners)]))
    assert held.targets is not None
    few = [name for name, count in Counter(held.groups).items() if count < A_GROUP]
    groups[np.isin(groups, few)] = "few"
    values = [pearson(scores[groups == name], held.targets[groups == name]) for name in dict.fromkeys(groups)]
    return float(np.mean(values))


def _affine(objective: Objective, judge: MetricJudge, held: Examples) -> dict[str, float] | None:
    """The map from scores to human z scores, and its root mean squared error on held-out judgements."""
    if not isinstance(objective, ScoreObjective) or objective.correlate or held.targets is None:
        return None
    head = objective.head
    assert isinstance(head, Affine)
    slope, intercept = float(head.slope.detach()), float(head.intercept.detach())
    off = slope * held_scores(judge, held) + intercept - held.targets
    return {"slope": slope, "intercept": intercept, "error": float(np.sqrt((off**2).mean()))}


def _card(plan: Plan, ready: _Ready, state: State, about: dict[str, Any]) -> dict[str, Any]:
    learner, metric, held = ready.learner, ready.metric, ready.held
    files = learner.files
    return {
        "format": kept.FORMAT,
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
        "parameters": sum(one.numel() for one in learner.parameters),
        "plan": plan.facts(),
        "learned_from": [
            {"data": one.name, "judgements": len(one), "left_out": left_out, "licence": one.licence}
            for one, left_out in zip(ready.lessons, ready.parts.left_out, strict=True)
        ],
        "held_out": {
            "data": held.name,
            "judgements": len(held),
            "agreement": state.best_value,
            "texts_also_learned": ready.parts.shared,
        },
        "curve": state.curve,
        **about,
        "made_with": {"monge": version("monge"), "torch": torch.__version__, "python": platform.python_version()},
    }


def peak_memory() -> int:
    """The most bytes that this process has held."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else 1024 * most


def _signed(ready: _Ready, name: str, digest: str) -> str:
    """The signature that the metric has with the adapter in its model."""
    metric, files = ready.metric, ready.learner.files
    name, weights = f"{files.name}+{name}", digests.of_facts(files.weights_digest, digest)
    model = replace(identify(metric.reader.encoder), name=name, weights=weights)
    spec = replace(metric.spec, encoder=replace(metric.spec.encoder, model=name))
    stats = ready.judge.stats
    identity = metric.identity if stats is None else metric.identity_with(stats)
    return str(replace(identity, model=model, spec=spec).sign())


def _write(folder: Path, partial: Path, ready: _Ready, card: dict[str, Any]) -> None:
    """The adapter's directory, written beside its place and put there whole."""
    from safetensors.torch import save

    made = partial / checkpoint.MADE
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    tensors = {name: one.half().contiguous() for name, one in ready.learner.blocks.kept().items()}
    (made / kept.WEIGHTS).write_bytes(save(tensors))
    card["sha256"] = digests.of_file(made / kept.WEIGHTS)
    card["signature"] = _signed(ready, folder.name, card["sha256"])
    (made / kept.CARD).write_text(json.dumps(card, indent=1, allow_nan=False) + "\n", "utf-8")
    (made / "README.md").write_text(card_text(card), "utf-8")
    (made / "curve.svg").write_text(curve_svg(card["curve"]), "utf-8")
    try:
        made.replace(folder)
    except OSError as error:
        raise UsageError(f"the adapter could not be put to {folder} ({error.strerror}): it is kept in {made}") from None
    checkpoint.clear(partial)
