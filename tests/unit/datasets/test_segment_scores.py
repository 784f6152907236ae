"""Scores of others: every layout gives the same numbers in the order of the segments; what does not
fit is refused.
"""

import json
from itertools import product

import numpy as np
import pytest

from monge.datasets.segment_scores import GivenScores, given_scores
from monge.errors import Misaligned, Unreadable, UsageError
from monge.types import Segment

SYSTEMS, IDS = ("a.txt", "b.txt"), ("1", "2", "3")
ROWS = [Segment(number, "h", ("r",), None, system) for number, system in product(IDS, SYSTEMS)]
VALUE = {(system, number): k + 0.5 for k, (system, number) in enumerate(product(SYSTEMS, IDS))}
WANTED = [VALUE[row.system, row.id] for row in ROWS]


@pytest.fixture
def write(tmp_path):
    def _write(name, *lines):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    return _write


def scores(path, rows=ROWS, name="comet", group=""):
    return GivenScores(name, path).of({group: rows})[0][group].tolist()


LAYOUTS = {
    "tsv": ("c.tsv", ["system\tid\tscore", *(f"{s}\t{i}\t{v}" for (s, i), v in VALUE.items())]),
    "another order": (
        "c.tsv",
        ["score\tid\tsystem", *(f"{v}\t{i}\t{s}" for (s, i), v in reversed(VALUE.items()))],
    ),
    "csv by usual names": (
        "c.csv",
        ["Model,segment_id,Score", *(f"{s},{i},{v}" for (s, i), v in VALUE.items())],
    ),
    "by the metric's name": (
        "c.csv",
        ["system,id,x,comet", *(f"{s},{i},9,{v}" for (s, i), v in VALUE.items())],
    ),
    "jsonl": (
        "c.jsonl",
        [json.dumps({"system": s, "id": int(i), "score": v}) for (s, i), v in VALUE.items()],
    ),
    "json": (
        "c.json",
        [json.dumps([{"system": s, "id": i, "score": v} for (s, i), v in VALUE.items()])],
    ),
    "what monge writes": (
        "c.jsonl",
        [
            *(
                json.dumps({"type": "segment", "system": s, "id": i, "score": v})
                for (s, i), v in VALUE.items()
            ),
            json.dumps({"type": "result", "system": "a.txt", "score": 3.0}),
        ],
    ),
    "mt-metrics-eval": ("c.seg.score", [f"{s}\t{v}" for (s, _), v in VALUE.items()]),
    "without a suffix": (
        "c.seg.score",
        [f"{s.removesuffix('.txt')}\t{v}" for (s, _), v in VALUE.items()],
    ),
    "what comet-score prints": (
        "c.txt",
        [
            *(f"{s}\tSegment {int(i) - 1}\tscore: {v:.4f}" for (s, i), v in VALUE.items()),
            *(f"{s}\tscore: 0.5000" for s in SYSTEMS),
        ],
    ),
    "what comet-score --to_json writes": (
        "c.json",
        [
            json.dumps(
                {
                    f"outputs/{system}": [
                        {"src": "s", "mt": "m", "ref": "r", "COMET": v}
                        for (of, _), v in VALUE.items()
                        if of == system
                    ]
                    for system in SYSTEMS
                },
                indent=4,
            )
        ],
    ),
    "tsv without a header": ("c.tsv", [f"{s}\t{v}" for (s, _), v in VALUE.items()]),
    "system and score": ("c.tsv", ["system\tscore", *(f"{s}\t{v}" for (s, _), v in VALUE.items())]),
    "more than is asked for": (
        "c.tsv",
        [
            "system\tid\tscore",
            *(f"{s}\t{i}\t{v}" for (s, i), v in VALUE.items()),
            "z\t1\t0",
            "z\t2\tNone",
        ],
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same_scores(write, layout):
    name, lines = LAYOUTS[layout]
    assert scores(write(name, *lines)) == WANTED


def test_one_number_a_line_is_for_one_order(write):
    ours = [row for system in SYSTEMS for row in ROWS if row.system == system]
    path = write("c.txt", *VALUE.values())
    assert scores(path, ours) == list(VALUE.values())
    with pytest.raises(Misaligned, match="does not tell which group or system"):
        scores(path, ROWS)
    with pytest.raises(Misaligned, match="does not tell which group or system"):
        GivenScores("comet", path).of({"one": ours[:3], "two": ours[3:]})
    with pytest.raises(
        Misaligned, match=r"has 5 scores for 6 segments; .* system 'b\.txt', id '3'"
    ):
        scores(write("d.txt", *list(VALUE.values())[:5]), ours)
    with pytest.raises(Misaligned, match="has 6 scores for 3 segments"):
        scores(path, ours[:3])
    with pytest.raises(Misaligned, match=r"d\.txt:2: no score"):
        scores(write("d.txt", 1, "None", 3), ours[:3])


def test_the_digest_is_that_of_the_scores_used(write):
    digests = {
        GivenScores("comet", write(*[name, *lines])).of({"g": ROWS})[1]
        for name, lines in LAYOUTS.values()
    }
    assert len(digests) == 1
    changed = write(
        "d.tsv",
        "system\tid\tscore",
        *(f"{s}\t{i}\t{v + (v == 0.5)}" for (s, i), v in VALUE.items()),
    )
    assert GivenScores("comet", changed).of({"g": ROWS})[1] not in digests


def test_groups_are_told_by_a_column_or_a_file_each(write):
    groups = {"de-en": ROWS, "cs-en": ROWS}
    lines = [
        f"{lp}\t{s}\t{i}\t{v + 10 * (lp == 'cs-en')}"
        for lp in groups
        for (s, i), v in VALUE.items()
    ]
    found = GivenScores("comet", write("c.tsv", "lp\tsystem\tid\tscore", *lines)).of(groups)[0]
    assert found["de-en"].tolist() == WANTED
    assert found["cs-en"].tolist() == (np.array(WANTED) + 10).tolist()
    for lp in groups:
        write(
            f"{lp}.seg.score", *(f"{s}\t{v + 10 * (lp == 'cs-en')}" for (s, _), v in VALUE.items())
        )
    each = GivenScores("comet", write("x", 1).removesuffix("x") + "{group}.seg.score").of(groups)[0]
    assert {name: some.tolist() for name, some in each.items()} == {
        name: some.tolist() for name, some in found.items()
    }
    with pytest.raises(
        Misaligned, match=r"is a segment of de-en a\.txt and of cs-en a\.txt; give a column group"
    ):
        GivenScores("comet", write("d.tsv", *LAYOUTS["tsv"][1])).of(groups)


def test_a_number_behind_a_system_s_name_is_part_of_it(write):
    rows = [Segment("1", "h", ("r",), None, system) for system in ("online.1", "uedin.4955")]
    path = write("c.seg.score", "online.1\t1", "uedin.4723\t2")
    with pytest.raises(Misaligned, match=r"1 of them for the 2 segments; .*system 'uedin\.4955'"):
        scores(path, rows)


def test_a_system_that_is_alone_needs_no_name(write):
    alone = [Segment(number, "h", ("r",)) for number in IDS]
    assert scores(write("c.tsv", "id\tscore", "3\t3", "1\t1", "2\t2"), alone) == [1, 2, 3]
    assert scores(write("c.tsv", "system\tid\tscore", "x\t3\t3", "x\t1\t1", "x\t2\t2"), alone) == [
        1,
        2,
        3,
    ]


HEAD = "system\tid\tscore"
BAD = {
    "one is missing": (
        ["system\tid\tscore", *(f"{s}\t{i}\t{v}" for (s, i), v in VALUE.items() if (s, i) != ("b.txt", "2"))],
        Misaligned,
        r"comet \(.*c\.tsv\) has 5 scores, 5 of them for the 6 segments; .*system 'b\.txt', id '2'",
    ),
    "one is empty": (
        ["system\tid\tscore", *(f"{s}\t{i}\t{v if v > 1 else ''}" for (s, i), v in VALUE.items())],
        Misaligned,
        r"the first without one: system 'a\.txt', id '1'",
    ),
    "ids from 0": (
        ["system\tid\tscore", *(f"{s}\t{int(i) - 1}\t{v}" for (s, i), v in VALUE.items())],
        Misaligned,
        r"id '3'; its ids begin at 0, ours at 1",
    ),
    "twice": ([HEAD, "a.txt\t1\t1", "a.txt\t1\t1"], Unreadable, r"c\.tsv:3: a second score for "
        r"system 'a\.txt'"),
    "other systems": ([HEAD, "x\t1\t1", "y\t1\t1"], Misaligned, r"scores of the systems x, y; here "
        r"are a\.txt, b\.txt"),
    "no systems": (["id\tscore", "1\t1", "2\t2", "3\t3"], Misaligned, r"is a segment of a\.txt and "
        r"of b\.txt; give"),
    "no score": (["system\tid\tx", "a.txt\t1\t1"], Unreadable, r"no column 'score' or 'comet' "
        r"\(columns: system"),
    "a word": ([HEAD, "a.txt\t1\tgood"], Unreadable, r"c\.tsv:2, field 'score': expected a finite "
        r"number, got 'good'"),
    "infinite": ([HEAD, "a.txt\t1\tinf"], Unreadable, r"expected a finite number, got 'inf'"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_does_not_fit_is_named(write, case):
    lines, kind, says = BAD[case]
    with pytest.raises(kind, match=says):
        scores(write("c.tsv", *lines))


def test_partial_scores_leave_gaps(write):
    path = write("c.tsv", HEAD, "a.txt\t1\t0.5", "b.txt\t3\t5.5", "b.txt\t2\tnan", "b.txt\t9\t1")
    found = GivenScores("human", path, partial=True).of({"": ROWS})[0][""]
    assert found[np.isfinite(found)].tolist() == [0.5, 5.5] and np.isfinite(found).nonzero()[
        0
    ].tolist() == [0, 5]
    rows = [row for row in ROWS if row.system == "a.txt"]
    found = GivenScores("human", write("c.score", "1", "None", "3"), partial=True).of({"": rows})[
        0
    ][""]
    assert found[[0, 2]].tolist() == [1, 3] and np.isnan(found[1])


@pytest.mark.parametrize(
    "case", ["ids from 0", "other systems", "no systems", "no score", "a word", "twice"]
)
def test_partial_scores_must_fit_too(write, case):
    lines, kind, says = BAD[case]
    with pytest.raises(kind, match=says.replace("comet", "human")):
        GivenScores("human", write("c.tsv", *lines), partial=True).of({"": ROWS})


def test_lines_that_are_no_scores(write):
    with pytest.raises(
        Unreadable, match=r"c\.score:2: expected a score, or system, tab, score; got 'b good'"
    ):
        scores(write("c.score", "a\t1", "b good"))
    with pytest.raises(Unreadable, match="no such file"):
        scores("nowhere.seg.score")


def test_a_number_beyond_numbers_is_refused(write):
    for score in ("1" + "0" * 400, "1e999", "true", "{}"):
        with pytest.raises(
            Unreadable, match=r"c\.jsonl:1, field 'score': expected a finite number"
        ):
            scores(write("c.jsonl", f'{{"system": "a.txt", "id": 1, "score": {score}}}'))


def test_options():
    assert given_scores(["comet=a=b.tsv", "ter=x,y.txt,lower", "bleurt=c.tsv,higher"]) == [
        GivenScores("comet", "a=b.tsv"),
        GivenScores("ter", "x,y.txt", higher_is_better=False),
        GivenScores("bleurt", "c.tsv"),
    ]
    for option, says in [
        ("comet", "takes NAME=FILE"),
        ("=c.tsv", "takes NAME=FILE"),
        ("comet=", "takes NAME=FILE"),
        ("comet=,lower", "takes NAME=FILE"),
        ("comet=c.tsv,lowr", "lower or higher, got 'lowr'; did you mean lower"),
    ]:
        with pytest.raises(UsageError, match=says):
            given_scores([option])
    with pytest.raises(UsageError, match="gives comet twice"):
        given_scores(["comet=a", "comet=b"])
