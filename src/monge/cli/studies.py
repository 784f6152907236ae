"""What the verbs of studies share: groups of options, and how results are written."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monge.cli import option_groups, options
from monge.cli.options import option
from monge.cli.printing import StudyProgress, check_output, today, watching, write_study
from monge.datasets.columns import given_columns
from monge.errors import UsageError
from monge.render.chosen_columns import ChosenColumns
from monge.types.table import STUDY_FORMATS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from monge.evaluation import Resampling, Run, Setup, Task
    from monge.types.table import Study

Dataset = Annotated[
    str,
    typer.Argument(
        help="The name of a published data set, such as wmt18 or stsb (`monge data` lists them), "
        "or `table` for a table of your own with a column of human scores."
    ),
]
OptionalDataset = Annotated[
    str | None,
    typer.Argument(
        help="The name of a published data set, such as wmt18 or stsb (`monge data` lists them), "
        "or `table` for a table of your own with a column of human scores; none with --protocol."
    ),
]
Figure = Annotated[
    str | None,
    option("--figure FILE.svg|.png", options.OUTPUT, help="Draw the curves into this file."),
]
Models = Annotated[
    list[str] | None,
    option(
        "--model NAME|DIR",
        options.MODEL,
        help="A model that gives the vectors: a directory, a file of word vectors, or a name; "
        "repeatable.",
    ),
]
Switches = Annotated[
    list[str] | None,
    option(
        "--switch NAME=VALUE",
        options.INPUT,
        help="How a data set is read, where it can be read in several ways; given twice, it is "
        "read both ways.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class StudyOutputOptions(option_groups.CacheOptions):
    """Options for the output of a study, the cache, and messages."""

    output: options.Output = None
    output_format: Annotated[str, options.formats(STUDY_FORMATS)] = "text"
    signature_form: options.SignatureForm = "short"
    digits: options.Digits = None
    table_columns: options.TableColumns = None

    def check(self, formats: tuple[str, ...] = STUDY_FORMATS) -> None:
        """Raise where the result could not be written, before anything is scored."""
        check_output(self.output_format, formats, self.output)
        options.signed(self.signature_form)

    def run(self, watch: StudyProgress) -> Run:
        """Return the settings of the study's run."""
        from monge.evaluation import Run

        return Run(self.folder, watch.advance, watch.show_read)

    def watching(self) -> AbstractContextManager[StudyProgress]:
        """Show the progress of the study on standard error; if interrupted, tell how to resume."""
        return watching(quiet=self.quiet, verbose=self.verbose, folder=self.folder)

    @property
    def is_page(self) -> bool:
        """Whether a page is written, which has figures."""
        return self.output_format == "html"

    def write(
        self,
        result: Study,
        key: str = "",
        title: str = "",
        figures: Sequence[str] = (),
        charts: Sequence[str] = (),
    ) -> None:
        """Write the result; a page has the title and the day, figures, tables, charts."""
        names = options.split_names(self.table_columns)
        write_study(
            ChosenColumns(result, names) if names else result,
            self.output_format,
            self.output,
            version=version("monge"),
            key=key,
            signed=options.signed(self.signature_form),
            title=f"{title}, {today()}" if title else "",
            figures=figures,
            charts=charts,
        )


@dataclass(frozen=True, kw_only=True)
class ResamplingOptions:
    """Options for intervals."""

    resamples: options.Resamples = 1000
    seed: options.Seed = 12345

    def resampling(self) -> Resampling:
        """Return the options as `monge.evaluation.Resampling`."""
        from monge.evaluation import Resampling

        return Resampling(**vars(self))


@dataclass(frozen=True, kw_only=True)
class SignificanceOptions(ResamplingOptions):
    """Options for intervals and tests."""

    confidence: options.Confidence = 0.95
    alpha: Annotated[
        float,
        option("--alpha X", options.STATISTICS, help="The significance level of the tests."),
    ] = 0.05


def setup_of(setup: option_groups.SetupOptions) -> Setup:
    """Return what all variants share as `monge.evaluation.Setup`."""
    from monge.evaluation import Setup

    return Setup(setup.changes(), setup.lang, setup.model_name, setup.device, setup.online)


def dataset_title(judgements: Any) -> str:
    """Return the name of judgements on a page: the data set, or the file of a table."""
    return Path(judgements.data).name if judgements.dataset == "table" else str(judgements.dataset)


def task_of(judgements: Any, **more: Any) -> Task:
    """Return the `monge.evaluation.Task` of a verb's options for judgements."""
    from monge.evaluation import Task

    if judgements.dataset is None:
        raise UsageError("name a data set (`monge data` lists them), or a --protocol")
    names = ("dataset", "data", "text", "level", "human", "statistic", "sample", "strata")
    same = {name: value for name, value in vars(judgements).items() if name in names}
    return Task(
        pairs=judgements.groups, columns=given_columns(judgements.columns or ()), **same, **more
    )


def check_figure(path: str | None) -> Path | None:
    """Return the file of `--figure`; raise where it could not be drawn."""
    if path is None:
        return None
    from monge.report import check_figures

    if Path(path).suffix not in (".svg", ".png"):
        raise UsageError(f"--figure takes a name ending in .svg or .png, got {path!r}")
    check_figures(Path(path).parent)
    return Path(path)


YES_OR_NO = {"true": True, "yes": True, "false": False, "no": False}


def switches(texts: Sequence[str] | None) -> list[dict[str, Any]]:
    """Parse `--switch name=value` texts into one reading per combination of values."""
    values_by_name: dict[str, list[Any]] = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--switch takes NAME=VALUE, got {text!r}")
        key = name.strip().replace("-", "_")
        parsed = YES_OR_NO.get(value, int(value) if value.isdigit() else value)
        values_by_name[key] = list(dict.fromkeys([*values_by_name.get(key, []), parsed]))
    return [
        dict(zip(values_by_name, values, strict=True))
        for values in product(*values_by_name.values())
    ]
