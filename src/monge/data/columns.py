"""Which column of a table plays which role: by the names that people usually give it, or as the user says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from monge.errors import InvalidSetting, UnknownName, Unreadable, UsageError

Tiers = tuple[tuple[str, ...], ...]
Given = Mapping[str, str | Sequence[str]]
"""What the user says: role -> its column, or its columns where it is `reference`."""

_EITHER = ("summary", "translation", "answer")
"""A hypothesis where no other column is one, else a reference where no other column is one."""
ROLES: dict[str, Tiers] = {
    "hypothesis": (
        ("hypothesis",),
        (
            "hypotheses", "hyp", "hyps", "mt", "prediction", "predictions", "predicted", "predict", "pred", "preds",
            "candidate", "candidates", "cand", "output", "outputs", "system_output", "model_output", "sys_output",
            "generated", "generation", "generated_text", "generated_output", "generated_summary", "response",
            "completion", "decoded", "filtered_resps",
        ),
        (*_EITHER, "resps"),
    ),
    "reference": (
        ("reference", "references"),
        (
            "ref", "refs", "gold", "golds", "target", "targets", "label", "labels", "ground_truth", "expected",
            "expected_output", "reference_text", "gold_text", "highlights",
        ),
        _EITHER,
    ),
    "source": (
        ("source",), ("src", "sources", "source_text"), ("document",), ("article",), ("input",), ("prompt",),
        ("question",), ("query",), ("context",),
    ),
    "system": (("system",), ("system_name", "system_id", "systems", "sys", "model", "model_name", "model_id")),
    "id": (
        ("id",),
        ("segment_id", "seg_id", "segid", "sid", "segment"),
        ("doc_id", "docid", "example_id", "sample_id", "item_id", "question_id", "qid", "item", "guid", "uid"),
        ("index", "idx", "key"),
    ),
    "group": (("group",), ("lp", "langpair", "lang_pair", "language_pair", "pair", "subset", "topic")),
    "human": (
        ("human",),
        ("human_score", "human_rating", "rating", "da", "da_score", "mqm", "mqm_score", "esa", "z_score", "judgement"),
        ("score",),
    ),
    "score": (("score",), ("scores", "segment_score", "metric_score"), ("value", "f1")),
}  # fmt: skip
"""Role -> names in tiers: the first tier that a column is in decides, two columns in one tier are ambiguous.

Letters count alike in either case, and a space or a hyphen as an underscore. References may be numbered.
"""
TEXTS = ("hypothesis", "reference", "source", "system", "id")
_NUMBER = re.compile(r"(.*?)_?(\d+|(?<=ref|nce)_?[a-e])")


@dataclass(frozen=True)
class Columns:
    """The columns that play roles; `guessed` are the roles found by a name that is not the role's own.

    Only `reference` may be played by several columns.
    """

    names: Mapping[str, tuple[str, ...]]
    guessed: tuple[str, ...] = field(default=())

    def get(self, role: str) -> str:
        """The column of a role; an empty name where there is none."""
        return next(iter(self.names.get(role, ())), "")

    @property
    def note(self) -> str:
        """What was taken for what other than by its own name, as `--columns` would say it; nothing where all was."""
        return ",".join(f"{role}={name}" for role in self.guessed for name in self.names[role])


def given_columns(options: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The columns of `--columns hypothesis=mt,reference=ref`: role -> columns."""
    found: dict[str, tuple[str, ...]] = {}
    for part in (part for option in options for part in option.split(",")):
        role, equals, column = (one.strip() for one in part.partition("="))
        if not equals or not column:
            raise UsageError(f"--columns takes ROLE=COLUMN,… such as hypothesis=mt,reference=ref; got {part!r}")
        known = "reference" if re.fullmatch(r"references?\d*", role) else role
        if known not in ROLES:
            raise UnknownName("role", role, ROLES, f"(--columns takes {', '.join(ROLES)}, each =COLUMN)")
        if known in found and known != "reference":
            raise UsageError(f"--columns gives {role} two columns: {found[known][0]!r} and {column!r}")
        found[known] = (*found.get(known, ()), column)
    return found


def columns_of(names: Sequence[str], roles: Iterable[str], given: Given, where: str) -> Columns:
    """The columns that play the roles among those of a table; `where` names the table in errors."""
    found = {role: _there(names, role, wanted, where) for role, wanted in given.items()}
    taken = [name for some in found.values() for name in some]
    twice = next((name for name in taken if taken.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"--columns gives column {twice!r} of {where} two roles")
    guessed = []
    for role in roles:
        if role in found:
            continue
        mine, tier = _by_name([name for name in names if name not in taken], role, where)
        if mine:
            found[role] = mine
            taken += mine
            guessed += [role] if tier else []
    return Columns(found, tuple(guessed))


def _there(names: Sequence[str], role: str, wanted: str | Sequence[str], where: str) -> tuple[str, ...]:
    """The columns that the user names, if they are there."""
    found = []
    for column in [wanted] if isinstance(wanted, str) else wanted:
        same = [column] if column in names else [name for name in names if _plain(name) == _plain(column)]
        if len(same) != 1:
            near = get_close_matches(column, names, n=1, cutoff=0.45)
            guess = f"; did you mean {near[0]!r}?" if near else ""
            raise InvalidSetting(f"{role}={column}: {where} has no column {column!r}{guess} ({_listed(names)})")
        found += same
    return tuple(found)


def _by_name(names: Sequence[str], role: str, where: str) -> tuple[tuple[str, ...], int]:
    """The columns that play a role by their names, and the tier of these; raises where two of one tier would."""
    for tier, known in enumerate(ROLES[role]):
        stems = {name: _stem(name, known, numbered=role == "reference") for name in names}
        mine = [name for name in names if stems[name]]
        if len({stems[name] for name in mine}) > 1:
            first, second = mine[0], next(name for name in mine if stems[name] != stems[mine[0]])
            raise Unreadable(
                f"{where}: both {first!r} and {second!r} can be the {role}; say which: --columns {role}={first}"
            )
        if mine:
            return tuple(sorted(mine, key=_number)), tier
    return (), 0


def _plain(name: str) -> str:
    return re.sub(r"[ -]+", "_", name.strip().lower())


def _stem(name: str, known: Sequence[str], *, numbered: bool) -> str:
    """The known name that a column has, a number behind it apart; nothing where it has none."""
    plain = _plain(name)
    if plain in known:
        return plain
    match = _NUMBER.fullmatch(plain) if numbered else None
    return match[1] if match and match[1] in known else ""


def _number(name: str) -> tuple[int, str]:
    """What orders numbered references: their number, or their letter."""
    match = _NUMBER.fullmatch(_plain(name))
    last = match[2] if match else ""
    return (int(last) if last.isdigit() else 0), last


def _listed(names: Sequence[str]) -> str:
    return f"columns: {', '.join(names) or 'none'}"
