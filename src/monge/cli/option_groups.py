"""Groups of options: a command takes a dataclass, whose fields are options of the command line."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_type_hints

from monge import api
from monge.cli import options
from monge.cli.options import option
from monge.cli.printing import tell
from monge.errors import UsageError
from monge.metrics.labels import labels
from monge.metrics.presets import Spec, check_fitting, fitting, resolve

T = TypeVar("T")


@dataclass(frozen=True)
class ChosenMetric:
    """A metric of a command line: the text of `-m`, its name, its settings, its label in results.

    The model is not loaded yet.
    """

    text: str
    name: str
    spec: Spec
    label: str


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
        short = {
            "layers": self.layers,
            "encoder.precision": self.precision,
            "encoder.overlong": overlong,
        }
        changes = (f"{setting}={value}" for setting, value in short.items() if value is not None)
        return (*changes, *(self.settings or ()))

    def choose(
        self,
        texts: Sequence[str],
        *,
        quiet: bool,
        overlong: str | None = None,
        more: Sequence[str] = (),
    ) -> list[ChosenMetric]:
        """Resolve the texts of `-m`; raise where a name or a setting is wrong.

        Tells which settings not all of the metrics have. `more` are changes by other options.
        """
        changes = (*more, *self.changes(overlong))
        notes = check_fitting(texts, changes) if changes else []
        several = len(texts) > 1
        resolved = [
            resolve(text, fitting(text, changes) if several else changes, self.lang)
            for text in texts
        ]
        if notes and not quiet:
            tell("; ".join(notes))
        names = labels(resolved) if several else [name for name, _ in resolved]
        return [
            ChosenMetric(text, name, spec, label)
            for text, (name, spec), label in zip(texts, resolved, names, strict=True)
        ]

    def load(self, metrics: Sequence[ChosenMetric], cache: str | None = None) -> list[api.Metric]:
        """Return the metrics with their models; `cache` keeps static vectors."""
        model: dict[str, Any] = {
            "model": self.model_name,
            "lang": self.lang,
            "device": self.device,
            "online": self.online,
        }
        return [api.bind(metric.name, metric.spec, cache=cache, **model) for metric in metrics]


@dataclass(frozen=True)
class TextFileOptions:
    """Options for parallel files to score."""

    hypotheses: Annotated[
        list[str] | None,
        option(
            "--hypotheses -t FILE",
            help="The output of a system, one text per line, or a directory of such files; give it "
            "several times for several systems. - is standard input.",
        ),
    ] = None
    references: Annotated[
        list[str] | None,
        option(
            "--references -r FILE",
            help="The references, line by line beside the hypotheses; give it several times for "
            "several references.",
        ),
    ] = None
    source: Annotated[
        str | None,
        option(
            "--source -s FILE",
            help="The source texts, for metrics that compare with them; without -r all metrics do.",
        ),
    ] = None

    def __bool__(self) -> bool:
        """Return whether any file was given."""
        return bool(self.hypotheses or self.references or self.source)


@dataclass(frozen=True)
class JudgementOptions:
    """Options for human judgements: their directory, groups, and the version of their texts."""

    data: Annotated[
        str,
        option(
            "--data DIR",
            help="The directory of the published files, at any depth; for `table`, the file.",
        ),
    ]
    pairs: Annotated[
        str | None,
        option(
            "--pairs NAME,…",
            help="Only these groups, such as cs-en,de-en or '*-en'; all by default.",
        ),
    ] = None
    text: Annotated[
        str,
        option("--text raw|tokenised", options.INPUT, help="Which version of the texts is scored."),
    ] = "raw"

    @property
    def groups(self) -> list[str] | None:
        """The groups of `--pairs a,b`."""
        return options.split_names(self.pairs)


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
        option("--figures DIR", options.OUTPUT, help="Draw figures into this directory."),
    ] = None
    figure_format: Annotated[
        str, option("--figure-format svg|png", options.OUTPUT, help="The format of the figures.")
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
    """Return the command with the options of its groups as parameters, which typer parses."""
    hints = get_type_hints(command, include_extras=True)
    hints.pop("return", None)
    bundles = {name: kind for name, kind in hints.items() if is_dataclass(kind)}

    @functools.wraps(command)
    def flattened(**values: Any) -> T:
        bundle_values = {
            name: kind(**{field.name: values.pop(field.name) for field in fields(kind)})  # type: ignore[operator]
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
    for field in fields(kind):
        initial = Parameter.empty if field.default is MISSING else field.default
        yield Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=initial, annotation=inside[field.name]
        )
