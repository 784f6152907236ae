"""`monge tune`: learn from people, and keep what was learned as an adapter."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated

import typer

from monge.cli import option_groups, options
from monge.cli.options import option
from monge.cli.printing import tell, terminal_layout, write_listing
from monge.errors import UsageError
from monge.render.cells import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from monge.tuning import Plan
    from monge.tuning.loop import Told


@dataclass(frozen=True)
class LearningOptions:
    """Options for the training data, the learning rate, and the parts of the model that learn."""

    train: Annotated[
        list[str],
        option(
            "--train [OBJECTIVE:]DATASET[*WEIGHT]",
            help="Judgements to learn from, repeatable: wmt15+wmt16, rank:wmt18*0.5, "
            "'similarity:stsb(split=train)', nli:FILE, classify:FILE, paraphrase:FILE, "
            "errors:FILE, distil:DATASET. Objectives: score, correlation, mse, rank, errors, "
            "similarity, paraphrase, nli, classify, distil; in brackets pairs, human, text, "
            "sample, batch, or a switch of the data set; with errors also kinds (of controlled "
            "errors, or severities, joined by /); with nli and classify also labels and "
            "paraphrase_from; with distil also teacher (the teacher reads the rows of that group, "
            "such as en) and neighbours (so many nearest texts are paired with each).",
        ),
    ]
    dev: Annotated[
        str,
        option(
            "--dev DATASET|FRACTION",
            help="Validation data: a data set, or the fraction of rows to hold out; with blend a "
            "data set to report agreement on.",
        ),
    ] = "0.1"
    human: Annotated[
        str | None,
        option("--human COLUMN", help="The column of human scores, where there are several."),
    ] = None
    grades: Annotated[
        str | None,
        option(
            "--grades germeval|GRADE=COSINE,…",
            help="With paraphrase: what cosine each grade stands for; germeval is "
            "4=.85,3.5=.70,3=.50 … 1=.05.",
        ),
    ] = None
    method: Annotated[
        str,
        option(
            "--method lora|last|all|mix",
            help="What learns: low-rank changes of the weights, the last blocks, all weights, or "
            "how layers are mixed.",
        ),
    ] = "lora"
    rank: Annotated[int, option("--rank N", help="With lora: the rank of the changes.")] = 8
    blocks: Annotated[
        int,
        option(
            "--blocks N",
            help="With lora and last: how many of the blocks below the layer that is read learn; 0 "
            "is all with lora, 2 with last. Fewer train faster.",
        ),
    ] = 0
    epochs: Annotated[
        int, option("--epochs N", help="How many passes are made over the judgements.")
    ] = 3
    rate: Annotated[float, option("--rate X", help="The learning rate of the optimiser.")] = 5e-4
    batch: Annotated[int, option("--batch N", help="How many judgements a step learns from.")] = 32
    seed: Annotated[
        int, option("--seed N", help="The seed of the split, the order and the start.")
    ] = 12345


@dataclass(frozen=True)
class TeacherOptions:
    """Options for the teacher of `distil`."""

    teacher: Annotated[
        str | None,
        option("--teacher METRIC", help="With distil: the metric whose scores are learned."),
    ] = None
    teacher_model: Annotated[
        str | None,
        option(
            "--teacher-model NAME|DIR", help="The model of the teacher, such as a larger tuned one."
        ),
    ] = None
    teacher_alike: Annotated[
        float,
        option(
            "--teacher-alike X",
            help="With distil: the weight of also learning the teacher's similarities of "
            "sentences.",
        ),
    ] = 0.0


@dataclass(frozen=True)
class BlendOptions:
    """Options for the members and the weights of a blend."""

    members: Annotated[
        list[str] | None,
        option(
            "--metric -m NAME",
            help="With blend: a member, NAME, NAME@PROFILE or 'NAME[axis.field=value]'; several as "
            "-m A -m B or -m A,B.",
            callback=options.split_metrics,
        ),
    ] = None
    folds: Annotated[
        int, option("--folds N", help="With blend: the number of parts for cross-validation.")
    ] = 10
    signed: Annotated[
        bool, option("--signed", help="With blend: allow negative weights of members.")
    ] = False
    rows: Annotated[
        str,
        option(
            "--rows all|held-out",
            help="With blend: fit on all judgements, or on those that the adapter of a member held "
            "out when it was tuned.",
        ),
    ] = "all"
    scores: Annotated[
        list[str] | None,
        option(
            "--scores MEMBER=FILE",
            help="With blend: a member's scores of the judgements, each by an adapter that was "
            "tuned without it; lines in the order of the judgements, or a table with group, system "
            "and id; repeatable.",
        ),
    ] = None


@dataclass(frozen=True)
class ResumeOptions:
    """Options for resuming a run, and for messages."""

    dry_run: Annotated[
        bool,
        option("--dry-run", options.KEEPING, help="Say what would be done and how long it takes."),
    ] = False
    fresh: Annotated[
        bool,
        option(
            "--fresh",
            options.KEEPING,
            help="Start again instead of resuming an unfinished run.",
        ),
    ] = False
    quiet: options.Quiet = False


@option_groups.flatten_options
def tune(
    *,
    metric: Annotated[
        str,
        typer.Argument(
            metavar="METRIC|blend",
            help="The metric to tune through, such as twmd or bertscore; or blend, to fit the "
            "weights of several metrics (-m).",
        ),
    ],
    learning: LearningOptions,
    judgements: option_groups.JudgementOptions,
    teaching: TeacherOptions,
    blending: BlendOptions,
    setup: option_groups.SetupOptions,
    output: Annotated[
        str,
        option(
            "--output -o DIR|FILE.json",
            help="The directory that the adapter is written to; of a blend, the file.",
        ),
    ],
    going: ResumeOptions,
) -> None:
    """Tune a model through a metric, and write the adapter; or fit a blend of metrics."""
    if metric == BLEND:
        _check_blend_options(learning, teaching, setup, going)
        _fit_blend(learning, judgements, blending, setup, output, going)
        return
    if blending != BlendOptions():
        raise UsageError(
            "-m, --folds, --signed, --rows and --scores are for a blend: monge tune blend -m NAME "
            "-m NAME"
        )
    plan = _plan(metric, learning, judgements, teaching, setup)
    _tune_adapter(plan, output, going)


def _tune_adapter(plan: Plan, output: str, going: ResumeOptions) -> None:
    """Tune an adapter and write it, or say what would be done."""
    from monge.tuning import estimate
    from monge.tuning import tune as run

    if going.dry_run:
        sys.stdout.write(_wrap_estimate(estimate(plan), terminal_layout()["width"]))
        return
    with _show_progress_line(show=not going.quiet and sys.stderr.isatty()) as watch:
        tuned = run(plan, output, watch=watch, fresh=going.fresh)
    if not going.quiet:
        held = tuned.card["held_out"]
        before = tuned.card["curve"][0]["agreement"]
        sys.stderr.write(
            f"monge: {output}: {held.get('statistic', 'agreement')} with held-out judgements of "
            f"{held['data']} {before:.4f} "
            f"before, {held['agreement']:.4f} after; use it with --model {output}\n"
        )


BLEND = "blend"
"""What stands in place of a metric where the weights of a blend are fitted."""


def _check_blend_options(
    learning: LearningOptions,
    teaching: TeacherOptions,
    setup: option_groups.SetupOptions,
    going: ResumeOptions,
) -> None:
    """Raise for options of adapters, which a blend does not have."""
    _check_supported(setup, teaching)
    usual = {field.name: field.default for field in fields(learning)}
    names = [name for name in usual if name not in ("train", "dev", "human", "seed")]
    wrong = next((name for name in names if getattr(learning, name) != usual[name]), None)
    if teaching != TeacherOptions():
        wrong = "teacher"
    if going.dry_run or going.fresh:
        wrong = "dry-run" if going.dry_run else "fresh"
    if wrong is not None:
        raise UsageError(f"--{wrong} is not for a blend: leave it out")
    if learning.dev != usual["dev"] and _is_number(learning.dev):
        raise UsageError(
            "--dev takes a data set where a blend is fitted, which is cross-validated: --folds N "
            f"says in how many parts; got {learning.dev}"
        )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _fit_blend(
    learning: LearningOptions,
    judgements: option_groups.JudgementOptions,
    blending: BlendOptions,
    setup: option_groups.SetupOptions,
    output: str,
    going: ResumeOptions,
) -> None:
    """Fit a blend, write it, and print its members and its agreement with people."""
    from monge.api.progress import report_progress
    from monge.metrics.blend_card import describe_blend
    from monge.metrics.blend_file import read_blend
    from monge.tuning import BlendPlan, fit_blend

    plan = BlendPlan(
        blending.members or [],
        learning.train,
        judgements.data,
        model=setup.model_name,
        settings=setup.changes(),
        pairs=judgements.groups,
        human=learning.human,
        text=judgements.text,
        folds=blending.folds,
        signed=blending.signed,
        rows=blending.rows,
        scores=blending.scores or (),
        dev=None if _is_number(learning.dev) else learning.dev,
        seed=learning.seed,
    )
    with report_progress(not going.quiet and sys.stderr.isatty()) as watch:
        fit_blend(plan, output, watch=watch)
    write_listing(describe_blend(read_blend(output)), "text")
    if not going.quiet:
        tell(f"{output}: use it with -m {output}")


_NAME = 11
"""Columns of the name in a line of the estimate."""


def _wrap_estimate(estimate: str, width: int | None) -> str:
    """Return the lines of an estimate, wrapped at a terminal's width."""
    if width is None:
        return estimate
    lines = []
    for line in estimate.splitlines():
        first, *rest = fold(" " * _NAME + line[_NAME:], width)
        lines += [line[:_NAME] + first[_NAME:], *rest]
    return "\n".join(lines) + "\n"


