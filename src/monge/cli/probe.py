"""`monge probe`: which errors does a metric not see?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monge.cli import inputs, option_groups, options, studies
from monge.cli.options import option
from monge.cli.printing import check_output, emit, tell, write_listing
from monge.datasets.lines import TextFile
from monge.datasets.segment_scores import given_scores
from monge.errors import UsageError
from monge.metrics.default import DEFAULT_METRIC
from monge.types.table import STUDY_FORMATS

if TYPE_CHECKING:
    from monge.probing.challenge import Challenge
    from monge.probing.probe_result import ProbeResult
    from monge.types import Segment

PROBE_FORMATS = (*STUDY_FORMATS, "svg")
USUAL_METRICS = (DEFAULT_METRIC, "bertscore", "sbert")


@dataclass(frozen=True, kw_only=True)
class ErrorOptions:
    """Options for the errors that are put into the texts."""

    kind: Annotated[
        list[str] | None,
        option(
            "--kind NAME,…",
            help="Only these kinds of errors, or severities, such as number,typo or critical; all "
            "by default; repeatable.",
        ),
    ] = None
    sample: Annotated[
        int | None,
        option("--sample N", options.INPUT, help="Use only N of the texts, drawn at random."),
    ] = None
    list_kinds: Annotated[
        bool, typer.Option("--list", help="List the kinds of errors, and do nothing else.")
    ] = False
    write: Annotated[
        str | None,
        option(
            "--write DIR",
            help="Write the texts with and without errors into this directory, with an index, to "
            "score them with another program; without -m and --scores nothing else is done.",
        ),
    ] = None

    @property
    def names(self) -> list[str]:
        """The names of all `--kind`."""
        return [name for text in self.kind or () for name in options.split_names(text) or ()]


@dataclass(frozen=True, kw_only=True)
class ProbeResamplingOptions(studies.ResamplingOptions):
    """Options for intervals and for the seed of all errors."""

    confidence: options.Confidence = 0.95


@dataclass(frozen=True, kw_only=True)
class ProbeOutputOptions(studies.StudyOutputOptions):
    """Options for the output of the study, which can be a picture too."""

    output_format: Annotated[str, options.formats(PROBE_FORMATS)] = "text"


@option_groups.flatten_options
def probe(
    *,
    texts: inputs.InputOptions,
    metric: Annotated[
        list[str] | None, options.metrics_option("{}, {} and {}".format(*USUAL_METRICS))
    ] = None,
    errors: ErrorOptions,
    scores: inputs.Scores = None,
    setup: option_groups.SetupOptions,
    resamples: ProbeResamplingOptions,
    output: ProbeOutputOptions,
) -> None:
    """Put errors into good texts, and tell which of them metrics see."""
    output.check(PROBE_FORMATS)
    if errors.list_kinds:
        _list_kinds(output)
        return
    other_scores = given_scores(scores or ())
    names = metric or ([] if other_scores or errors.write else list(USUAL_METRICS))
    if names:
        setup.choose(names, quiet=output.quiet)
    resampling = resamples.resampling()
    challenge = _make_challenge(texts, errors, setup.lang, resampling.seed, quiet=output.quiet)
    _write_texts(challenge, errors.write, quiet=output.quiet)
    if not names and not other_scores:
        return
    from monge.evaluation import load_variants
    from monge.probing.study import probe_challenge

    variants = load_variants(names, studies.setup_of(setup)) if names else []
    with output.watching() as watch:
        if watch.grow is not None:
            watch.grow(len(challenge.rows))
        run = output.run(watch)
        result = probe_challenge(
            challenge, variants, scores=other_scores, resampling=resampling, run=run
        )
    _write_result(result, output)


def _list_kinds(output: ProbeOutputOptions) -> None:
    """Write the catalogue; a picture of it there is none."""
    check_output(output.output_format, STUDY_FORMATS, output.output)
    from monge.probing.probe_tables import list_catalogue

    write_listing(list_catalogue(), output.output_format, output.output)


def _write_texts(challenge: Challenge, folder: str | None, *, quiet: bool) -> None:
    """Write the texts where --write asks for it."""
    if folder is None:
        return
    from monge.probing.challenge import write_challenge

    paths = write_challenge(challenge, Path(folder))
    if not quiet:
        tell(f"{len(challenge.rows)} texts: {', '.join(str(path) for path in paths)}")


def _make_challenge(
    files: inputs.InputOptions, errors: ErrorOptions, lang: str | None, seed: int, *, quiet: bool
) -> Challenge:
    from monge.perturbations.catalogue import choose_kinds
    from monge.probing.challenge import make_challenge

    choose_kinds(errors.names)
    rows, origin = _read_texts(files, quiet=quiet)
    return make_challenge(
        rows, kinds=errors.names, seed=seed, sample=errors.sample, language=lang, origin=origin
    )


def _read_texts(files: inputs.InputOptions, *, quiet: bool) -> tuple[list[Segment], str]:
    """Return the good texts, and what they are: outputs, references or the packaged example."""
    from monge.probing import challenge

    has_table = files.table is not None
    if not files and not has_table and not files.table_format and not files.columns:
        return challenge.example_texts(), challenge.EXAMPLE_TEXTS
    if has_table or files.hypotheses or not files.references:
        rows = list(inputs.read_input(files, purpose="probe", quiet=quiet))
        with_references = any(row.references for row in rows)
        return rows, challenge.OUTPUT_TEXTS if with_references else challenge.SOURCE_ONLY
    from monge import api

    columns = [list(TextFile(path)) for path in files.references]
    lengths = {path: len(lines) for path, lines in zip(files.references, columns, strict=True)}
    sources = None
    if files.source is not None:
        sources = list(TextFile(files.source))
        lengths[files.source] = len(sources)
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{path} has {count}" for path, count in lengths.items())
        raise UsageError(f"the files must have the same number of lines: {counts}")
    references = [list(texts) for texts in zip(*columns, strict=True)]
    rows = list(api.segments_of(columns[0], references, sources))
    return rows, challenge.REFERENCE_TEXTS


def _write_result(result: ProbeResult, output: ProbeOutputOptions) -> None:
    from monge.probing.probe_tables import heat_map
    from monge.render.cells import listed

    if output.output_format == "svg":
        emit(heat_map(result).svg(), output.output)
        return
    figures = [heat_map(result).figure()] if output.is_page else ()
    title = f"What {listed([metric.label for metric in result.metrics])} do not see"
    if len(result.metrics) == 1:
        title = title.replace(" do not see", " does not see")
    output.write(result, title=title, figures=figures)
