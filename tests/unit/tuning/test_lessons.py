"""What a lesson opens: grades as cosines, data without references, and the rows that a teacher
reads.
"""

from dataclasses import replace

import numpy as np
import pytest

from monge.errors import DataError, InvalidSetting
from monge.tuning import Lesson, Plan
from monge.tuning.examples import Examples
from monge.tuning.lessons import DataLocation, open_lesson, read_grades
from monge.tuning.teacher import _match_rows
from monge.types import Segment


def table(path, grades, name="graded.tsv"):
    rows = [f"a cat {k}\ta dog {k}\t{grade:g}" for k, grade in enumerate(grades)]
    (path / name).write_text("\n".join(["hypothesis\treference\thuman", *rows]) + "\n")
    return path / name


def cosines(path, written, grades=None):
    return open_lesson(
        Lesson.parse(written), DataLocation(path, grades=read_grades(grades))
    ).unit.tolist()


@pytest.mark.parametrize(
    ("grades", "option", "expected"),
    [
        ([1, 2, 3, 5], "", [0, 0.25, 0.5, 1]),
        ([0, 50, 100, 25], "", [0, 0.5, 1, 0.25]),
        ([-1, 0, 1, 0.5], "", [0, 0.5, 1, 0.75]),
        ([0.2, 0.4, 0.8, 0.6], "", [0.2, 0.4, 0.8, 0.6]),
        ([1, 2, 3, 5], "(human_range=0/5)", [0.2, 0.4, 0.6, 1]),
        ([1, 2, 3, 4], "(human_range=1/5)", [0, 0.25, 0.5, 0.75]),
    ],
)
def test_grades_become_cosines_between_0_and_1(tmp_path, grades, option, expected):
    assert cosines(table(tmp_path, grades), f"paraphrase:table{option}") == pytest.approx(expected)


def test_grades_outside_a_declared_range_are_refused(tmp_path):
    path = table(tmp_path, [1, 2, 3, 6])
    with pytest.raises(
        DataError, match="from 1 to 6 lie outside the declared range 0/5: declare the range"
    ):
        cosines(path, "paraphrase:table(human_range=0/5)")
    with pytest.raises(DataError, match="lie outside the declared range 0/1"):
        cosines(path, "paraphrase:table(human_range=0/1)")
    assert (
        open_lesson(Lesson.parse("table(human_range=0/5)"), DataLocation(path)).targets is not None
    )  # no cosine is learned


def test_a_table_of_grades_is_about_the_grades_as_they_stand(tmp_path):
    path = table(tmp_path, [1, 2, 3, 4])
    for written in ("paraphrase:table", "paraphrase:table(human_range=1/4)"):
        assert cosines(path, written, "1=0,2=.1,3=.5,4=.9") == [0, 0.1, 0.5, 0.9]


def test_where_less_is_better_the_least_grade_is_the_largest_cosine(tmp_path):
    path = table(tmp_path, [0, 1, 4, 2])
    assert cosines(path, "paraphrase:table(higher_is_better=false)") == [1, 0.75, 0, 0.5]


@pytest.fixture
def mlqe(tmp_path):
    """Four outputs that were judged beside their source."""
    folder = tmp_path / "mlqe"
    folder.mkdir()
    lines = ["index\toriginal\ttranslation\tscores\tmean\tz_scores\tz_mean\tmodel_scores"]
    lines += [f"{k}\tein Hund {k}\ta dog {k}\t[1]\t{k}\t[1]\t{k}\t-0.1" for k in range(4)]
    (folder / "test20.ende.df.short.tsv").write_text("\n".join(lines) + "\n")
    return folder


def test_data_without_references_is_refused_in_one_sentence(mlqe):
    for written in ("mlqe-pe", "paraphrase:mlqe-pe"):
        with pytest.raises(
            InvalidSetting,
            match="mlqe-pe/en-de has no references, only sources: this metric compares with",
        ):
            open_lesson(Lesson.parse(written), DataLocation(mlqe))


def test_a_metric_of_sources_learns_from_outputs_beside_their_source(mlqe):
    examples = open_lesson(Lesson.parse("mlqe-pe"), DataLocation(mlqe, against="source"))
    assert [row.references for row in examples.rows] == [(f"ein Hund {k}",) for k in range(4)]
    assert examples.targets.argmax() == 3
    assert Plan("yisi-2", "mlqe-pe", mlqe).data_location.against == "source"
    assert Plan("twmd", "mlqe-pe", mlqe).data_location.against == "references"
    assert Plan("twmd", "mlqe-pe", mlqe, settings=("against=source",)).data_location.against == (
        "source"
    )


def test_data_without_sources_is_refused_for_a_metric_of_sources(tmp_path):
    table(tmp_path, [1, 2, 3, 4])
    location = DataLocation(tmp_path / "graded.tsv", against="source")
    for written in ("table", "errors:table"):
        with pytest.raises(InvalidSetting, match=r"without (a source|one)"):
            open_lesson(Lesson.parse(written), location)


def rows(*named):
    """Examples of (data set, group, id, text, reference, source)."""
    segments = tuple(Segment(each[2], each[3], (each[4],), each[5]) for each in named)
    groups = tuple(f"{each[0]}/{each[1]}" for each in named)
    return Examples("both", segments, groups, targets=np.zeros(len(named)))


GERMAN = rows(
    ("sts12", "de", "1", "ein Hund", "eine Katze", None), ("sts13", "de", "1", "ja", "nein", None)
)
ENGLISH = rows(
    ("sts12", "en", "1", "a dog", "a cat", None), ("sts13", "en", "1", "yes", "no", None)
)


def test_a_teacher_reads_the_row_of_the_same_data_set():
    assert [row.hypothesis for row in _match_rows(GERMAN, ENGLISH)] == ["a dog", "yes"]


def test_a_teacher_refuses_rows_that_cannot_be_told_apart():
    twice = rows(
        ("sts12", "en", "1", "a dog", "a cat", None),
        ("sts12", "en.mt", "1", "the dog", "a cat", None),
    )
    with pytest.raises(
        DataError,
        match=r"two rows of sts12 .* have the id 1, with different texts \('a dog', 'the dog'\)",
    ):
        _match_rows(GERMAN.select([0]), twice)


def test_a_teacher_refuses_another_item_under_the_same_id():
    of_source = replace(GERMAN.select([0]), rows=(replace(GERMAN.rows[0], source="un chien"),))
    other = rows(("sts12", "en", "1", "a bird", "a cat", "un oiseau"))
    with pytest.raises(DataError, match=r"row 1 has the source 'un chien', but .* has 'un oiseau'"):
        _match_rows(of_source, other)
