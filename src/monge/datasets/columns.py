"""Find which column of a table has which role, by usual names or as the user says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from monge.errors import InvalidSetting, UnknownName, Unreadable, UsageError

Tiers = tuple[tuple[str, ...], ...]
Given = Mapping[str, str | Sequence[str]]
"""The user's choice: role -> its column, or its columns where it is `reference`."""

_EITHER = ("summary", "translation", "answer")
"""A hypothesis where no other column is one, else a reference where no other column is one."""
ROLES: dict[str, Tiers] = {
    "hypothesis": (
        ("hypothesis",),
        (
            "hypotheses", "hyp", "hyps", "mt", "prediction", "predictions", "predicted", "predict",
            "pred", "preds",
            "candidate", "candidates", "cand", "output", "outputs", "system_output", "model_output",
            "sys_output",
            "generated", "generation", "generated_text", "generated_output", "generated_summary",
            "response",
            "completion", "decoded", "filtered_resps",
        ),
        (*_EITHER, "resps"),
    ),
    "reference": (
        ("reference", "references"),
        (
            "ref", "refs", "gold", "golds", "target", "targets", "label", "labels", "ground_truth",
            "expected",
            "expected_output", "reference_text", "gold_text", "highlights",
        ),
        _EITHER,
    ),
    "source": (
        ("source",), ("src", "sources", "source_text"), ("document",), ("article",), ("input",),
        ("prompt",),
        ("question",), ("query",), ("context",),
    ),
    "system": (("system",),
        ("system_name", "system_id", "systems", "sys", "model", "model_name", "model_id")),
    "id": (
        ("id",),
        ("segment_id", "seg_id", "segid", "sid", "segment"),
        ("doc_id", "docid", "example_id", "sample_id", "item_id", "question_id", "qid", "item",
            "guid", "uid"),
        ("index", "idx", "key"),
    ),
    "group": (("group",),
        ("lp", "langpair", "lang_pair", "language_pair", "pair", "subset", "topic")),
    "human": (
        ("human",),
        ("human_score", "human_rating", "rating", "da", "da_score", "mqm", "mqm_score", "esa",
            "z_score", "judgement"),
        ("score",),
    ),
    "score": (
        ("score",),
        ("scores", "segment_score", "metric_score", "comet", "bleurt", "metricx"),
        ("value", "f1"),
    ),
}  # fmt: skip
"""Role -> names in tiers: the first tier with a column decides; two columns in it are ambiguous.

Case is ignored, and a space or a hyphen counts as an underscore. References may be numbered.
"""
TEXTS = ("hypothesis", "reference", "source", "system", "id")
_NUMBER = re.compile(r"(.*?)_?(\d+|(?<=ref|nce)_?[a-e])")


@dataclass(frozen=True)
class Columns:
    """The columns that have roles; `guessed` are roles found by a name not the role's own.

    Only `reference` may be played by several columns.
    """

    names: Mapping[str, tuple[str, ...]]
    guessed: tuple[str, ...] = field(default=())

    def get(self, role: str) -> str:
        """Return the column of a role; '' where there is none."""
        return next(iter(self.names.get(role, ())), "")

    @property
    def note(self) -> str:
        """The roles that were guessed, in the form of `--columns`; '' where there are none."""
        return ",".join(f"{role}={name}" for role in self.guessed for name in self.names[role])


def given_columns(options: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Parse `--columns hypothesis=mt,reference=ref` into role -> columns."""
    columns: dict[str, tuple[str, ...]] = {}
    for part in (part for option in options for part in option.split(",")):
        role, equals, column = (text.strip() for text in part.partition("="))
        if not equals or not column:
            raise UsageError(
                f"--columns takes ROLE=COLUMN,… such as hypothesis=mt,reference=ref; got {part!r}"
            )
        canonical_role = "reference" if re.fullmatch(r"references?\d*", role) else role
        if canonical_role not in ROLES:
            raise UnknownName(
                "role", role, ROLES, f"(--columns takes {', '.join(ROLES)}, each =COLUMN)"
            )
        if canonical_role in columns and canonical_role != "reference":
            raise UsageError(
                f"--columns gives {role} two columns: {columns[canonical_role][0]!r} and {column!r}"
            )
        columns[canonical_role] = (*columns.get(canonical_role, ()), column)
    return columns


def assign_columns(
    names: Sequence[str], roles: Iterable[str], columns_by_role: Given, table_name: str
) -> Columns:
    """Assign columns of a table to roles; `table_name` names the table in errors."""
    assigned = {
        role: _find_named(names, role, columns, table_name)
        for role, columns in columns_by_role.items()
    }
    used_names = [name for columns in assigned.values() for name in columns]
    duplicate = next((name for name in used_names if used_names.count(name) > 1), None)
    if duplicate is not None:
        raise UsageError(f"--columns gives column {duplicate!r} of {table_name} two roles")
    guessed = []
    for role in roles:
        if role in assigned:
            continue
        columns, tier = _guess_by_name(
            [name for name in names if name not in used_names], role, table_name
        )
        if columns:
            assigned[role] = columns
            used_names += columns
            guessed += [role] if tier else []
    return Columns(assigned, tuple(guessed))


def _find_named(
    names: Sequence[str], role: str, columns: str | Sequence[str], table_name: str
) -> tuple[str, ...]:
    """Return the columns that the user names; raises where one does not exist."""
    present = []
    for column in [columns] if isinstance(columns, str) else columns:
        same = (
            [column]
            if column in names
            else [name for name in names if _normalise(name) == _normalise(column)]
        )
        if len(same) != 1:
            near = get_close_matches(column, names, n=1, cutoff=0.45)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidSetting(
                f"{role}={column}: {table_name} has no column {column!r}{guess} "
                f"({_list_columns(names)})"
            )
        present += same
    return tuple(present)


def _guess_by_name(names: Sequence[str], role: str, table_name: str) -> tuple[tuple[str, ...], int]:
    """Return a role's columns by usual names, and their tier; raise if two compete."""
    for tier, usual_names in enumerate(ROLES[role]):
        stems = {
            name: _match_usual_name(name, usual_names, numbered=role == "reference")
            for name in names
        }
        candidates = [name for name in names if stems[name]]
        if len({stems[name] for name in candidates}) > 1:
            first = candidates[0]
            second = next(name for name in candidates if stems[name] != stems[candidates[0]])
            raise Unreadable(
                f"{table_name}: both {first!r} and {second!r} can be the {role}; say which: "
                f"--columns {role}={first}"
            )
        if candidates:
            return tuple(sorted(candidates, key=_reference_order)), tier
    return (), 0


def _normalise(name: str) -> str:
    return re.sub(r"[ -]+", "_", name.strip().lower())


def _match_usual_name(name: str, usual_names: Sequence[str], *, numbered: bool) -> str:
    """Return the usual name of a column, without a number at its end; '' where it has none."""
    plain = _normalise(name)
    if plain in usual_names:
        return plain
    match = _NUMBER.fullmatch(plain) if numbered else None
    return match[1] if match and match[1] in usual_names else ""


def _reference_order(name: str) -> tuple[int, str]:
    """Return the sort key of a numbered reference: its number, or its letter."""
    match = _NUMBER.fullmatch(_normalise(name))
    last = match[2] if match else ""
    return (int(last) if last.isdigit() else 0), last


def _list_columns(names: Sequence[str]) -> str:
    return f"columns: {', '.join(names) or 'none'}"
