"""Segment scores of other metrics or of people, read from a file and aligned with the segments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import blake2b
from itertools import pairwise
from pathlib import PurePath

import numpy as np

from monge.datasets.columns import assign_columns
from monge.datasets.lines import TextFile, shown
from monge.datasets.rows import Rows, table_format
from monge.errors import InvalidSetting, Misaligned, Unreadable, UsageError
from monge.types import Array, Segment
from monge.types.system_names import short_names

Groups = Mapping[str, Sequence[Segment]]
Key = tuple[str, ...]
KEYS = ("group", "system", "id")
GROUP = "{group}"
_DIRECTIONS = {"higher": True, "lower": False}
_COMET = re.compile(r"(.+?)(?:\tSegment (\d+))?\tscore: ([-+]?\d+\.?\d*(?:e[-+]?\d+)?)")
"""The output of `comet-score`: one line per segment from 0, and one per system (ignored)."""
_NONE = ("", "none", "nan", "null")


@dataclass(frozen=True)
class GivenScores:
    """Named scores of segments in a file; `{group}` in the path means one file per group.

    `partial`: people rarely judge everything, so segments may have no score; it is NaN.
    """

    name: str
    path: str
    higher_is_better: bool = True
    partial: bool = False

    def of(self, groups: Groups) -> tuple[dict[str, Array], str]:
        """Return the scores [n] of every group's segments, and a digest of them.

        Raises:
            Misaligned: if a segment has no score (where scores are partial: none has), or several
                could be meant.
            Unreadable: if the file is no file of scores.
        """
        if GROUP in self.path:
            files = {name: self.path.replace(GROUP, name) for name in groups}
            scores_by_group = {
                name: self._align(path, {name: groups[name]})[name] for name, path in files.items()
            }
        else:
            scores_by_group = self._align(self.path, groups)
        pairs = (
            (row, score)
            for name, rows in groups.items()
            for row, score in zip(rows, scores_by_group[name], strict=True)
        )
        sorted_scores = sorted((row.system, row.id, float(score)) for row, score in pairs)
        return scores_by_group, blake2b(
            repr(sorted_scores).encode("utf-8", "surrogatepass"), digest_size=4
        ).hexdigest()

    def _align(self, path: str, groups: Groups) -> dict[str, Array]:
        return align_scores(path, self.name, groups, partial=self.partial)


def given_scores(options: Iterable[str], option_name: str = "--scores") -> list[GivenScores]:
    """Parse `--scores NAME=FILE` and `--scores NAME=FILE,lower`, or another option of that form."""
    external: list[GivenScores] = []
    for option in options:
        name, equals, path = (part.strip() for part in option.partition("="))
        first, comma, last = path.rpartition(",")
        if comma and "." not in last and last not in _DIRECTIONS and "/" not in last:
            near = get_close_matches(last, _DIRECTIONS, n=1)
            raise UsageError(
                f"{option_name} {name}: after the comma stands lower or higher, got "
                f"{last!r}{_suggest(near)}"
            )
        lower = bool(comma) and last in _DIRECTIONS
        if not equals or not name or not (first if lower else path):
            raise UsageError(
                f"{option_name} takes NAME=FILE, or NAME=FILE,lower where lower is better; got "
                f"{option!r}"
            )
        if any(scores.name == name for scores in external):
            raise UsageError(f"{option_name} gives {name} twice")
        external.append(
            GivenScores(name, first if lower else path, _DIRECTIONS[last] if lower else True)
        )
    return external


def _suggest(near: Sequence[str]) -> str:
    return f"; did you mean {near[0]}?" if near else ""


@dataclass(frozen=True)
class _Entry:
    """A score with the known keys of its segment (group, system, id) and its place for messages."""

    keys: Mapping[str, str]
    score: float | None
    place: str


def align_scores(
    path: str, name: str, groups: Groups, *, partial: bool = False
) -> dict[str, Array]:
    """Read a file's scores and align them with the segments by group; NaN if absent."""
    entries = list(_number_entries(_read_entries(path, name)))
    segments = [(group, row) for group, rows in groups.items() for row in rows]
    file = f"{name} ({shown(path)})"
    if not any(entry.keys for entry in entries):
        scores = _scores_in_order(file, entries, segments, partial)
    else:
        scores = _scores_by_key(file, entries, segments, partial)
    starts = np.cumsum([0, *(len(rows) for rows in groups.values())])
    return {group: scores[starts[k] : starts[k + 1]] for k, group in enumerate(groups)}


