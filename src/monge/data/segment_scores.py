"""Scores that another metric, or people, gave to segments: read from a file, brought into the order of the segments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from monge.data.columns import columns_of
from monge.data.lines import TextFile, shown
from monge.data.rows import Rows, table_format
from monge.errors import InvalidSetting, Misaligned, Unreadable, UsageError
from monge.types import Array, Segment

Groups = Mapping[str, Sequence[Segment]]
Key = tuple[str, ...]
KEYS = ("group", "system", "id")
GROUP = "{group}"
_DIRECTIONS = {"higher": True, "lower": False}
_SUFFIX = re.compile(r"\.(txt|text|out|output|hyp)$")
"""What the name of a text file ends in; `uedin.4955` and `uedin.4723` are two systems."""
_COMET = re.compile(r"(.+?)(?:\tSegment (\d+))?\tscore: ([-+]?\d+\.?\d*(?:e[-+]?\d+)?)")
"""What `comet-score` prints: a line a segment, counted from 0, and one for its system, which is passed over."""
_NONE = ("", "none", "nan", "null")


@dataclass(frozen=True)
class GivenScores:
    """Scores of segments under a name; `{group}` in the path stands for the name of a group, a file each.

    `partial`: people rarely judge everything, so segments may have no score; it is NaN.
    """

    name: str
    path: str
    higher_is_better: bool = True
    partial: bool = False

    def of(self, groups: Groups) -> tuple[dict[str, Array], str]:
        """The scores [n] of every group's segments, and a digest of them.

        Raises:
            Misaligned: if a segment has no score (where scores are partial: none has), or several could be meant.
            Unreadable: if the file is no file of scores.
        """
        if GROUP in self.path:
            files = {name: self.path.replace(GROUP, name) for name in groups}
            found = {name: self._read(path, {name: groups[name]})[name] for name, path in files.items()}
        else:
            found = self._read(self.path, groups)
        pairs = ((row, score) for name, rows in groups.items() for row, score in zip(rows, found[name], strict=True))
        every = sorted((row.system, row.id, float(score)) for row, score in pairs)
        return found, blake2b(repr(every).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()

    def _read(self, path: str, groups: Groups) -> dict[str, Array]:
        return aligned(path, self.name, groups, partial=self.partial)


def given_scores(options: Iterable[str], option_name: str = "--scores") -> list[GivenScores]:
    """The scores of `--scores NAME=FILE` and `--scores NAME=FILE,lower`, or of another option of that form."""
    found: list[GivenScores] = []
    for option in options:
        name, equals, path = (part.strip() for part in option.partition("="))
        first, comma, last = path.rpartition(",")
        if comma and "." not in last and last not in _DIRECTIONS and "/" not in last:
            near = get_close_matches(last, _DIRECTIONS, n=1)
            raise UsageError(
                f"{option_name} {name}: after the comma stands lower or higher, got {last!r}{_meant(near)}"
            )
        lower = bool(comma) and last in _DIRECTIONS
        if not equals or not name or not (first if lower else path):
            raise UsageError(f"{option_name} takes NAME=FILE, or NAME=FILE,lower where lower is better; got {option!r}")
        if any(one.name == name for one in found):
            raise UsageError(f"{option_name} gives {name} twice")
        found.append(GivenScores(name, first if lower else path, _DIRECTIONS[last] if lower else True))
    return found


def _meant(near: Sequence[str]) -> str:
    return f"; did you mean {near[0]}?" if near else ""


@dataclass(frozen=True)
class _Entry:
    """A score and what tells its segment: group, system, id, as far as the file has them; `place` for messages."""

    keys: Mapping[str, str]
    score: float | None
    place: str


def aligned(path: str, name: str, groups: Groups, *, partial: bool = False) -> dict[str, Array]:
    """The scores of a file for every segment, by group, in the order of the segments; NaN where one may be absent."""
    entries = list(_numbered(_entries(path, name)))
    every = [(group, row) for group, rows in groups.items() for row in rows]
    file = f"{name} ({shown(path)})"
    if not any(entry.keys for entry in entries):
        scores = _in_order(file, entries, every, partial)
    else:
        scores = _by_key(file, entries, every, partial)
    starts = np.cumsum([0, *(len(rows) for rows in groups.values())])
    return {group: scores[starts[k] : starts[k + 1]] for k, group in enumerate(groups)}


def _entries(path: str, name: str) -> Iterator[_Entry]:
    """The scores of a table with a header; without one, of lines `SCORE` or `SYSTEM<TAB>SCORE`."""
    file = TextFile(path)
    kind = _kind(path)
    if kind in ("csv", "tsv") and _has_number(next(iter(file))):
        kind = None
    if kind is None:
        yield from _lines(file)
        return
    rows = Rows(path, kind)
    names = rows.columns()
    columns = columns_of(names, ("score", *KEYS), {"score": name} if name in names else {}, rows.name)
    column = columns.get("score")
    if not column:
        raise Unreadable(
            f"{rows.name}: no column 'score' or {name!r} (columns: {', '.join(names)}); expected columns score and, "
            "to tell segments apart, system and id, or lines SCORE or SYSTEM, tab, SCORE"
        )
    for row in rows:
        if row.fields.get("type") == "result":  # the last line of what `monge score -f jsonl` writes
            continue
        value = rows.field(row, column)
        keys = {key: row.fields.get(columns.get(key)) for key in KEYS if columns.get(key)}
        said = {key: str(value) for key, value in keys.items() if value is not None}
        absent = value is None or (isinstance(value, str) and value.strip().lower() in _NONE)
        yield _Entry(said, None if absent else rows.number(row, column), rows.where(row))


def _kind(path: str) -> str | None:
    try:
        return table_format(path)
    except InvalidSetting:  # lines of scores have names of all kinds: .seg.score, .txt
        return None


def _has_number(line: str) -> bool:
    return any(finite_number(field) is not None for field in line.replace(",", "\t").replace(";", "\t").split("\t"))


def finite_number(text: str) -> float | None:
    """The finite number that a text writes, if it does."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value - value == 0 else None


