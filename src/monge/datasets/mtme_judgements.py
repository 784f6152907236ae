"""The human scores of a test set of mt-metrics-eval, at every level, by language pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from monge.datasets.judged import DatasetReading, Group, scored
from monge.datasets.levels import DOCUMENT, DOMAIN, at_level, by_document, split_domains, take
from monge.datasets.lines import TextFile
from monge.datasets.mtme import (
    EvalSet,
    Scores,
    find_test_set,
    list_pairs,
    read_eval_set,
    read_scores,
)
from monge.datasets.request import DatasetRequest
from monge.datasets.segment_scores import finite_number
from monge.datasets.test_set_facts import EvalSetFacts, describe_test_set
from monge.errors import InvalidSetting, Misaligned, Unreadable

STANDARD = "standard"
ScoreFiles = Mapping[tuple[str, str, str], Path]
"""Language pair, name of the human scores and level -> file."""


def read(request: DatasetRequest) -> DatasetReading:
    """Read the human scores of a test set, grouped by language pair."""
    switches = request.switches
    if not request.match("human"):
        raise request.missing("human")
    folder = find_test_set(request.files.directory, str(switches["test_set"]))
    score_files = _find_score_files(folder)
    judged_pairs = sorted({pair for pair, name, _ in score_files if name == request.human})
    if not judged_pairs:
        names = ", ".join(sorted({name for _, name, _ in score_files})) or "none"
        raise Unreadable(
            f"{folder}: no human scores {request.human!r}; there are {names} (--human NAME)"
        )
    reading = DatasetReading()
    for pair in request.select([pair for pair in list_pairs(folder) if pair in judged_pairs]):
        facts = describe_test_set(folder.resolve().name, pair)
        texts = read_eval_set(folder, pair)
        used = _choose_references(texts, str(switches["reference"]), facts, reading.warnings)
        systems = texts.systems(used, humans=bool(switches["human_systems"]))
        if not switches["outliers"]:
            reading.excluded["outlier systems"] += len(facts.outliers & set(systems))
            systems = [system for system in systems if system not in facts.outliers]
        scores = HumanScores(texts, used, systems, score_files, request.human, reading.excluded)
        reading.groups |= read_level(scores, request.level)
    return reading


def _choose_references(
    texts: EvalSet, name: str, facts: EvalSetFacts, warnings: list[str]
) -> tuple[str, ...]:
    """Return the references to use; warn where one of several was taken by its name."""
    if name == STANDARD:
        if not facts.reference:
            raise InvalidSetting(
                f"{texts.pair}: the standard reference of this test set is not known; there are "
                f"{', '.join(sorted(texts.references))} (--switch reference=NAME|all)"
            )
        return texts.choose_references(facts.reference)
    used = texts.choose_references(name)
    if not name and len(texts.references) > 1:
        names = ", ".join(sorted(texts.references))
        is_other = facts.reference not in ("", *used)
        standard = f"; official tables have {facts.reference}" if is_other else ""
        warnings.append(
            f"{texts.pair}: {used[0]} of {names} is the reference{standard} (--switch "
            "reference=NAME|all)"
        )
    return used


def _find_score_files(folder: Path) -> dict[tuple[str, str, str], Path]:
    """Return the files of human scores by language pair, name and level."""
    score_files = {}
    for path in sorted((folder / "human-scores").glob("*.score")):
        pair, *name, level, _ = path.name.split(".")
        if name:
            score_files[pair, ".".join(name), level] = path
    return score_files


@dataclass(frozen=True)
class HumanScores:
    """The human scores of the systems to judge in a language pair, read where they are needed."""

    texts: EvalSet
    references: Sequence[str]
    systems: Sequence[str]
    files: ScoreFiles
    human: str
    excluded: Counter[str]

    def read(self, level: str, count: int) -> Scores | None:
        """Return `count` scores per system at a level; None if there is no file."""
        path = self.files.get((self.texts.pair, self.human, level))
        if path is None:
            return None
        scores_by_system = read_scores(path)
        for system, scores in scores_by_system.items():
            self._check_system(str(path), system)
            if len(scores) != count:
                raise Misaligned(f"{path}: {len(scores)} scores of {system}, expected {count}")
        return {
            system: scores_by_system[system]
            for system in self.systems
            if system in scores_by_system
        }

    def read_domains(self) -> dict[str, dict[str, float | None]] | None:
        """Return the scores of systems by domain; None if there is no file."""
        path = self.files.get((self.texts.pair, self.human, DOMAIN))
        if path is None:
            return None
        domains = sorted({domain for domain, _ in self.texts.documents})
        scores: dict[str, dict[str, float | None]] = {}
        for number, line in enumerate(TextFile(path), 1):
            domain, system, score = (*line.split(), "", "", "")[:3]
            value = None if score.lower() == "none" else finite_number(score)
            if len(line.split()) != 3 or (value is None and score.lower() != "none"):
                raise Unreadable(
                    f"{path}:{number}: expected a domain, a system and its score (or None), got "
                    f"{line[:60]!r}"
                )
            if domain not in domains:
                raise Unreadable(
                    f"{path}:{number}: unknown domain {domain!r} (documents/{self.texts.pair}.docs "
                    f"has {', '.join(domains)})"
                )
            self._check_system(f"{path}:{number}", system)
            if system in scores.setdefault(domain, {}):
                raise Unreadable(f"{path}:{number}: a second score of {system} in {domain}")
            scores[domain][system] = value
        return scores

    def _check_system(self, location: str, system: str) -> None:
        if system not in self.texts.outputs:
            raise Unreadable(
                f"{location}: scores of {system}, but system-outputs/{self.texts.pair} has no "
                f"{system}.txt"
            )


def read_level(scores: HumanScores, level: str) -> dict[str, Group]:
    """Return the groups of a level: from its own file, else averages of scores of segments."""
    texts, pair = scores.texts, scores.texts.pair
    segment_scores = scores.read("seg", len(texts.sources))
    if level == "system":
        system_scores = scores.read("sys", 1)
        if system_scores is not None:
            return {pair: _system_group(scores, segment_scores or {}, system_scores)}
    if level == DOCUMENT:
        documents = list(dict.fromkeys(document for _, document in texts.documents))
        document_scores = scores.read("doc", len(documents))
        if document_scores is not None:
            return {pair: _document_group(scores, documents, document_scores)}
    if level == DOMAIN:
        domain_scores = scores.read_domains()
        if domain_scores is not None:
            return _domain_groups(scores, segment_scores or {}, domain_scores)
    return at_level(pair, _segment_group(scores, segment_scores), level)


def _segment_group(scores: HumanScores, segment_scores: Scores | None) -> Group:
    """Return every judged segment with its score."""
    if segment_scores is None:
        raise Unreadable(
            f"{scores.texts.pair}: there are no human scores of segments; --level system has some"
        )
    group = _output_group(scores, list(segment_scores))
    values = [score for system in segment_scores for score in segment_scores[system]]
    is_judged = np.array([score is not None for score in values], dtype=np.bool_)
    scores.excluded["no human score"] += len(values) - int(is_judged.sum())
    judged_group = take(group, is_judged)
    return scored(
        judged_group.segments,
        [score for score in values if score is not None],
        records=judged_group.records,
    )


def _output_group(scores: HumanScores, systems: Sequence[str]) -> Group:
    """Return all outputs of systems, without scores."""
    records = scores.texts.records
    return Group(
        tuple(
            row for system in systems for row in scores.texts.segments(system, scores.references)
        ),
        records=None if records is None else tuple(records) * len(systems),
    )


def _system_group(scores: HumanScores, segment_scores: Scores, system_scores: Scores) -> Group:
    """Return whole outputs with scores of their systems, and of segments if any."""
    systems = {
        system: float(values[0])
        for system, values in system_scores.items()
        if values[0] is not None
    }
    scores.excluded["systems without human score"] += len(system_scores) - len(systems)
    group = _output_group(scores, list(systems))
    blank: Sequence[float | None] = [None] * len(scores.texts.sources)
    values = [
        np.nan if score is None else score
        for system in systems
        for score in segment_scores.get(system, blank)
    ]
    return Group(
        group.segments,
        systems=systems,
        each=np.array(values, dtype=np.float64) if segment_scores else None,
        records=group.records,
    )


def _document_group(
    scores: HumanScores, documents: Sequence[str], document_scores: Scores
) -> Group:
    """Return the segments of every judged document, with one score per system and document."""
    judged_documents = {
        (system, document): float(score)
        for system, values in document_scores.items()
        for document, score in zip(documents, values, strict=True)
        if score is not None
    }
    total = sum(len(values) for values in document_scores.values())
    scores.excluded["documents without human score"] += total - len(judged_documents)
    outputs = _output_group(scores, list(document_scores))
    return by_document(scores.texts.pair, outputs, judged_documents)


def _domain_groups(
    scores: HumanScores,
    segment_scores: Scores,
    domain_scores: Mapping[str, Mapping[str, float | None]],
) -> dict[str, Group]:
    """Return the outputs of each domain with the scores of the systems in it."""
    groups: dict[str, Group] = {}
    pair = scores.texts.pair
    for domain, by_system in sorted(domain_scores.items()):
        system_scores = {
            system: [by_system[system]] for system in scores.systems if system in by_system
        }
        group = _system_group(scores, segment_scores, system_scores)
        name = f"{pair}/{domain}"
        groups[name] = take(group, split_domains(pair, group.segments, group.records)[name])
    return groups