def _read_entries(path: str, name: str) -> Iterator[_Entry]:
    """Yield the scores of a table with a header, or else of lines `SCORE` or `SYSTEM<TAB>SCORE`."""
    file = TextFile(path)
    kind = _table_format_or_none(path)
    if kind in ("csv", "tsv") and _has_number(next(iter(file))):
        kind = None
    if kind is None:
        yield from _read_score_lines(file)
        return
    rows = Rows(path, kind)
    names = rows.columns()
    columns = assign_columns(
        names, ("score", *KEYS), {"score": name} if name in names else {}, rows.name
    )
    column = columns.get("score")
    if not column:
        raise Unreadable(
            f"{rows.name}: no column 'score' or {name!r} (columns: {', '.join(names)}); expected "
            "columns score and, to tell segments apart, system and id, or lines SCORE or SYSTEM, "
            "tab, SCORE"
        )
    for row in rows:
        # the last line of what `monge score -f jsonl` writes
        if row.fields.get("type") == "result":
            continue
        value = rows.field(row, column)
        keys = {key: row.fields.get(columns.get(key)) for key in KEYS if columns.get(key)}
        present_keys = {key: str(value) for key, value in keys.items() if value is not None}
        absent = value is None or (isinstance(value, str) and value.strip().lower() in _NONE)
        yield _Entry(present_keys, None if absent else rows.number(row, column), rows.where(row))


def _table_format_or_none(path: str) -> str | None:
    try:
        return table_format(path)
    except InvalidSetting:  # lines of scores have names of all kinds: .seg.score, .txt
        return None


def _has_number(line: str) -> bool:
    return any(
        finite_number(field) is not None
        for field in line.replace(",", "\t").replace(";", "\t").split("\t")
    )


