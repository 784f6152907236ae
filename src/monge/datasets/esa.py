"""Error Span Annotation (ESA): annotators mark errors and give a score from 0 to 100.

esa_generalMT2024.SRC-TGT.csv, esa_generalMT2024_waveN.csv: judgements, without a header
documents/SRC-TGT.docs and the texts beside it, in the layout of mt-metrics-eval

Items of quality control, tutorials and judgements of whole documents are dropped and counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from monge.datasets.annotations import ErrorSpan, RaterAnnotation, SegmentRecord
from monge.datasets.json_values import check_json_object, read_json_text
from monge.datasets.judged import DatasetReading, Group, scored
from monge.datasets.language_pairs import two_letters
from monge.datasets.levels import at_level
from monge.datasets.mtme import EvalSet, read_eval_set
from monge.datasets.request import DatasetRequest
from monge.datasets.rows import Row, Rows
from monge.errors import Unreadable
from monge.types import Segment

COLUMNS = (
    "user", "system", "line", "itemType", "srcLang", "trgLang", "score", "docId", "isDocScore",
    "spans", "start", "end",
)  # fmt: skip
ITEM_TYPES = {"TGT": "", "BAD": "quality control (BAD)"}
"""Type of an item -> why it is dropped; empty where it is not."""
DOCUMENT_MARKS = {
    "#bad": "quality control (#bad)",
    "#dup": "quality control (#dup)",
    "#incomplete": "incomplete documents",
}
SEVERITIES = ("minor", "major", "undecided")
MISSING = "missing"


@dataclass(frozen=True)
class EsaJudgement:
    """One judgement of an output, with the place where it stands."""

    rows: Rows
    row: Row
    wave: str

    def text(self, column: str) -> str:
        """Return a field, which must not be empty."""
        value = str(self.row.fields[column]).strip()
        if not value:
            raise Unreadable(f"{self.where(column)}: is empty; every row needs it")
        return value

    def where(self, column: str | None = None) -> str:
        """Return the location for messages."""
        return self.rows.where(self.row, column)

    @property
    def score(self) -> float:
        """The score, from 0 to 100."""
        score = self.rows.number(self.row, "score")
        if not 0 <= score <= 100:
            raise Unreadable(
                f"{self.where('score')}: expected a score from 0 to 100, got {self.text('score')}"
            )
        return score

    def line(self, count: int) -> int:
        """Return the 0-based line of the text files, which have `count` lines."""
        number = self.rows.number(self.row, "line")
        if number != int(number) or not 0 <= number < count:
            raise Unreadable(
                f"{self.where('line')}: expected a line of the texts from 0 to {count - 1}, got "
                f"{self.text('line')}"
            )
        return int(number)

    def spans(self, text: str) -> tuple[ErrorSpan, ...]:
        """Return the marked errors, checked against the text of the output."""
        location = self.where("spans")
        values = read_json_text(self.text("spans"), location)
        if not isinstance(values, list):
            raise Unreadable(f"{location}: expected a list of spans, got {type(values).__name__}")
        return tuple(
            _read_span(check_json_object(value, place), place, text)
            for place, value in ((f"{location}, span {k}", v) for k, v in enumerate(values, 1))
        )


def read(request: DatasetRequest) -> DatasetReading:
    """Read the judgements of every language pair that has texts."""
    reading = DatasetReading()
    judgements = _read_judgements(request, reading.excluded)
    folders = {
        fields["pair"]: path.parent.parent for path, fields in reversed(request.match("documents"))
    }
    if not folders:
        raise request.missing("documents")
    for pair in request.select(sorted(judgements)):
        if pair not in folders:
            raise Unreadable(
                f"{judgements[pair][0].rows.name}: no texts of {pair} below "
                f"{request.files.directory}; expected documents/{pair}.docs, sources/{pair}.txt, "
                f"references/{pair}.NAME.txt and system-outputs/{pair}/SYSTEM.txt"
            )
        texts = read_eval_set(folders[pair], pair)
        group = _make_group(request, texts, judgements[pair], reading)
        reading.groups |= at_level(pair, group, request.level)
    return reading


def _read_judgements(
    request: DatasetRequest, excluded: Counter[str]
) -> dict[str, list[EsaJudgement]]:
    """Return the judgements of each pair: from its own file, else from the files of the waves."""
    matches = request.match("scores")
    if not matches:
        raise request.missing("scores")
    by_pair: dict[str, list[EsaJudgement]] = {}
    own_pairs = {fields["pair"] for _, fields in matches if "pair" in fields}
    for path, fields in matches:
        file_pair = fields.get("pair")
        for judgement in _iter_judgements(path, fields.get("wave", "")):
            pair = _pair_of(request, judgement)
            if file_pair is not None and pair != file_pair:
                raise Unreadable(
                    f"{judgement.where()}: a judgement of {pair} in the file of {file_pair}"
                )
            if file_pair is None and pair in own_pairs:
                continue
            reason = _find_exclusion(judgement)
            if reason:
                excluded[reason] += _is_requested(request, pair)
            else:
                by_pair.setdefault(pair, []).append(judgement)
    if not by_pair:
        raise Unreadable(
            f"{matches[0][0]}: no judgement is left (excluded: {dict(excluded) or 'none'})"
        )
    return by_pair


def _iter_judgements(path: Path, wave: str) -> Iterator[EsaJudgement]:
    rows = Rows(path, "csv", columns=COLUMNS)
    return (EsaJudgement(rows, row, wave) for row in rows)


def _is_requested(request: DatasetRequest, pair: str) -> bool:
    return request.group_names is None or pair in request.select([pair, *request.group_names])


def _pair_of(request: DatasetRequest, judgement: EsaJudgement) -> str:
    languages = request.dataset.languages
    return "-".join(
        two_letters(judgement.text(column), languages, judgement.where(column))
        for column in ("srcLang", "trgLang")
    )


def _find_exclusion(judgement: EsaJudgement) -> str:
    """Return why a judgement is dropped; '' where it is not."""
    item_type, document = judgement.text("itemType"), judgement.text("docId")
    if item_type not in ITEM_TYPES:
        raise Unreadable(
            f"{judgement.where('itemType')}: unknown type {item_type!r} (accepted are "
            f"{', '.join(ITEM_TYPES)})"
        )
    is_document = judgement.text("isDocScore")
    if is_document not in ("True", "False"):
        raise Unreadable(
            f"{judgement.where('isDocScore')}: expected True or False, got {is_document!r}"
        )
    if "-tutorial" in document:
        return "tutorial"
    marks = (reason for mark, reason in DOCUMENT_MARKS.items() if document.endswith(mark))
    reason = ITEM_TYPES[item_type] or next(marks, "")
    return reason or ("judgements of whole documents" if is_document == "True" else "")


def _make_group(
    request: DatasetRequest,
    texts: EvalSet,
    judgements: Sequence[EsaJudgement],
    reading: DatasetReading,
) -> Group:
    used = texts.choose_references(str(request.switches["reference"]))
    if not request.switches["reference"] and len(texts.references) > 1:
        reading.warnings.append(
            f"{texts.pair}: {used[0]} of {', '.join(sorted(texts.references))} is the reference "
            "(--switch reference=NAME|all)"
        )
    segments, scores, records = [], [], []
    repeated: Counter[tuple[str, str, str]] = Counter()
    for judgement in judgements:
        system, line = judgement.text("system"), judgement.line(len(texts.sources))
        score, document = judgement.score, _check_document(judgement, texts, line)
        is_person = request.dataset.is_person(system)
        if system in used or (is_person and not request.switches["human_systems"]):
            reading.excluded["human translations"] += 1
            continue
        output = _find_output(judgement, texts, system)[line]
        references = tuple(texts.references[name][line] for name in used)
        segments.append(Segment(str(line), output, references, texts.sources[line], system))
        scores.append(score)
        user = judgement.text("user")
        repeated[user, system, str(line)] += 1
        annotation = RaterAnnotation(user, judgement.spans(output), score, judgement.wave)
        records.append(SegmentRecord(document, texts.documents[line][0], (annotation,)))
    count = repeated.total() - len(repeated)
    if count:
        reading.warnings.append(
            f"{texts.pair}: {count} judgements repeat an output for the same annotator; all count"
        )
    return scored(segments, scores, records=tuple(records))


def _check_document(judgement: EsaJudgement, texts: EvalSet, line: int) -> str:
    """Return the document of a judgement; raise if the texts have another in its line."""
    document = judgement.text("docId")
    if texts.documents[line][1] != document:
        raise Unreadable(
            f"{judgement.where('docId')}: {document}, but line {line} of documents/"
            f"{texts.pair}.docs is of {texts.documents[line][1]}; does a text file lack its first "
            "line?"
        )
    return document


def _find_output(judgement: EsaJudgement, texts: EvalSet, system: str) -> Sequence[str]:
    if system not in texts.outputs:
        raise Unreadable(
            f"{judgement.where('system')}: system-outputs/{texts.pair} has no {system}.txt "
            f"(systems: {', '.join(texts.outputs)})"
        )
    return texts.outputs[system]


def _read_span(value: Mapping[str, Any], location: str, text: str) -> ErrorSpan:
    """Return a span; raise if it is outside the text or of unknown severity."""
    for key in ("start_i", "end_i", "severity"):
        if key not in value:
            raise Unreadable(f"{location}: no {key!r} (fields: {', '.join(value) or 'none'})")
    severity, start, end = (value[key] for key in ("severity", "start_i", "end_i"))
    if severity not in SEVERITIES:
        raise Unreadable(
            f"{location}: unknown severity {severity!r} (accepted are {', '.join(SEVERITIES)})"
        )
    category = value.get("error_type") or ""
    if start == end == MISSING:
        return ErrorSpan(severity, str(category))
    are_whole = all(type(place) is int for place in (start, end))
    if not are_whole or not 0 <= start <= end <= len(text):
        raise Unreadable(
            f"{location}: expected 0 <= start_i <= end_i <= {len(text)}, the length of the output, "
            f"or {MISSING!r} twice; got {start!r} and {end!r}"
        )
    return ErrorSpan(severity, str(category), "hypothesis", start, end)
