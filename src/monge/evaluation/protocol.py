"""Protocols: the list of questions by which a shared task judges metrics, read from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

from monge.errors import InvalidSetting, UnknownName, Unreadable
from monge.evaluation.question import PAIRWISE, SOFT, SYNONYMS
from monge.types import Array

LEVELS = ("segment", "system")
AVERAGES = ("values", "ranks")
SHARES = ("acc23", "acc_eq_calibrated", PAIRWISE, SOFT)
ABBREVIATIONS = {
    "soft_pairwise_accuracy": "SPA",
    "acc_eq_calibrated": "acc-t",
    "pairwise_accuracy": "accuracy",
}
"""SPA: soft pairwise accuracy; acc-t: pairwise accuracy with calibrated ties."""
_PER_PAIR = ("references", "outliers", "humans")


@dataclass(frozen=True)
class ProtocolTask:
    """One question of a protocol: a statistic of the judgements of some language pairs.

    Attributes:
        pairs: The language pairs, judged together (their system pairs are pooled).
        level: `segment` or `system`.
        statistic: The name of the statistic; `…-by-item` averages over source items.
        human: The human column; empty for that of the protocol or data set.
        weight: Its share in the average; the shares of all tasks add up to 1.
        human_systems: Whether human translations are judged among the systems.
        domain: Only the segments of this domain; empty for all.
        tested: Whether metrics are tested against each other.
        references: The reference to use, by language pair.
        outliers: Systems that are left out, by language pair.
        switches: How the data set is read.
    """

    pairs: tuple[str, ...]
    level: str
    statistic: str
    human: str = ""
    weight: float = 1.0
    human_systems: bool = False
    domain: str = ""
    tested: bool = True
    references: Mapping[str, str] = field(default_factory=dict)
    outliers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    switches: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What tells it from other tasks, such as `en-de segment acc-t by item`."""
        humans = "with humans" if self.human_systems else ""
        parts = (self.pair_names, self.domain, self.level, self.statistic_name, humans)
        return " ".join(part for part in parts if part)

    @property
    def pair_names(self) -> str:
        """Its language pairs, or how many they are."""
        return ",".join(self.pairs) if len(self.pairs) <= 2 else f"{len(self.pairs)} pairs"

    @property
    def statistic_name(self) -> str:
        """The statistic as the papers of shared tasks abbreviate it."""
        plain, average = split_statistic(self.statistic)
        short = ABBREVIATIONS.get(plain, plain)
        return f"{short} by {average}" if average else short


@dataclass(frozen=True)
class Protocol:
    """The questions of a shared task, and how their answers are averaged."""

    name: str
    title: str
    dataset: str
    tasks: tuple[ProtocolTask, ...]
    average: str = "values"
    citation: str = ""
    notes: tuple[str, ...] = ()


def protocol_names() -> list[str]:
    """Return the names of the packaged protocols."""
    folder = files("monge.evaluation") / "protocols"
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in folder.iterdir()
        if entry.name.endswith(".toml")
    )


