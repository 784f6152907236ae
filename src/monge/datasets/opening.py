"""Opening a data set of human judgements by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import inf
from os import PathLike
from typing import Any

from monge.datasets import coco, esa, germeval, mqm, mtme_judgements, quality, sts, summaries, wmt
from monge.datasets.catalogue import Dataset, describe
from monge.datasets.columns import Given
from monge.datasets.files import Files
from monge.datasets.judged import DatasetReading, Group, Judged, by_system, find_suspicious
from monge.datasets.language_pairs import split_pair
from monge.datasets.levels import DOMAIN
from monge.datasets.lines import StrPath
from monge.datasets.prepare import detokenise, map_texts, unescape
from monge.datasets.request import DatasetRequest
from monge.errors import InvalidSetting, UnknownName, Unreadable, UsageError

READERS: dict[str, Callable[[DatasetRequest], DatasetReading]] = {
    "wmt": wmt.read,
    "sts": sts.read_years,
    "stsb": sts.read_benchmark,
    "tac": summaries.read_tac,
    "summeval": summaries.read_summeval,
    "generated": summaries.read_generated,
    "captions": summaries.read_captions,
    "coco": coco.read_systems,
    "germeval": germeval.read_germeval,
    "mlqe": quality.read_mlqe,
    "mtme": mtme_judgements.read,
    "mqm": mqm.read,
    "esa": esa.read,
}


def open_dataset(
    name: str,
    directory: StrPath | object,
    *,
    pairs: Sequence[str] | None = None,
    level: str = "segment",
    human: str | None = None,
    text: str = "raw",
    columns: Given | None = None,
    **switches: Any,
) -> Judged:
    """Open a published data set, or a user's own table, with its human judgements.

    Args:
        name: One of `dataset_names()`.
        directory: Where the published files lie, at any depth; for `table` the file, or a data
            frame.
        pairs: The groups wanted, such as language pairs or topics (`*-en` works); all by default.
        level: `segment`, `system`, `document` or `domain`, if the data set has it.
        human: The human column by name; by default what the data set's file says.
        text: `raw`, or `tokenised` where there are two versions.
        columns: For `table`: the column of each role, where its name does not tell.
        switches: What else the data set's file lets one choose.

    Raises:
        UnknownName: for an unknown data set, human column, level, text, switch or group.
        Unreadable: if the published files are not there, or cannot be read.
    """
    dataset = describe(name)
    _check_choices(dataset, level, text)
    human = dataset.resolve_human(human, level)
    chosen = dataset.resolve_switches(text, switches)
    groups = _check_groups(dataset, pairs, columns)
    if dataset.reader == "table":
        reading = _read_table(directory, human, chosen, groups, columns or {}, level)
    else:
        if not isinstance(directory, str | PathLike):
            raise UsageError(f"{name}: expected a directory, got {type(directory).__name__}")
        request = DatasetRequest(dataset, Files(directory), groups, level, human, text, chosen)
        reading = READERS[dataset.reader](request)
    if level == "segment" and not switches:
        reading.warnings += _compare_with_published(dataset, human, reading, groups is None)
    return _make_judged(dataset, reading, level, human, text, chosen)


def _leave_out_small_domains(reading: DatasetReading, level: str) -> None:
    """Leave out domains in which fewer than two systems were judged, with a warning."""
    for name, group in list(reading.groups.items()):
        if level == DOMAIN and group.n < 2:
            del reading.groups[name]
            reading.warnings.append(
                f"{name}: {group.n} judged system{'s' * (group.n != 1)}, a ranking needs two; the "
                "domain is left out"
            )


def _require_judgements(dataset: Dataset, reading: DatasetReading) -> None:
    if not any(group.n for group in reading.groups.values()):
        raise Unreadable(
            f"{dataset.name}: no judgements are left (excluded: {dict(reading.excluded)})"
        )


def _check_groups(
    dataset: Dataset, pairs: Sequence[str] | None, columns: Given | None
) -> tuple[str, ...] | None:
    """Return the groups wanted, None for all; raise for none, or for columns of a known layout."""
    groups = tuple(pairs) if pairs is not None else None
    if groups is not None and not groups:
        raise InvalidSetting(
            f"{dataset.name}: no {dataset.groups} was asked for; leave pairs out for all"
        )
    if columns and dataset.reader != "table":
        raise InvalidSetting(
            f"{dataset.name}: its columns are known; --columns is for a table of your own (data "
            "set table)"
        )
    return groups


def _read_table(
    path: StrPath | object,
    human: str,
    switches: Mapping[str, Any],
    groups: tuple[str, ...] | None,
    columns: Given,
    level: str,
) -> DatasetReading:
    """Read the judgements of a user's own table."""
    reading = quality.read_table_judged(path, human, switches["against"] or None, groups, columns)
    if level == "system":
        reading.groups = {name: by_system(group) for name, group in reading.groups.items()}
    return reading


