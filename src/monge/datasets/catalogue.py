"""Descriptions of the published data sets, read from one small TOML file per data set."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from monge.errors import InvalidSetting, PluginError, UnknownName
from monge.metrics.plugins import (
    describe_entry,
    describe_exception,
    find_entries,
    load_entry_object,
)

Level = Literal["segment", "system", "document", "domain"]
Mean = Literal["unweighted", "weighted"]
ReferenceRule = Literal["max", "mean", "first"]

Needs = tuple[tuple[str, ...], ...]
_TEXTS = ("references", "outputs")
LAYOUT_NEEDS: dict[str, Needs] = {
    "aligned": (("human",),),
    "joined": (("segments", *_TEXTS),),
    "rankings": (("rankings", *_TEXTS), ("campaign", *_TEXTS), ("ranked_texts",)),
    "campaign": (("campaign", *_TEXTS),),
    "with scores": (("errors", "scores"),),
}
"""Layout of a human column -> alternative sets of needed file roles."""
READER_NEEDS: dict[str, Needs] = {
    "sts": (("inputs",), ("joined",)),
    "stsb": (("original",), ("multi",), ("german",)),
    "captions": (("experts", "captions"), ("joined",)),
    "coco": (("humans", "results", "captions"),),
    "germeval": (("summaries",),),
    "tac": (("topics",),),
    "summeval": (("documents",),),
    "generated": (("outputs",),),
    "mlqe": (("scores",),),
    "mtme": (("human",),),
    "mqm": (("errors",),),
    "esa": (("scores", "documents"),),
}
"""Reader whose human columns have no layouts -> alternative sets of needed file roles."""
SYSTEM_NEEDS: Needs = (("systems", *_TEXTS),)
"""The file roles that published scores of systems need."""


@dataclass(frozen=True)
class Dataset:
    """A data set as its file describes it.

    Attributes:
        name: What the user calls it.
        title: What it is.
        reader: Which reader understands its files.
        groups: What its groups are (language pair, subset, topic …).
        levels: The levels it can be evaluated on.
        human: The human column taken by default.
        system_human: The same at the system level, where it is another.
        any_human: Whether further human columns may be named, those that the files have.
        humans: Per human column: `column` in the file, `statistic` of the published tables,
            `layout`, and `range`, the lowest and the highest score of its scale, where it has ends.
        texts: Per text version the switches that differ for it.
        files: The published file names to look for; `{…}` stands for what varies.
        columns: The reader's words for columns -> the names in the files.
        mean: How the mean over groups weighs them.
        references: How several references of a segment are combined.
        against: What hypotheses meet: references, or the source.
        higher_is_better: Direction of the human scores.
        switches: What the user may switch, with defaults.
        expected: Per human column: judgements of each group (of all before exclusions as `total`).
        aliases: Names in the judgements -> names of the output files.
        published: How the published experiment prepared the texts, for reproductions.
        licence: Under what terms the data come.
        citation: What to cite.
        year: Two digits of the year, to tell equal file names apart.
        test_set: The name of the test set in file names and columns.
        people: Patterns of the systems that are human translations.
        weights: For MQM, in order: `severity`, `category` (a pattern, where it matters), `penalty`.
        categories: For MQM, the patterns of the categories of errors that there are.
        open_spans: Published files -> lines with a known `<v>` that is never closed.
        languages: Codes of languages in the judgements -> codes in names of text files.
    """

    name: str
    title: str
    reader: str
    groups: str
    human: str
    humans: Mapping[str, Mapping[str, Any]]
    licence: str
    citation: str
    levels: tuple[str, ...] = ("segment",)
    texts: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"raw": {}})
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    mean: Mean = "unweighted"
    references: ReferenceRule = "max"
    against: str = "references"
    higher_is_better: bool = True
    switches: Mapping[str, Any] = field(default_factory=dict)
    expected: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[str, Any] = field(default_factory=dict)
    year: int | None = None
    test_set: str = ""
    system_human: str = ""
    any_human: bool = False
    people: tuple[str, ...] = ()
    weights: tuple[Mapping[str, Any], ...] = ()
    categories: tuple[str, ...] = ()
    open_spans: Mapping[str, Sequence[int]] = field(default_factory=dict)
    languages: Mapping[str, str] = field(default_factory=dict)

    def resolve_human(self, name: str | None, level: str) -> str:
        """Return the human column: the default, one of `humans`, or one of the files."""
        if name is None:
            return self.system_human if level == "system" and self.system_human else self.human
        if self.any_human or name in self.humans:
            return name
        for human, meaning in self.humans.items():
            if meaning.get("column") == name:
                return human
        raise UnknownName(f"{self.name} human column", name, self.humans)

    def is_person(self, system: str) -> bool:
        """Return whether a system is a human translation, by its name."""
        return any(fnmatchcase(system, pattern) for pattern in self.people)

    def needs(self, human: str) -> Needs:
        """Return alternative sets of file roles that a human column needs."""
        layout = self.humans.get(human, {}).get("layout")
        needs = LAYOUT_NEEDS[layout] if layout else READER_NEEDS.get(self.reader, ())
        return tuple(roles for roles in needs if self.files.keys() >= set(roles))

    def resolve_switches(self, text: str, switches: Mapping[str, Any]) -> dict[str, Any]:
        """Return all switches for a text version; raise for bad names or types."""
        defaults = {
            "entities": False,
            "detokenise": False,
            "human_range": "",
            **self.switches,
            **self.texts[text],
        }
        for name, value in switches.items():
            if name not in defaults:
                raise UnknownName(f"{self.name} setting", name, defaults)
            expected_type = type(defaults[name])
            if type(value) is not expected_type:
                raise InvalidSetting(
                    f"{self.name}: {name} takes {expected_type.__name__}, got {value!r}"
                )
        return {**defaults, **switches}


GROUP = "monge.datasets"
"""The group of entry points in which packages name their data sets: paths of TOML files."""


@cache
def dataset_names() -> tuple[str, ...]:
    """Return the names of the known data sets, and of those that packages offer."""
    return tuple(sorted({*_published_names(), *find_entries(GROUP)}))


def _published_names() -> list[str]:
    names = (file.name for file in _folder().iterdir())
    return [name.removesuffix(".toml") for name in names if name.endswith(".toml")]


@cache
def describe(name: str) -> Dataset:
    """Return the description of a data set; raises with the nearest name where there is none."""
    if name not in dataset_names():
        raise UnknownName("dataset", name, dataset_names())
    if name in _published_names():
        return read_description(name, (_folder() / f"{name}.toml").read_text(encoding="utf-8"))
    return _describe_offered(name)


def read_description(name: str, text: str) -> Dataset:
    """Return the data set that a TOML text describes."""
    table = tomllib.loads(text)
    table["levels"] = tuple(table.get("levels", ("segment",)))
    table |= {name: tuple(table.get(name, ())) for name in ("people", "weights", "categories")}
    table["files"] = {role: tuple(names) for role, names in table.get("files", {}).items()}
    return Dataset(name=name, **table)


def _describe_offered(name: str) -> Dataset:
    """Return the data set of an entry point, which names a TOML file or a directory with it."""
    entry = find_entries(GROUP)[name][0]
    content = load_entry_object(entry)
    if not isinstance(content, str | Path):
        kind = type(content).__name__
        why = f"{describe_entry(entry)} is a {kind}, expected the path of a TOML file"
        raise PluginError(name, why)
    path = Path(content) / f"{name}.toml" if Path(content).is_dir() else Path(content)
    try:
        dataset = read_description(name, path.read_text("utf-8"))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        why = f"{path} does not describe a data set: {describe_exception(error)}"
        raise PluginError(name, why) from None
    if dataset.reader not in (*READER_NEEDS, "wmt"):
        raise UnknownName(f"plugin {name}: reader", dataset.reader, (*READER_NEEDS, "wmt"))
    return dataset


def _folder() -> Any:
    return files("monge.datasets") / "published"