def load_protocol(name: str) -> Protocol:
    """Return a packaged protocol by name, or that of a TOML file.

    Raises:
        UnknownName: If there is no such protocol.
        Unreadable: If the file cannot be read or does not describe a protocol.
    """
    if name.endswith(".toml"):
        try:
            text = Path(name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as problem:
            raise Unreadable(f"{name}: {problem}") from problem
    elif name in protocol_names():
        text = (files("monge.evaluation") / "protocols" / f"{name}.toml").read_text("utf-8")
    else:
        raise UnknownName("protocol", name, [*protocol_names(), "FILE.toml"])
    return parse_protocol(text, name)


def parse_protocol(text: str, name: str) -> Protocol:
    """Return the protocol that a TOML text describes."""
    try:
        record = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise Unreadable(f"{name}: {problem}") from problem
    plain = {"title", "dataset", "test_set", "average", "weights", "citation", "notes", "tasks"}
    _check_names(name, record, {*plain, *_PER_PAIR})
    if not record.get("tasks") or not isinstance(record["tasks"], list):
        raise Unreadable(f"{name}: a protocol needs one or more [[tasks]]")
    if record.get("average", "values") not in AVERAGES:
        raise InvalidSetting(f"{name}: average is {' or '.join(AVERAGES)}")
    tasks = [
        task
        for number, entry in enumerate(record["tasks"], 1)
        for task in _expand(entry, record, f"{name}, task {number}")
    ]
    return Protocol(
        name.removesuffix(".toml"),
        str(record.get("title", name)),
        str(record.get("dataset", "mt-metrics-eval")),
        tuple(_share_weights(tasks, record.get("weights", []))),
        str(record.get("average", "values")),
        str(record.get("citation", "")),
        tuple(record.get("notes", ())),
    )


def _check_names(place: str, entry: Mapping[str, Any], accepted: set[str]) -> None:
    for name in entry:
        if name not in accepted:
            raise UnknownName(f"{place}: field", name, sorted(accepted))


def _expand(entry: Mapping[str, Any], record: Mapping[str, Any], place: str) -> list[ProtocolTask]:
    """Return a task per combination of the lists under `each`, or the task itself."""
    accepted = {spec.name for spec in fields(ProtocolTask)} | {"each"}
    lists = entry.get("each", {})
    _check_names(place, {**entry, **lists}, accepted)
    plain = {name: value for name, value in entry.items() if name != "each"}
    tasks = []
    for values in product(*lists.values()):
        chosen = {**plain, **dict(zip(lists, values, strict=True))}
        if "pairs" not in chosen or "statistic" not in chosen:
            raise Unreadable(f"{place}: a task needs pairs and statistic")
        task = _make_task(chosen, record, place)
        if not (task.human_systems and _lacks_humans(task, record)):
            tasks.append(task)
    return tasks


def _lacks_humans(task: ProtocolTask, record: Mapping[str, Any]) -> bool:
    """Return whether none of a task's pairs has human translations to judge as systems."""
    with_humans = record.get("humans")
    return with_humans is not None and not set(task.pairs) & set(with_humans)


def _make_task(chosen: Mapping[str, Any], record: Mapping[str, Any], place: str) -> ProtocolTask:
    """Return a task with what the protocol says of its pairs."""
    pairs = chosen["pairs"]
    names = tuple([pairs] if isinstance(pairs, str) else pairs)
    level = str(chosen.get("level", "segment"))
    if level not in LEVELS:
        raise UnknownName(f"{place}: level", level, LEVELS)
    switches = dict(chosen.get("switches", {}))
    if record.get("test_set"):
        switches.setdefault("test_set", record["test_set"])
    by_pair = {
        key: {**record.get(key, {}), **chosen.get(key, {})} for key in ("references", "outliers")
    }
    return ProtocolTask(
        **{**chosen, **by_pair, "pairs": names, "level": level, "switches": switches}
    )


def _share_weights(tasks: Sequence[ProtocolTask], attributes: Sequence[str]) -> list[ProtocolTask]:
    """Return the tasks with weights that add up to 1.

    With `attributes` the weight is shared evenly over the values of the first, within each over
    those of the second, and so on; without them in proportion to the tasks' own weights.
    """
    if not attributes:
        total = sum(task.weight for task in tasks)
        return [replace(task, weight=task.weight / total) for task in tasks]
    shares = [1.0] * len(tasks)

    def spread(places: list[int], names: Sequence[str], share: float) -> None:
        if not names:
            for place in places:
                shares[place] = share / len(places)
            return
        by_value: dict[object, list[int]] = {}
        for place in places:
            by_value.setdefault(_attribute(tasks[place], names[0]), []).append(place)
        for members in by_value.values():
            spread(members, names[1:], share / len(by_value))

    spread(list(range(len(tasks))), attributes, 1.0)
    return [replace(task, weight=share) for task, share in zip(tasks, shares, strict=True)]


def _attribute(task: ProtocolTask, name: str) -> object:
    """Return an attribute of a task by which weights are shared."""
    plain, average = split_statistic(task.statistic)
    values = {
        "pairs": task.pairs,
        "domain": task.domain,
        "level": task.level,
        "human_systems": task.human_systems,
        "averaged": average,
        "statistic": plain,
    }
    if name not in values:
        raise UnknownName("weights: attribute", name, values)
    return values[name]


def scaled(values: Array, statistic: str) -> Array:
    """Return values of a statistic mapped to 0..1, as averages over tasks take them."""
    return values if is_share(statistic) else (values + 1) / 2


def is_share(statistic: str) -> bool:
    """Return whether a statistic is a share from 0 to 1; others are from -1 to 1."""
    return split_statistic(statistic)[0] in SHARES


def split_statistic(statistic: str) -> tuple[str, str]:
    """Return the name of a statistic, however it is spelled, and what it is averaged over."""
    plain, _, average = statistic.strip().lower().replace("-", "_").partition("_by_")
    return SYNONYMS.get(plain, plain), average