def _check_choices(dataset: Dataset, level: str, text: str) -> None:
    """Raise if the data set has no such level or version of the text."""
    if level not in dataset.levels:
        raise UnknownName(f"{dataset.name} level", level, dataset.levels)
    if text not in dataset.texts:
        raise UnknownName(f"{dataset.name} text version", text, dataset.texts)


def _make_judged(
    dataset: Dataset,
    reading: DatasetReading,
    level: str,
    human: str,
    text: str,
    chosen: Mapping[str, Any],
) -> Judged:
    _leave_out_small_domains(reading, level)
    _require_judgements(dataset, reading)
    groups = {
        name: _prepare_texts(dataset, name, group, chosen, reading)
        for name, group in reading.groups.items()
    }
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
        warnings=(*reading.warnings, *find_suspicious(human, groups)),
        switches=chosen,
        licence=dataset.licence,
        citation=dataset.citation,
        human_range=_read_human_range(dataset, human, chosen["human_range"]),
    )


def _read_human_range(dataset: Dataset, human: str, text: str) -> tuple[float, float]:
    """Return the scale of a human column: the user's, the data set's, or 0 to 1."""
    if not text:
        low, high = dataset.humans.get(human, {}).get("range", (0, 1))
        return float(low), float(high)
    try:
        low, high = (float(end) for end in text.split("/"))
    except ValueError:
        low = high = 0.0
    if not low < high < inf or low == -inf:
        raise InvalidSetting(
            f"{dataset.name}: human_range takes LOW/HIGH such as 0/5, got {text!r}"
        )
    return low, high


def _prepare_texts(
    dataset: Dataset, name: str, group: Group, chosen: Mapping[str, Any], reading: DatasetReading
) -> Group:
    """Prepare the texts of a group as the switches say; detokenisation is for English only."""
    if chosen["detokenise"] and not _is_english(dataset, name):
        reading.warnings.append(
            f"{name}: detokenisation knows English only; these texts are left as they are"
        )
    elif chosen["detokenise"]:
        return replace(
            group, segments=tuple(map_texts(segment, detokenise) for segment in group.segments)
        )
    if chosen["entities"]:
        return replace(
            group, segments=tuple(map_texts(segment, unescape) for segment in group.segments)
        )
    return group


def _is_english(dataset: Dataset, name: str) -> bool:
    """Return whether a group's hypotheses are English, by target language or language."""
    pair = split_pair(name)
    if pair is not None:
        return pair[1] == "en"
    return name.startswith("en") if dataset.reader == "stsb" else True


def _compare_with_published(
    dataset: Dataset, human: str, reading: DatasetReading, everything: bool
) -> list[str]:
    """Return warnings where the numbers of judgements are not the published ones."""
    expected = dataset.expected.get(human, {})
    counts = {name: group.n for name, group in reading.groups.items()}
    if everything:
        counts["total"] = sum(counts.values()) + reading.excluded.total()
    return [
        f"{name}: {counts[name]} judgements, but {count} were published"
        for name, count in expected.items()
        if name in counts and counts[name] != count
    ]
