"""MQM: experts mark errors in outputs, and scores are weighted counts of errors.

mqm_TESTSET_SRCTGT.tsv: a row per error, or per output that a rater found free of errors
mqm_TESTSET_SRCTGT.avg_seg_scores.tsv: the published scores, `None` for outputs that were not rated

The score of an output is minus the sum of penalties of its errors, averaged over its raters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from monge.datasets.annotations import ErrorSpan, RaterAnnotation, SegmentRecord, Side
from monge.datasets.files import plain_name
from monge.datasets.judged import DatasetReading, Group, scored
from monge.datasets.language_pairs import joined_pair
from monge.datasets.levels import at_level
from monge.datasets.marked_spans import read_marks
from monge.datasets.mqm_weights import NO_ERROR, Weights, choose_weights
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Row, Rows
from monge.errors import UnknownName, Unreadable
from monge.types import Segment

OutputKey = tuple[str, str]
"""System and segment."""
_LETTERS = re.compile(r"[a-z]{4}")
PUBLISHED = "mqm-published"


@dataclass
class RatedOutput:
    """An output with the errors that each of its raters marked, and the sums of their penalties."""

    location: str
    hypothesis: str
    source: str
    document: str
    errors: dict[str, list[ErrorSpan]] = field(default_factory=dict)
    penalties: dict[str, float] = field(default_factory=dict)
    clean: set[str] = field(default_factory=set)

    @property
    def score(self) -> float:
        """Minus the penalties, averaged over raters: 0 for an output without errors."""
        return -sum(self.penalties.values()) / len(self.penalties)

    @property
    def record(self) -> SegmentRecord:
        """The document and all annotations."""
        annotations = (
            RaterAnnotation(rater, tuple(errors), -self.penalties[rater])
            for rater, errors in self.errors.items()
        )
        return SegmentRecord(self.document, "", tuple(annotations))


def read(request: DatasetRequest) -> DatasetReading:
    """Read the rated outputs of a test set, grouped by language pair."""
    paths = _find_pairs(request, "errors")
    weights = choose_weights(request.dataset, str(request.switches["weights"]))
    reading = DatasetReading()
    for pair in request.select(sorted(paths)):
        outputs = read_outputs(paths[pair], request, weights, reading.warnings)
        scores = {key: output.score for key, output in outputs.items()}
        if request.human == PUBLISHED:
            score_paths = _find_pairs(request, "scores")
            if pair not in score_paths:
                raise request.missing("scores")
            scores = read_published_scores(score_paths[pair], request, outputs)
        group = _make_group(request, pair, outputs, scores, reading)
        reading.groups |= at_level(pair, group, request.level)
    return reading


def _find_pairs(request: DatasetRequest, role: str) -> dict[str, Path]:
    """Return the file of each language pair in the test set of the request."""
    by_test_set: dict[str, dict[str, Path]] = {}
    for path, fields in request.match(role):
        letters = fields["langs"].rpartition("_")[2]
        if not _LETTERS.fullmatch(letters):
            raise Unreadable(
                f"{path}: expected the languages as four letters at the end of its name, such as "
                f"zhen, got {letters!r}"
            )
        pairs = by_test_set.setdefault(fields["test_set"], {})
        pairs.setdefault(joined_pair(letters, str(path)), path)
    if not by_test_set:
        raise request.missing(role)
    name = str(request.switches["test_set"])
    if name and name not in by_test_set:
        raise UnknownName("mqm test set", name, by_test_set)
    if not name and len(by_test_set) > 1:
        raise Unreadable(
            f"{request.files.directory} has several test sets ({', '.join(sorted(by_test_set))}): "
            "--switch test_set=NAME"
        )
    return by_test_set[name or next(iter(by_test_set))]


def read_outputs(
    path: Path, request: DatasetRequest, weights: Weights, warnings: list[str]
) -> dict[OutputKey, RatedOutput]:
    """Read the rows of a file of errors, by system and segment."""
    rows, outputs = Rows(path, "tsv"), dict[OutputKey, RatedOutput]()
    reader = _RowReader(request, rows, weights, warnings)
    sources: dict[str, tuple[str, str, str]] = {}
    lines: dict[tuple[str, ...], int] = {}
    for row in rows:
        first = lines.setdefault(tuple(row.fields.values()), row.line)
        if first != row.line:
            raise Unreadable(f"{rows.where(row)}: the same row stands in line {first} already")
        reader.add(row, outputs, sources)
    if not outputs:
        raise Unreadable(f"{rows.name}: a header but no rows")
    return outputs


@dataclass
class _RowReader:
    """Adds the rows of a file to outputs, and checks that they belong together."""

    request: DatasetRequest
    rows: Rows
    weights: Weights
    warnings: list[str]

    def add(
        self,
        row: Row,
        outputs: dict[OutputKey, RatedOutput],
        sources: dict[str, tuple[str, str, str]],
    ) -> None:
        """Add a row to the output that it rates."""
        system, document, segment_id, rater, severity = (
            self._text(row, role) for role in ("system", "document", "id", "rater", "severity")
        )
        hypothesis, spans = self._marks(row, "hypothesis")
        source, source_spans = self._marks(row, "source")
        location, columns = self.rows.where(row), self.request.dataset.columns
        earlier = sources.setdefault(segment_id, (document, source, location))
        for role, value, first_value in (
            ("document", document, earlier[0]),
            ("source", source, earlier[1]),
        ):
            if value != first_value:
                place = self.rows.where(row, columns[role])
                raise Unreadable(
                    f"{place}: {_shorten(value)}, but {earlier[2]} has {_shorten(first_value)} for "
                    f"segment {segment_id}"
                )
        output = outputs.setdefault(
            (system, segment_id), RatedOutput(location, hypothesis, source, document)
        )
        if output.hypothesis != hypothesis:
            raise Unreadable(
                f"{self.rows.where(row, columns['hypothesis'])}: without marks it is not the text "
                f"of {system}, segment {segment_id}, in {output.location}: {_shorten(hypothesis)}, "
                f"there {_shorten(output.hypothesis)}"
            )
        marked: list[tuple[Side, tuple[int, int]]] = [("hypothesis", span) for span in spans]
        marked += [("source", span) for span in source_spans]
        self._add_errors(row, output, rater, severity, marked)

    def _add_errors(
        self,
        row: Row,
        output: RatedOutput,
        rater: str,
        severity: str,
        marked: list[tuple[Side, tuple[int, int]]],
    ) -> None:
        columns = self.request.dataset.columns
        category = str(self.rows.field(row, columns["category"]))
        place = self.rows.where(row, columns["severity"])
        penalty = self.weights.penalty(severity, category, place)
        is_clean = severity.lower() == NO_ERROR
        if is_clean and marked:
            raise Unreadable(f"{place}: {severity}, but a span is marked with <v>")
        if rater in output.penalties and (is_clean or rater in output.clean):
            raise Unreadable(
                f"{place}: {rater} rated this output before, and No-error stands beside other rows"
            )
        errors = output.errors.setdefault(rater, [])
        output.penalties[rater] = output.penalties.get(rater, 0.0) + penalty
        if is_clean:
            output.clean.add(rater)
        elif not marked:
            errors.append(ErrorSpan(severity, category))
        errors += [ErrorSpan(severity, category, side, *span) for side, span in marked]

    def _text(self, row: Row, role: str) -> str:
        column = self.request.dataset.columns[role]
        text = str(self.rows.field(row, column)).strip()
        if not text:
            raise Unreadable(f"{self.rows.where(row, column)}: is empty; every row needs it")
        return text

    def _marks(self, row: Row, role: str) -> tuple[str, list[tuple[int, int]]]:
        column = self.request.dataset.columns[role]
        text, location = str(self.rows.field(row, column)), self.rows.where(row, column)
        known_lines = self.request.dataset.open_spans.get(plain_name(Path(self.rows.path)), ())
        closes_all = bool(self.request.switches["close_spans"])
        plain, spans = read_marks(text, location, close=closes_all or row.line in known_lines)
        if closes_all and text.count("<v>") > text.count("</v>"):
            self.warnings.append(
                f"{location}: <v> without </v>; the span is read up to the end of the text"
            )
        return plain, spans


def read_published_scores(
    path: Path, request: DatasetRequest, outputs: Mapping[OutputKey, RatedOutput]
) -> dict[OutputKey, float]:
    """Read the published scores; all rated outputs must have them, and no others."""
    scores: dict[OutputKey, float] = {}
    lines: dict[OutputKey, int] = {}
    rows, systems = Rows(path, "space"), {system for system, _ in outputs}
    for row in rows:
        name, segment_id = (str(rows.field(row, column)) for column in ("system", "seg_id"))
        key = request.dataset.aliases.get(name, name), segment_id
        place = f"{rows.where(row)}: {name}, segment {segment_id}"
        if key[0] not in systems:
            names = ", ".join(sorted(systems))
            raise Unreadable(f"{place}: no rater has rated this system (rated are {names})")
        if lines.setdefault(key, row.line) != row.line:
            raise Unreadable(f"{place}: stands in line {lines[key]} already")
        is_unrated = rows.field(row, "mqm_avg_score") == "None"
        if is_unrated != (key not in outputs):
            problem = (
                f"None, but {outputs[key].location} rates it"
                if is_unrated
                else "a score, but there are no rows of raters"
            )
            raise Unreadable(f"{place}: {problem}")
        if not is_unrated:
            scores[key] = rows.number(row, "mqm_avg_score")
    lacking = next((key for key in outputs if key not in scores), None)
    if lacking is not None:
        raise Unreadable(
            f"{path}: no score of {lacking[0]}, segment {lacking[1]}, which "
            f"{outputs[lacking].location} rates"
        )
    return scores


def _make_group(
    request: DatasetRequest,
    pair: str,
    outputs: Mapping[OutputKey, RatedOutput],
    scores: Mapping[OutputKey, float],
    reading: DatasetReading,
) -> Group:
    """Return the outputs to judge, with the reference among the systems as their reference."""
    name = str(request.switches["reference"])
    systems = list(dict.fromkeys(system for system, _ in outputs))
    if name and name not in systems:
        raise UnknownName(f"{pair} reference", name, systems)
    keys = list(_select_outputs(request, outputs, name, reading))
    segments = [
        Segment(
            segment_id,
            outputs[system, segment_id].hypothesis,
            (outputs[name, segment_id].hypothesis,) if name else (),
            outputs[system, segment_id].source,
            system,
        )
        for system, segment_id in keys
    ]
    records = tuple(outputs[key].record for key in keys)
    return scored(segments, [scores[key] for key in keys], records=records)


def _select_outputs(
    request: DatasetRequest,
    outputs: Mapping[OutputKey, RatedOutput],
    reference: str,
    reading: DatasetReading,
) -> Iterator[OutputKey]:
    """Yield the outputs to judge: of machines, or of people too, that have a reference."""
    for system, segment_id in outputs:
        is_person = request.dataset.is_person(system) and not request.switches["human_systems"]
        if is_person or system == reference:
            reading.excluded["human translations"] += 1
        elif reference and (reference, segment_id) not in outputs:
            reading.excluded["no reference"] += 1
        else:
            yield system, segment_id


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "…")