def finite_number(text: str) -> float | None:
    """Parse a finite number; None where the text is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value - value == 0 else None


def _read_score_lines(file: TextFile) -> Iterator[_Entry]:
    for number, line in enumerate(file, 1):
        if comet := _COMET.fullmatch(line):
            if comet[2] is not None:
                keys = {"system": comet[1], "id": str(int(comet[2]) + 1)}
                yield _Entry(keys, float(comet[3]), f"{file.name}:{number}")
            continue
        system, tab, text = line.rpartition("\t")
        score, place = finite_number(text), f"{file.name}:{number}"
        if score is None and text.strip().lower() not in _NONE:
            raise Unreadable(
                f"{place}: expected a score, or system, tab, score; got {line[:60]!r} (a table: "
                ".tsv, .csv, .jsonl)"
            )
        yield _Entry({"system": system.strip()} if tab else {}, score, place)


def _number_entries(entries: Iterable[_Entry]) -> Iterator[_Entry]:
    """Yield entries; those without id get their number within their system, from 1."""
    counts: Counter[Key] = Counter()
    for entry in entries:
        if not entry.keys or "id" in entry.keys:
            yield entry
            continue
        owner = tuple(entry.keys.values())
        counts[owner] += 1
        yield _Entry({**entry.keys, "id": str(counts[owner])}, entry.score, entry.place)


def _scores_in_order(
    file: str, entries: Sequence[_Entry], segments: Sequence[tuple[str, Segment]], partial: bool
) -> Array:
    """Align one number per line with the segments, whose order must be unambiguous."""
    systems = [(group, row.system) for group, row in segments]
    turns = sum(first != second for first, second in pairwise(systems)) + 1
    if len({group for group, _ in systems}) > 1 or turns > len(set(systems)):
        raise Misaligned(
            f"{file}: one number a line does not tell which group or system it is of; give columns "
            "system, id and score (group too where there are several), or lines SYSTEM, tab, SCORE"
        )
    if len(entries) != len(segments):
        raise Misaligned(
            f"{file} has {len(entries)} scores for {len(segments)} segments"
            f"{_describe_first_missing(segments, len(entries))}"
        )
    absent = next((entry for entry in entries if entry.score is None), None)
    if absent is not None and not (partial and any(entry.score is not None for entry in entries)):
        raise Misaligned(f"{absent.place}: no score; every segment needs one")
    return np.array([np.nan if entry.score is None else entry.score for entry in entries])


def _describe_first_missing(segments: Sequence[tuple[str, Segment]], at: int) -> str:
    if at < len(segments):
        return f"; the first without a score: {_describe_segment(*segments[at])}"
    return ""


def _scores_by_key(
    file: str, entries: Sequence[_Entry], segments: Sequence[tuple[str, Segment]], partial: bool
) -> Array:
    """Look scores up by group, system and id, as far as the file has them."""
    used_keys = [key for key in KEYS if any(key in entry.keys for entry in entries)]
    systems = (
        _match_system_names(file, entries, {row.system for _, row in segments})
        if "system" in used_keys
        else {}
    )
    if "system" in used_keys and systems is None:
        used_keys.remove("system")
    if "group" in used_keys and not {entry.keys.get("group") for entry in entries} & {
        group for group, _ in segments
    }:
        used_keys.remove("group")
    values = _index_by_key(entries, used_keys)

    def key(group: str, row: Segment) -> Key:
        system = (systems or {}).get(row.system, row.system)
        return tuple({"group": group, "system": system, "id": row.id}[name] for name in used_keys)

    keys = [key(group, row) for group, row in segments]
    _check_unambiguous(file, used_keys, keys, segments)
    missing = [k for k, segment_key in enumerate(keys) if values.get(segment_key) is None]
    zero = ""
    if any(segment_key[-1] == "0" for segment_key in values):
        zero = "; its ids begin at 0, ours at 1"
    if missing and (zero or not partial or len(missing) == len(segments)):
        raise Misaligned(
            f"{file} has {len(values)} scores, {len(segments) - len(missing)} of them for the "
            f"{len(segments)} segments; the first without one: "
            f"{_describe_segment(*segments[missing[0]])}{zero}"
        )
    return np.array([values.get(segment_key, np.nan) for segment_key in keys], dtype=np.float64)


def _index_by_key(entries: Sequence[_Entry], used_keys: Sequence[str]) -> dict[Key, float | None]:
    values: dict[Key, float | None] = {}
    for entry in entries:
        lacking = next((name for name in used_keys if name not in entry.keys), None)
        if lacking is not None:
            raise Unreadable(f"{entry.place}: no {lacking}, which other rows have")
        key = tuple(entry.keys[name] for name in used_keys)
        if key in values:
            raise Unreadable(
                f"{entry.place}: a second score for {', '.join(map(_describe_key, used_keys, key))}"
            )
        values[key] = entry.score
    return values


def _describe_key(name: str, value: str) -> str:
    return f"{name} {value!r}"


def _match_system_names(
    file: str, entries: Sequence[_Entry], own_names: set[str]
) -> dict[str, str] | None:
    """Map systems to those of the file, directories and file endings left out; None: one on each
    side.
    """
    file_names = {entry.keys.get("system", "") for entry in entries}
    by_short_name = {short: name for name, short in _short_names(file_names).items()}
    own_short_names = _short_names(own_names)
    matched = {
        name: name if name in file_names else by_short_name.get(own_short_names[name], "")
        for name in own_names
    }
    if not any(matched.values()):
        if len(own_names) == len(file_names) == 1:
            return None
        in_file, expected = (
            ", ".join(sorted(names)[:5]) or "none" for names in (file_names, own_names)
        )
        raise Misaligned(
            f"{file} has scores of the systems {in_file}; here are {expected or '(no names)'}"
        )
    return {name: file_name or name for name, file_name in matched.items()}


def _short_names(systems: Iterable[str]) -> dict[str, str]:
    """Map each system to its name without directory and file ending, if all stay distinct."""
    unique = sorted(systems)
    names = [PurePath(system).name or system for system in unique]
    if len(set(names)) < len(names):
        names = unique
    short = short_names(names)
    return {system: short[name] for system, name in zip(unique, names, strict=True)}


def _check_unambiguous(
    file: str,
    used_keys: Sequence[str],
    keys: Sequence[Key],
    segments: Sequence[tuple[str, Segment]],
) -> None:
    """Raise where one score would belong to segments of two systems or groups."""
    owners: dict[Key, tuple[str, str]] = {}
    for key, (group, row) in zip(keys, segments, strict=True):
        owner = group, row.system
        first_owner = owners.setdefault(key, owner)
        if first_owner != owner:
            lacking = "group" if first_owner[0] != group and "group" not in used_keys else "system"
            raise Misaligned(
                f"{file}: {', '.join(map(_describe_key, used_keys, key))} is a segment of "
                f"{' '.join(first_owner).strip()} and of {' '.join(owner).strip()}; "
                f"give a column {lacking}, or one file per group ({GROUP} in its name)"
            )


def _describe_segment(group: str, row: Segment) -> str:
    fields = {"group": group, "system": row.system, "id": row.id}
    return ", ".join(_describe_key(name, value) for name, value in fields.items() if value)