def _lines(file: TextFile) -> Iterator[_Entry]:
    for number, line in enumerate(file, 1):
        if comet := _COMET.fullmatch(line):
            if comet[2] is not None:
                said = {"system": comet[1], "id": str(int(comet[2]) + 1)}
                yield _Entry(said, float(comet[3]), f"{file.name}:{number}")
            continue
        system, tab, text = line.rpartition("\t")
        score, place = finite_number(text), f"{file.name}:{number}"
        if score is None and text.strip().lower() not in _NONE:
            raise Unreadable(
                f"{place}: expected a score, or system, tab, score; got {line[:60]!r} (a table: .tsv, .csv, .jsonl)"
            )
        yield _Entry({"system": system.strip()} if tab else {}, score, place)


def _numbered(entries: Iterable[_Entry]) -> Iterator[_Entry]:
    """Entries of systems without ids get them: the number of the entry in its system, from 1."""
    seen: Counter[Key] = Counter()
    for entry in entries:
        if not entry.keys or "id" in entry.keys:
            yield entry
            continue
        mine = tuple(entry.keys.values())
        seen[mine] += 1
        yield _Entry({**entry.keys, "id": str(seen[mine])}, entry.score, entry.place)


def _in_order(file: str, entries: Sequence[_Entry], every: Sequence[tuple[str, Segment]], partial: bool) -> Array:
    """One number a line: as many as there are segments, which must stand in one order only."""
    systems = [(group, row.system) for group, row in every]
    turns = sum(one != other for one, other in pairwise(systems)) + 1
    if len({group for group, _ in systems}) > 1 or turns > len(set(systems)):
        raise Misaligned(
            f"{file}: one number a line does not tell which group or system it is of; give columns system, id and "
            "score (group too where there are several), or lines SYSTEM, tab, SCORE"
        )
    if len(entries) != len(every):
        raise Misaligned(f"{file} has {len(entries)} scores for {len(every)} segments{_first(every, len(entries))}")
    absent = next((entry for entry in entries if entry.score is None), None)
    if absent is not None and not (partial and any(entry.score is not None for entry in entries)):
        raise Misaligned(f"{absent.place}: no score; every segment needs one")
    return np.array([np.nan if entry.score is None else entry.score for entry in entries])


