"""What the verbs of studies share: their bundles of options, and how what was found is written."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monge.cli import bundles, options
from monge.cli.emit import Watch, check_output, coloured, emit, terminal_width, today, watching
from monge.data.columns import given_columns
from monge.errors import UsageError
from monge.types.table import STUDY_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from monge.study import Resampling, Run, Setup, Task
    from monge.types.table import Study

Dataset = Annotated[
    str,
    typer.Argument(
        help="The name of a published data set, such as wmt18 or stsb (`monge data` lists them), or `table` for a "
        "table of "
        "your own with a column of human scores."
    ),
]
Figure = Annotated[
    str | None,
    typer.Option(
        "--figure", metavar="FILE.svg|.png", help="Draw the curves into this file.", rich_help_panel=options.OUTPUT
    ),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME|DIR",
        help="A model that gives the vectors: a directory, a file of word vectors, or a name; repeatable.",
        rich_help_panel=options.MODEL,
    ),
]
Switches = Annotated[
    list[str] | None,
    typer.Option(
        "--switch",
        metavar="NAME=VALUE",
        help="How a data set is read, where it can be read in several ways; given twice, it is read both ways.",
        rich_help_panel=options.INPUT,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Output(bundles.Keep):
    """Where the result goes and in which format, what is kept for the next run, and whether it speaks."""

    output: options.Output = None
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text"
    signature_form: options.SignatureForm = "short"

    def check(self, formats: tuple[str, ...] = STUDY_FORMATS) -> None:
        """Raise where the result could not be written, before anything is scored."""
        check_output(self.output_format, formats, self.output)
        options.signed(self.signature_form)

    def run(self, watch: Watch) -> Run:
        """How the study runs."""
        from monge.study import Run

        return Run(self.folder, watch.advance, watch.opened)

    def watching(self) -> AbstractContextManager[Watch]:
        """Follow the study on standard error; interrupted, it says how to go on."""
        return watching(quiet=self.quiet, verbose=self.verbose, folder=self.folder)

    @property
    def is_page(self) -> bool:
        """Whether a page is written, which has figures."""
        return self.output_format == "html"

    def write(
        self,
        found: Study,
        key: str = "",
        title: str = "",
        figures: Sequence[str] = (),
        charts: Sequence[str] = (),
    ) -> None:
        """Write what a study found; a page has the title and the day, the figures, the tables, the charts."""
        from monge.render.table import render_study

        colour, signed = coloured(self.output), options.signed(self.signature_form)
        form, monge, headed = self.output_format, version("monge"), f"{title}, {today()}" if title else ""
        shown: dict[str, Any] = {"key": key, "colour": colour, "signed": signed, "title": headed}
        shown |= {"figures": figures, "charts": charts}
        emit(render_study(found, form, version=monge, width=terminal_width(self.output), **shown), self.output)


@dataclass(frozen=True, kw_only=True)
class Resamples:
    """How intervals are drawn."""

    resamples: options.Resamples = 1000
    seed: options.Seed = 12345

    def resampling(self) -> Resampling:
        """As studies take it."""
        from monge.study import Resampling

        return Resampling(**vars(self))


@dataclass(frozen=True, kw_only=True)
class Tests(Resamples):
    """How intervals are drawn and differences tested."""

    confidence: options.Confidence = 0.95
    alpha: Annotated[
        float,
        typer.Option(
            "--alpha",
            metavar="X",
            help="The level at which a difference counts as one.",
            rich_help_panel=options.STATISTICS,
        ),
    ] = 0.05


def setup_of(setup: bundles.Setup) -> Setup:
    """What all variants share, as studies take it."""
    from monge.study import Setup

    return Setup(setup.changes(), setup.lang, setup.named, setup.device, setup.online)


def called(judgements: Any) -> str:
    """What a page calls judgements: the data set, or the file of a table."""
    return Path(judgements.data).name if judgements.dataset == "table" else str(judgements.dataset)


def task_of(given: Any, **more: Any) -> Task:
    """Which judgements and which question, as studies take it, from a verb's bundle of judgements."""
    from monge.study import Task

    names = ("dataset", "data", "text", "level", "human", "statistic", "sample")
    same = {name: value for name, value in vars(given).items() if name in names}
    return Task(pairs=given.groups, columns=given_columns(given.columns or ()), **same, **more)


def check_figure(path: str | None) -> Path | None:
    """The file of `--figure`; raises where it could not be drawn, before anything is scored."""
    if path is None:
        return None
    from monge.report import check_figures

    if Path(path).suffix not in (".svg", ".png"):
        raise UsageError(f"--figure takes a name ending in .svg or .png, got {path!r}")
    check_figures(Path(path).parent)
    return Path(path)


def switches(given: Sequence[str] | None) -> list[dict[str, Any]]:
    """The readings of `--switch name=value`: true, false, a whole number, or a word; one for each choice of values."""
    found: dict[str, list[Any]] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"--switch takes NAME=VALUE, got {one!r}")
        key = name.strip().replace("-", "_")
        parsed = value == "true" if value in ("true", "false") else int(value) if value.isdigit() else value
        found[key] = list(dict.fromkeys([*found.get(key, []), parsed]))
    return [dict(zip(found, values, strict=True)) for values in product(*found.values())]
