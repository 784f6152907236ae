"""Groups of options as one value: a command takes a dataclass, the command line offers its fields
as options.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

import typer

from monge import api
from monge.cli import options
from monge.cli.printing import tell
from monge.errors import UsageError
from monge.metrics.presets import Spec, check_fitting, fitting, resolve

T = TypeVar("T")


@dataclass(frozen=True)
class SetupOptions:
    """Options for the settings of metrics, their model and its device."""

    settings: options.Set = None
    layers: options.Layers = None
    lang: options.Lang = None
    model: options.Model = "auto"
    adapter: options.Adapter = None
    online: options.Online = False
    device: options.Device = "auto"
    precision: options.Precision = None

    @property
    def model_name(self) -> str:
        """The name of the model with its adapter."""
        return self.model if self.adapter is None else f"{self.model}+{self.adapter}"

    def changes(self, overlong: str | None = None) -> tuple[str, ...]:
        """Return all changes as AXIS=VALUE texts, `--set` last."""
        return options.changes(self.settings, self.layers, self.precision, overlong)

    def check(self, names: Sequence[str], *, quiet: bool, more: Sequence[str] = ()) -> None:
        """Raise where a name or setting is wrong, before a model is loaded; tell which settings not
        all metrics have.

        `more` are changes besides those of this bundle.
        """
        changes = (*more, *self.changes())
        notes = check_fitting(names, changes)
        for name in names:
            resolve(name, fitting(name, changes) if len(names) > 1 else changes, self.lang)
        if notes and not quiet:
            tell("; ".join(notes))

    def bind(self, name: str, spec: Spec, cache: str | None = None) -> api.Metric:
        """Return the metric with its loaded model; `cache` keeps static vectors."""
        return api.bind(
            name,
            spec,
            model=self.model_name,
            lang=self.lang,
            device=self.device,
            online=self.online,
            cache=cache,
        )


@dataclass(frozen=True)
class TextFileOptions:
    """Options for parallel files to score."""

    hypotheses: Annotated[
        list[str] | None,
        typer.Option(
            "--hypotheses",
            "-t",
            metavar="FILE",
            help="The output of a system, one text per line, or a directory of such files; give it "
            "several times for several systems. - is standard input.",
        ),
    ] = None
    references: Annotated[
        list[str] | None,
        typer.Option(
            "--references",
            "-r",
            metavar="FILE",
            help="The references, line by line beside the hypotheses; give it several times for "
            "several references.",
        ),
    ] = None
    source: Annotated[
        str | None,
        typer.Option(
            "--source",
            "-s",
            metavar="FILE",
            help="The source texts, for metrics that compare with them; without -r all metrics do.",
        ),
    ] = None

    def __bool__(self) -> bool:
        """Return whether any file was given."""
        return bool(self.hypotheses or self.references or self.source)


@dataclass(frozen=True)
class JudgementOptions:
    """Options for human judgements: their directory, their groups, and the version of their
    texts.
    """

    data: Annotated[
        str,
        typer.Option(
            "--data",
            metavar="DIR",
            help="The directory of the published files, at any depth; for `table`, the file.",
        ),
    ]
    pairs: Annotated[
        str | None,
        typer.Option(
            "--pairs",
            metavar="NAME,…",
            help="Only these groups, such as cs-en,de-en or '*-en'; all by default.",
        ),
    ] = None
    text: Annotated[
        str,
        typer.Option(
            "--text",
            metavar="raw|tokenised",
            help="Which version of the texts is scored.",
            rich_help_panel=options.INPUT,
        ),
    ] = "raw"

    @property
    def groups(self) -> list[str] | None:
        """The groups of `--pairs a,b`."""
        return (
            [group.strip() for group in self.pairs.split(",") if group.strip()]
            if self.pairs is not None
            else None
        )


@dataclass(frozen=True)
class CacheOptions:
    """Options for the cache, and for messages."""

    cache: options.Cache = None
    no_cache: options.NoCache = False
    quiet: options.Quiet = False
    verbose: options.Verbose = False

    @property
    def folder(self) -> str | None:
        """The directory of the cache, None for no cache."""
        return None if self.no_cache else self.cache


@dataclass(frozen=True)
class FigureOptions:
    """Options for the directory and the format of figures."""

    figures: Annotated[
        str | None,
        typer.Option(
            "--figures",
            metavar="DIR",
            help="Draw figures into this directory.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None
    figure_format: Annotated[
        str,
        typer.Option(
            "--figure-format",
            metavar="svg|png",
            help="The format of the figures.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = "svg"

    def check(self) -> None:
        """Raise where figures could not be drawn, before anything is scored."""
        if self.figure_format not in ("svg", "png"):
            raise UsageError(f"--figure-format takes svg, png, got {self.figure_format!r}")
        if self.figures is not None:
            from monge.report import check_figures

            check_figures(self.figures)

    @property
    def folder(self) -> Path | None:
        """The directory of the figures, None for no figures."""
        return Path(self.figures) if self.figures is not None else None


def flatten_options(command: Callable[..., T]) -> Callable[..., T]:
    """Return the command with the options of its groups as parameters, which typer shows and
    parses.
    """
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    bundles = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @functools.wraps(command)
    def flattened(**values: Any) -> T:
        bundle_values = {
            name: kind(**{option.name: values.pop(option.name) for option in fields(kind)})  # type: ignore[operator]
            for name, kind in bundles.items()
        }
        return command(**values, **bundle_values)

    own = inspect.signature(command).parameters
    parameters = [
        parameter
        for name, kind in hints.items()
        for parameter in _flat_parameters(name, kind, own[name].default)
    ]
    flattened.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    flattened.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return flattened


def _flat_parameters(name: str, kind: Any, default: Any) -> Iterator[Parameter]:
    """Yield a parameter itself, or one parameter per option of a group."""
    if not is_dataclass(kind):
        yield Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        return
    inside = get_type_hints(kind, include_extras=True)
    for option in fields(kind):
        initial = Parameter.empty if option.default is MISSING else option.default
        yield Parameter(
            option.name, Parameter.KEYWORD_ONLY, default=initial, annotation=inside[option.name]
        )