def _first(every: Sequence[tuple[str, Segment]], at: int) -> str:
    return f"; the first without a score: {_described(*every[at])}" if at < len(every) else ""


def _by_key(file: str, entries: Sequence[_Entry], every: Sequence[tuple[str, Segment]], partial: bool) -> Array:
    """Scores looked up by group, system and id, as far as the file tells them."""
    told = [key for key in KEYS if any(key in entry.keys for entry in entries)]
    systems = _system_names(file, entries, {row.system for _, row in every}) if "system" in told else {}
    if "system" in told and systems is None:
        told.remove("system")
    if "group" in told and not {entry.keys.get("group") for entry in entries} & {group for group, _ in every}:
        told.remove("group")
    values = _values(entries, told)

    def key(group: str, row: Segment) -> Key:
        system = (systems or {}).get(row.system, row.system)
        return tuple({"group": group, "system": system, "id": row.id}[one] for one in told)

    keys = [key(group, row) for group, row in every]
    _check_told_apart(file, told, keys, every)
    missing = [k for k, one in enumerate(keys) if values.get(one) is None]
    zero = "; its ids begin at 0, ours at 1" if any(one[-1] == "0" for one in values) else ""
    if missing and (zero or not partial or len(missing) == len(every)):
        raise Misaligned(
            f"{file} has {len(values)} scores, {len(every) - len(missing)} of them for the {len(every)} segments; "
            f"the first without one: {_described(*every[missing[0]])}{zero}"
        )
    return np.array([values.get(one, np.nan) for one in keys], dtype=np.float64)


def _values(entries: Sequence[_Entry], told: Sequence[str]) -> dict[Key, float | None]:
    values: dict[Key, float | None] = {}
    for entry in entries:
        lacking = next((one for one in told if one not in entry.keys), None)
        if lacking is not None:
            raise Unreadable(f"{entry.place}: no {lacking}, which other rows have")
        key = tuple(entry.keys[one] for one in told)
        if key in values:
            raise Unreadable(f"{entry.place}: a second score for {', '.join(map(_pair, told, key))}")
        values[key] = entry.score
    return values


def _pair(name: str, value: str) -> str:
    return f"{name} {value!r}"


def _system_names(file: str, entries: Sequence[_Entry], ours: set[str]) -> dict[str, str] | None:
    """Our systems -> the file's: equal names, or equal but for a suffix of text files; None: one here, one there."""
    theirs = {entry.keys.get("system", "") for entry in entries}
    stems = {_SUFFIX.sub("", one): one for one in theirs}
    found = {one: one if one in theirs else stems.get(_SUFFIX.sub("", one), "") for one in ours}
    if not any(found.values()):
        if len(ours) == len(theirs) == 1:
            return None
        some, mine = (", ".join(sorted(names)[:5]) or "none" for names in (theirs, ours))
        raise Misaligned(f"{file} has scores of the systems {some}; here are {mine or '(no names)'}")
    return {one: other or one for one, other in found.items()}


def _check_told_apart(
    file: str, told: Sequence[str], keys: Sequence[Key], every: Sequence[tuple[str, Segment]]
) -> None:
    """Raise where one score would be that of segments of two systems or groups."""
    owners: dict[Key, tuple[str, str]] = {}
    for key, (group, row) in zip(keys, every, strict=True):
        mine = group, row.system
        other = owners.setdefault(key, mine)
        if other != mine:
            lacking = "group" if other[0] != group and "group" not in told else "system"
            raise Misaligned(
                f"{file}: {', '.join(map(_pair, told, key))} is a segment of {' '.join(other).strip()} and of "
                f"{' '.join(mine).strip()}; give a column {lacking}, or a file a group ({GROUP} in its name)"
            )


def _described(group: str, row: Segment) -> str:
    said = {"group": group, "system": row.system, "id": row.id}
    return ", ".join(_pair(name, value) for name, value in said.items() if value)
