"""The one way into the published judgements."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

from monge.data import mtme, quality, sts, summaries, wmt
from monge.data.catalogue import Dataset, describe
from monge.data.columns import Given
from monge.data.files import Files
from monge.data.judged import Group, Judged, Reading, by_system, suspicions
from monge.data.lines import StrPath
from monge.data.prepare import detokenise, prepared, unescape
from monge.data.request import Request
from monge.errors import InvalidSetting, UnknownName, Unreadable

READERS: dict[str, Callable[[Request], Reading]] = {
    "wmt": wmt.read,
    "sts": sts.read_years,
    "stsb": sts.read_benchmark,
    "tac": summaries.read_tac,
    "summeval": summaries.read_summeval,
    "generated": summaries.read_generated,
    "captions": summaries.read_captions,
    "mlqe": quality.read_mlqe,
    "mtme": mtme.read,
}


def open_dataset(
    name: str,
    directory: StrPath,
    *,
    pairs: Sequence[str] | None = None,
    level: str = "segment",
    human: str | None = None,
    text: str = "raw",
    columns: Given | None = None,
    **switches: Any,
) -> Judged:
    """A published data set, or a user's own table, with its human judgements.

    Args:
        name: One of `dataset_names()`.
        directory: Where the published files lie, at any depth; for `table` the file itself.
        pairs: The groups wanted (language pairs, subsets, languages, topics; `*-en` works); all by default.
        level: `segment` or `system`.
        human: The human column by name; by default what the data set's file says.
        text: `raw`, or `tokenised` where there are two versions.
        columns: For `table`: which column plays which role, where its name does not tell.
        switches: What else the data set's file lets one choose.

    Raises:
        UnknownName: for a data set, human column, level, text version, switch or group there is not.
        Unreadable: if the published files are not there, or cannot be read.
    """
    dataset = describe(name)
    _one_of(dataset, "level", level, dataset.levels)
    human = dataset.human_named(human, level)
    _one_of(dataset, "text version", text, dataset.texts)
    chosen = dataset.with_switches(text, switches)
    wanted = tuple(pairs) if pairs is not None else None
    if wanted is not None and not wanted:
        raise InvalidSetting(f"{name}: no {dataset.groups} was asked for; leave pairs out for all")
    if columns and dataset.reader != "table":
        raise InvalidSetting(f"{name}: its columns are known; --columns is for a table of your own (data set table)")
    if dataset.reader == "table":
        reading = quality.read_table_judged(Path(directory), human, chosen["against"] or None, wanted, columns or {})
        if level == "system":
            reading.groups = {one: by_system(group) for one, group in reading.groups.items()}
    else:
        request = Request(dataset, Files(directory), wanted, level, human, text, chosen)
        reading = READERS[dataset.reader](request)
    if level == "segment" and not switches:
        reading.warnings += _unexpected(dataset, human, reading, everything=wanted is None)
    return _judged(dataset, reading, level, human, text, chosen)


def _one_of(dataset: Dataset, kind: str, name: str, known: Mapping[str, Any] | Sequence[str]) -> None:
    if name not in known:
        raise UnknownName(f"{dataset.name} {kind}", name, known)


def _judged(dataset: Dataset, reading: Reading, level: str, human: str, text: str, chosen: Mapping[str, Any]) -> Judged:
    if not any(group.n for group in reading.groups.values()):
        raise Unreadable(f"{dataset.name}: no judgements are left (excluded: {dict(reading.excluded)})")
    groups = {name: _prepared(dataset, name, group, chosen, reading) for name, group in reading.groups.items()}
    meaning = dataset.humans.get(human, {})
    first = next(iter(groups.values())).segments
    return Judged(
        dataset=dataset.name,
        text=text,
        level=level,
        human=human,
        statistic="pearson" if level == "system" else str(meaning.get("statistic", "pearson")),
        direction=1 if chosen.get("higher_is_better", dataset.higher_is_better) else -1,
        groups=groups,
        mean=dataset.mean,
        references=dataset.references,
        against="references" if first and first[0].references else "source",
        excluded=dict(reading.excluded),
        warnings=(*reading.warnings, *suspicions(human, groups)),
        switches=chosen,
        licence=dataset.licence,
        citation=dataset.citation,
        human_range=_range(dataset, human, chosen["human_range"]),
    )


def _range(dataset: Dataset, human: str, given: str) -> tuple[float, float]:
    """The ends of the scale of a human column: the user's `human_range`, the data set's, or 0 and 1."""
    if not given:
        low, high = dataset.humans.get(human, {}).get("range", (0, 1))
        return float(low), float(high)
    try:
        low, high = (float(end) for end in given.split("/"))
    except ValueError:
        low = high = 0.0
    if not low < high < inf or low == -inf:
        raise InvalidSetting(f"{dataset.name}: human_range takes LOW/HIGH such as 0/5, got {given!r}")
    return low, high


def _prepared(dataset: Dataset, name: str, group: Group, chosen: Mapping[str, Any], reading: Reading) -> Group:
    """The group with its texts prepared as the switches say; detokenisation is for English only."""
    if chosen["detokenise"] and not _english(dataset, name):
        reading.warnings.append(f"{name}: detokenisation knows English only; these texts are left as they are")
    elif chosen["detokenise"]:
        return replace(group, segments=tuple(prepared(one, detokenise) for one in group.segments))
    if chosen["entities"]:
        return replace(group, segments=tuple(prepared(one, unescape) for one in group.segments))
    return group


def _english(dataset: Dataset, name: str) -> bool:
    """Whether a group's hypotheses are English: by its target language, or by its language."""
    if re.fullmatch(r"[a-z]{2,3}-[a-z]{2,3}", name):
        return name.endswith("-en")
    return name.startswith("en") if dataset.reader == "stsb" else True


def _unexpected(dataset: Dataset, human: str, reading: Reading, *, everything: bool) -> list[str]:
    """Warnings where the numbers of judgements are not the published ones."""
    expected = dataset.expected.get(human, {})
    found = {name: group.n for name, group in reading.groups.items()}
    if everything:
        found["total"] = sum(found.values()) + reading.excluded.total()
    return [
        f"{name}: {found[name]} judgements, but {count} were published"
        for name, count in expected.items()
        if name in found and found[name] != count
    ]