def _plan(
    metric: str,
    learning: LearningOptions,
    judgements: option_groups.JudgementOptions,
    teaching: TeacherOptions,
    setup: option_groups.SetupOptions,
) -> Plan:
    """Return the plan of the options; raise for options that tuning does not support."""
    from monge.tuning import Method, Plan, Schedule, Teacher

    _check_supported(setup, teaching)
    try:
        dev: str | float = float(learning.dev)
    except ValueError:
        dev = learning.dev
    teacher = None
    if teaching.teacher is not None:
        teacher = Teacher(
            teaching.teacher, teaching.teacher_model or "auto", teaching.teacher_alike
        )
    return Plan(
        metric,
        learning.train,
        judgements.data,
        dev=dev,
        model=setup.model_name,
        settings=replace(setup, precision=None).changes(),
        pairs=judgements.groups,
        human=learning.human,
        text=judgements.text,
        grades=learning.grades,
        teacher=teacher,
        method=Method(learning.method, learning.rank, learning.blocks, setup.precision or "fp32"),
        schedule=Schedule(learning.epochs, learning.batch, learning.rate, seed=learning.seed),
    )


def _check_supported(setup: option_groups.SetupOptions, teaching: TeacherOptions) -> None:
    """Raise for options that tuning does not support, or that need another option."""
    unused = {
        "--lang": setup.lang,
        "--online": setup.online,
        "--device": setup.device not in ("auto", "cpu"),
    }
    wrong = next((name for name, is_given in unused.items() if is_given), None)
    if wrong is not None:
        raise UsageError(
            f"{wrong} is not supported by tune, which runs a local model on the CPU: leave it out"
        )
    if teaching.teacher is None and (teaching.teacher_model is not None or teaching.teacher_alike):
        raise UsageError(
            "--teacher-model and --teacher-alike are for --teacher METRIC: give that too"
        )


@contextmanager
def _show_progress_line(*, show: bool) -> Iterator[Callable[[Told], None]]:
    """Show a moving line on standard error: steps, loss, agreement, remaining time."""
    if not show:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False
    ) as bar:
        task = bar.add_task("tuning")

        def show_progress(progress: Told) -> None:
            loss = "" if progress.loss is None else f"loss {progress.loss:.3f}"
            agreed = "" if progress.agreement is None else f"agreement {progress.agreement:.3f}"
            bar.update(
                task,
                completed=progress.step,
                total=progress.steps,
                description=f"tuning  {loss}  {agreed}",
            )

        yield show_progress
