"""The levels of judgements: groups of judged segments as systems, documents or domains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
import numpy.typing as npt

from monge.datasets.annotations import SegmentRecord
from monge.datasets.judged import Group, Unit, by_system
from monge.errors import InvalidSetting
from monge.types import Segment

DOCUMENT, DOMAIN = "document", "domain"
Mask = npt.NDArray[np.bool_]


def at_level(name: str, group: Group, level: str) -> dict[str, Group]:
    """Return a group of judged segments at a level, under its name or those of its domains."""
    if level == "system":
        return {name: by_system(group)}
    if level == DOCUMENT:
        return {name: by_document(name, group)}
    if level == DOMAIN:
        parts = split_domains(name, group.segments, group.records)
        return {domain: by_system(take(group, rows)) for domain, rows in parts.items()}
    return {name: group}


def by_document(
    name: str, group: Group, scores: Mapping[tuple[str, str], float] | None = None
) -> Group:
    """Return the group with one score per system and document.

    A score is that of `scores` by system and document, where only those in it are judged, or the
    mean of the judged segments.
    """
    records = _require_records(name, DOCUMENT, group.records)
    labels = [
        (segment.system, record.document)
        for segment, record in zip(group.segments, records, strict=True)
    ]
    if scores is not None:
        is_judged = np.array([label in scores for label in labels], dtype=np.bool_)
        group = take(replace(group, scores=None), is_judged)
        labels = list(compress(labels, is_judged.tolist()))
    units = {label: k for k, label in enumerate(dict.fromkeys(labels))}
    unit_of = np.array([units[label] for label in labels], dtype=np.int64)
    if scores is not None:
        means = np.array([scores[label] for label in units], dtype=np.float64)
    else:
        assert group.scores is not None
        means = np.bincount(unit_of, weights=group.scores) / np.bincount(unit_of)
    return replace(
        group,
        scores=means,
        units=tuple(Unit(system, document) for system, document in units),
        unit_of=unit_of,
        judgements=None,
        model_scores=None,
    )


def split_domains(
    name: str, segments: Sequence[Segment], records: Sequence[SegmentRecord] | None
) -> dict[str, Mask]:
    """Return the segments of each domain, as a mask [n] under the name `GROUP/DOMAIN`."""
    domains = [record.domain for record in _require_records(name, DOMAIN, records)]
    assert len(domains) == len(segments)
    return {
        f"{name}/{domain}": np.array([label == domain for label in domains])
        for domain in sorted(set(domains))
    }


def take(group: Group, rows: Mask) -> Group:
    """Return the group with the rows of a mask [n] only; it must be a group of judged segments."""
    return replace(
        group,
        segments=tuple(compress(group.segments, rows.tolist())),
        scores=None if group.scores is None else group.scores[rows],
        each=None if group.each is None else group.each[rows],
        judgements=None if group.judgements is None else group.judgements[rows],
        model_scores=None if group.model_scores is None else group.model_scores[rows],
        records=None if group.records is None else tuple(compress(group.records, rows.tolist())),
    )


def _require_records(
    name: str, level: str, records: Sequence[SegmentRecord] | None
) -> Sequence[SegmentRecord]:
    """Return the records; raise if they do not name what the level needs."""
    if records is None or not all(getattr(record, level) for record in records):
        raise InvalidSetting(
            f"{name}: --level {level} needs the {level} of every segment, and the files name none"
        )
    return records
