"""Whether a metric suits the texts: their script and language, and how much of them a vocabulary lacks.

Imports no torch by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from monge.encode.packaged import PACKAGED, model_languages
from monge.errors import DataError, Unsuited
from monge.scoring.scan import warn_unused_references
from monge.scoring.windows import SOURCE, faced
from monge.spec.languages import LANGUAGES
from monge.spec.lexical import LexicalSpec
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
    """The results of a run; its texts are looked at before and after, and what the user should know is said."""
    look_at(run.metrics, run.summary.first, run.cut)
    warn_unused_references(run.metrics, run.summary.sides)
    results = run.results(expect=expect, watch=watch)
    warn_unknown(run.metrics, results, run.unknown_texts)
    return results


def look_at(
    metrics: Sequence[Scorer], rows: Sequence[Segment], cut: Callable[[Sequence[str], Reader], Sequence[Tokens]]
) -> None:
    """Look at the first segments of a run: refuse texts that a model mostly does not know, warn of a foreign script.

    Scripts are looked at on each side, since source and hypothesis may be of two languages. `cut` gives the pieces of
    texts.
    """
    seen: dict[tuple[Reader, str], TransportMetric] = {}
    for metric in metrics:
        for member in _of_vectors(metric):
            known = seen.setdefault((member.reader, metric.against), member)
            if known.unknown is None and member.unknown is not None:
                seen[member.reader, metric.against] = member
    warned: dict[str, None] = {}
    for (reader, side), member in seen.items():
        texts = {"hypotheses": [row.hypothesis for row in rows]}
        texts["sources" if side == SOURCE else side] = [text for row in rows for text in faced(row, side).references]
        every = list(dict.fromkeys(text for some in texts.values() for text in some))
        if member.unknown is not None:
            try:
                counts = [count_unknown(tokens, member.unknown) for tokens in cut(every, reader)]
            except DataError:  # a text that cannot be read: scoring it names its segment, or leaves it out
                continue
            _check(member, sum(pieces for pieces, _ in counts), sum(lacking for _, lacking in counts), every)
        warned |= dict.fromkeys(foreign_texts(reader.encoder.name, texts))
    for metric in metrics:
        if isinstance(metric.spec, LexicalSpec):
            warned |= dict.fromkeys(unsuited_words(metric.spec, rows))
    for sentence in warned:
        warnings.warn(sentence, Unsuited, stacklevel=4)


def warn_unknown(metrics: Sequence[Scorer], results: Sequence[Result], texts: Sequence[str]) -> None:
    """Warn of a run whose texts, all of them together, a model mostly does not know; its scores are kept.

    `texts` are some of those that it does not know.
    """
    for k, metric in enumerate(metrics):
        runs = [one.run for one in results[k :: len(metrics)]]
        for member in _of_vectors(metric):
            pieces, unknown = _added(runs, "pieces"), _added(runs, "unknown")
            if member.unknown is not None and unknown > MOSTLY * pieces:
                warnings.warn(_unknown(member, pieces, unknown, texts), Unsuited, stacklevel=4)


def _of_vectors(metric: Scorer) -> list[TransportMetric]:
    return [cast("TransportMetric", one) for one in metric.members.values() if one.reads]


def _added(runs: Iterable[Mapping[str, int]], name: str) -> int:
    return sum(one.get(name, 0) for one in runs)


def _check(metric: TransportMetric, pieces: int, unknown: int, texts: Iterable[str]) -> None:
    if unknown > MOSTLY * pieces:
        raise DataError(_unknown(metric, pieces, unknown, texts))


def _unknown(metric: TransportMetric, pieces: int, unknown: int, texts: Iterable[str]) -> str:
    model, script = metric.reader.encoder.name, main_script(texts)
    written = f", which are written in {script_label(script)}" if script is not None else ""
    return (
        f"{metric.name}: {model} does not know {unknown} of the {pieces} pieces ({unknown / pieces:.0%}) of these "
        f"texts{written}: scores would say next to nothing; {advice(likely_language(script), model)}"
    )


def foreign_texts(model: str, texts: Mapping[str, Sequence[str]]) -> list[str]:
    """What to say of texts that are mostly in a script or a language that a model does not know.

    texts: what the texts are called -> the texts; the hypotheses come first. Languages are guessed for Latin letters.
    """
    languages = model_languages(model)
    if languages is None:
        return []
    known, names_of = scripts_of(languages), dict[tuple[str, str], list[str]]()
    for name, some in texts.items():
        script = main_script(some)
        lang = guess_language(some) if script == "LATIN" else likely_language(script)
        if script is not None and lang is not None and (script not in known or script == "LATIN"):
            described = f"written in {script_label(script)}" if script != "LATIN" else f"in {_language(lang)}"
            if script != "LATIN" or lang not in languages:
                names_of.setdefault((lang, described), []).append(name)
    knows = LANGUAGES[min(languages)] if len(languages) == 1 else f"{len(languages)} languages"
    sentences = []
    for (lang, described), names in names_of.items():
        begun = _described(described, names, f"{model} does not know (it knows {knows})")
        sentences.append(begun + advice(lang, model, target=next(iter(texts)) in names))
    return sentences


def unsuited_words(spec: LexicalSpec, rows: Sequence[Segment]) -> list[str]:
    """What to say of a metric of words whose texts are not cut into words, or are of two languages."""
    hypotheses = [row.hypothesis for row in rows]
    script, sentences = main_script(hypotheses), []
    lang = likely_language(script) or ""
    wanted = spec.preset.languages.get(lang, ())
    usual = {name: kind.show(value) for name, (value, kind) in spec.preset.options.items()}
    options = [change.partition("=")[0] for change in wanted]
    if wanted and script is not None and all(spec.written()[option] == usual[option] for option in options):
        cut = ", ".join(f"{option}={usual[option]}" for option in options)
        sentences.append(
            f"the hypotheses are written in {script_label(script)}, which {spec.name} does not cut into words by "
            f"itself ({cut}): use --lang {lang}, which means {', '.join(wanted)}"
        )
    if spec.against == SOURCE:
        sources = [text for row in rows for text in faced(row, SOURCE).references]
        ours, theirs = ((main_script(some), guess_language(some)) for some in (hypotheses, sources))
        scripts_differ = None not in (ours[0], theirs[0]) and ours[0] != theirs[0]
        if scripts_differ or (None not in (ours[1], theirs[1]) and ours[1] != theirs[1]):
            sentences.append(
                f"{spec.name} compares words and letters, and the hypotheses are in another language than the sources: "
                "its scores mean little; give references (-r), or take a metric of vectors and a multilingual model"
            )
    return sentences


def _language(lang: str) -> str:
    return f"{LANGUAGES[lang]} ({lang})" if lang in LANGUAGES else lang


def _described(described: str, names: Sequence[str], rest: str) -> str:
    verb = "is" if len(names) == 1 and not names[0].endswith("s") else "are"
    return f"the {' and '.join(names)} {verb} {described}, which {rest}: "


def advice(lang: str | None, model: str, *, target: bool = True) -> str:
    """Which option brings another model that knows a language: `--lang` where it is that of the hypotheses."""
    known = next((one for one in PACKAGED if lang in one.languages and one.name != model), None)
    if known is None:
        return "use a model that knows them (--model DIRECTORY|NAME)"
    option = f"--lang {lang} or --model" if target else "--model"
    return f"use {option} {known.name}" + ("" if known.path is not None else f" (once: {known.how_to_install})")
