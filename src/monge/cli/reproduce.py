"""`monge reproduce`: the papers' tables beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer

from monge.cli import engines, option_groups, options, studies
from monge.cli.options import option
from monge.cli.printing import emit, terminal_layout
from monge.errors import UsageError

if TYPE_CHECKING:
    from monge.papers import Models


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """Options for the models, and for where they run."""

    model: studies.Models = None
    online: options.Online = False
    device: options.Device = "auto"


@dataclass(frozen=True, kw_only=True)
class PaperModelOptions:
    """Options for what stands in for the paper's models."""

    stand_in: Annotated[
        list[str] | None,
        option(
            "--stand-in MODEL=DIR",
            options.MODEL,
            help="A model for the rows that the paper computed with MODEL, such as "
            "word2vec=glove-6b-50d; repeatable. Rows whose model is not here are left out "
            "otherwise.",
        ),
    ] = None
    layers: Annotated[
        str | None,
        option(
            "--layers CHOICE",
            options.MODEL,
            help="Which layers of the model give the vectors, for the rows that name none.",
        ),
    ] = None

    @property
    def stand_ins(self) -> dict[str, str]:
        """The models of `--stand-in` by the names of the paper's."""
        pairs = [text.partition("=") for text in self.stand_in or ()]
        for name, equals, model in pairs:
            if not (name and equals and model):
                raise UsageError(
                    f"--stand-in takes MODEL=DIR, such as word2vec=glove-6b-50d; got "
                    f"{name + equals + model!r}"
                )
        return {name: model for name, _, model in pairs}

    def of(self, model: str, models: ModelOptions) -> Models:
        """Return a model with the stand-ins and layers of the command line."""
        from monge import papers
        from monge.evaluation import Setup

        setup = Setup(model=model, device=models.device, online=models.online)
        return papers.Models(setup, self.stand_ins, self.layers or "")


@dataclass(frozen=True, kw_only=True)
class ClaimResamplingOptions:
    """Options for the intervals of claims."""

    seed: Annotated[
        int, option("--seed N", options.STATISTICS, help="The seed of the bootstrap intervals.")
    ] = 12345
    resamples: Annotated[
        int,
        option(
            "--resamples N",
            options.STATISTICS,
            help="How many bootstrap resamples an interval takes; 0 for no intervals.",
        ),
    ] = 500


@dataclass(frozen=True, kw_only=True)
class PublishedTableOptions:
    """Options for the published table, its judgements, and which of their groups are taken."""

    table: Annotated[
        str | None,
        typer.Argument(
            metavar="[TABLE]",
            help="The name of a published table; without one, all tables are listed.",
        ),
    ] = None
    data: Annotated[
        str | None,
        option("--data DIR", help="The directory of the published judgements, at any depth."),
    ] = None
    pairs: Annotated[
        str | None,
        option(
            "--pairs cs-en,…",
            help="Only these groups, such as cs-en,de-en or '*-en' (a mean needs all of them), or "
            "none.",
        ),
    ] = None

    sample: options.Sample = None

    @property
    def groups(self) -> list[str] | None:
        """The groups of `--pairs`: None for all of them, an empty list for `none`."""
        if self.pairs is None:
            return None
        return [] if self.pairs == "none" else [group.strip() for group in self.pairs.split(",")]


@option_groups.flatten_options
def reproduce(
    *,
    published: PublishedTableOptions,
    models: ModelOptions,
    stand_ins: PaperModelOptions,
    resamples: ClaimResamplingOptions,
    output: studies.StudyOutputOptions,
    engine: engines.EngineOptions,
) -> None:
    """Compute a published table again, or list the published tables."""
    output.check()
    from monge import papers
    from monge.evaluation import Run

    form, monge = output.output_format, version("monge")
    width = terminal_layout(output.output)["width"]
    data = published.data
    if published.table is None:
        tables = papers.render_tables(papers.listed(data), form, version=monge, width=width)
        emit(tables, output.output)
        return
    paper_table = papers.table_named(published.table, data)
    if data is None:
        raise UsageError("give --data DIR: where the published judgements lie")
    if resamples.resamples < 0:
        raise UsageError(f"--resamples takes 0 or more, got {resamples.resamples}")
    with engine.of_study(Run(output.folder)) as run:
        reproductions = [
            papers.reproduce(
                paper_table,
                data,
                models=stand_ins.of(model, models),
                selection=papers.Selection(published.groups, published.sample),
                **vars(resamples),
                run=run,
            ).to_dict()
            for model in models.model or ["auto"]
        ]
    text = papers.render_reproductions(reproductions, form, version=monge, width=width)
    emit(text, output.output)
