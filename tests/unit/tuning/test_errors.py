"""Lessons from controlled errors: which texts they are made of, and what is ranked above what."""

import numpy as np
import pytest
import torch

from monge.errors import DataError, InvalidSetting, UnknownName
from monge.perturbations.catalogue import choose_kinds
from monge.tuning import Lesson
from monge.tuning.errors import COSTS, make_error_examples
from monge.tuning.examples import content_digest
from monge.tuning.lessons import DataLocation, open_lesson
from monge.tuning.objectives import MARGIN, make_objective
from monge.types import Segment

TEXTS = [
    "In May 300 people of Bonn saw the film, and nobody left early.",
    "The minister did not say that Anna Weber would open the new bridge on Monday.",
    "A small dog barked at all of the old cars because it was afraid.",
]


def open_errors(path, written, seed=1):
    return open_lesson(Lesson.parse(written), DataLocation(path.parent, seed=seed))


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "good.txt"
    path.write_text("\n".join([TEXTS[0], f"{TEXTS[1]}\tThe minister kept silent.", TEXTS[2]]))
    return path


def test_a_file_has_texts_with_or_without_references(texts):
    examples = open_errors(texts, f"errors:{texts}")
    references = {row.references for row in examples.rows}
    assert references == {(TEXTS[0],), ("The minister kept silent.",), (TEXTS[2],)}
    good = [row.hypothesis for row in examples.rows if row.hypothesis in TEXTS]
    assert good == TEXTS


def test_the_worse_error_stands_below_and_margins_are_differences_of_costs(texts):
    examples = open_errors(texts, f"errors:{texts}(kinds=critical/minor)")
    place = {row.hypothesis: k for k, row in enumerate(examples.rows)}
    pairs = dict(zip(map(tuple, examples.better.tolist()), examples.margins.tolist(), strict=True))
    for text in TEXTS:
        below = {
            worse: margin for (better, worse), margin in pairs.items() if better == place[text]
        }
        assert below and set(below.values()) <= {1.0, 2.0, 4.0, 5.0, 8.0}
        for (better, worse), margin in pairs.items():
            if better in below and worse in below:
                assert margin == below[worse] - below[better] > 0


def test_only_kinds_of_lessons_are_learned_unless_others_are_named(texts):
    lesson = {kind.name for kind in choose_kinds() if kind.lesson}
    assert len(lesson) == len(choose_kinds()) / 2
    assert not lesson & {"negation-dropped", "names-exchanged", "magnitude", "lower-case"}
    (row,) = make_error_examples(
        "x", [Segment("1", TEXTS[0], (TEXTS[0],))], kinds=["upper-case"]
    ).rows[1:]
    assert row.hypothesis == TEXTS[0].upper()


def test_texts_depend_on_the_seed_alone(texts):
    first, again, other = (open_errors(texts, f"errors:{texts}", seed) for seed in (1, 1, 2))
    assert content_digest(first) == content_digest(again) != content_digest(other)
    changed = first.select(range(len(first)))
    assert content_digest(changed) == content_digest(first)
    changed.margins[0] += 1
    assert content_digest(changed) != content_digest(first)


def test_the_best_judged_output_of_each_reference_is_the_good_text(tmp_path):
    rows = [("A dog barked at us.", "A dog barked.", 3), ("A dog barked.", "A dog barked.", 5),
            ("The cat slept here.", "A cat slept.", 1)]  # fmt: skip
    path = tmp_path / "judged.tsv"
    lines = ["hypothesis\treference\thuman", *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    examples = open_lesson(Lesson.parse("errors:table"), DataLocation(path))
    good = {examples.rows[k].hypothesis for k in examples.better[:, 0].tolist()}
    assert {"A dog barked.", "The cat slept here."} <= good
    assert "A dog barked at us." not in {row.hypothesis for row in examples.rows}


def test_the_loss_is_a_margin_ranking(texts):
    examples = open_errors(texts, f"errors:{texts}")
    objective = make_objective("errors", examples, 1.0, 0, 0)
    objective.head.slope.data.fill_(10.0)

    class Judge:
        def scores(self, rows):
            return torch.linspace(0, 1, len(rows), dtype=torch.float64)

    places = [0, 1, 2]
    scores = np.linspace(0, 1, 6).reshape(-1, 2)
    expected = np.log1p(
        np.exp(MARGIN * examples.margins[:3] - 10 * (scores[:, 0] - scores[:, 1]))
    ).mean()
    assert objective.loss(places, Judge()).item() == pytest.approx(expected)


def test_a_sample_keeps_its_margins(texts):
    whole = open_errors(texts, f"errors:{texts}")
    part = open_errors(texts, f"errors:{texts}(sample=5)")
    assert len(part) == len(part.margins) == 5 < len(whole)
    margins = {
        (whole.rows[a].hypothesis, whole.rows[b].hypothesis): margin
        for (a, b), margin in zip(whole.better.tolist(), whole.margins.tolist(), strict=True)
    }
    for (a, b), margin in zip(part.better.tolist(), part.margins.tolist(), strict=True):
        assert margins[part.rows[a].hypothesis, part.rows[b].hypothesis] == margin


def test_what_cannot_be_learned_from_is_named(texts, tmp_path):
    with pytest.raises(UnknownName, match="did you mean number"):
        open_errors(texts, f"errors:{texts}(kinds=numbr)")
    with pytest.raises(InvalidSetting, match="the option kinds is for errors, score has none"):
        Lesson.parse("score:wmt15(kinds=number)") and open_lesson(
            Lesson.parse("score:wmt15(kinds=number)"), DataLocation(tmp_path)
        )
    wide = tmp_path / "wide.txt"
    wide.write_text("a\tb\tc\n")
    with pytest.raises(DataError, match="line 1: 3 columns, wanted a good text"):
        open_errors(wide, f"errors:{wide}")
    blank = tmp_path / "blank.txt"
    blank.write_text("\n\n")
    with pytest.raises(DataError, match="no texts to put errors into"):
        open_errors(blank, f"errors:{blank}")
    bare = tmp_path / "bare.txt"
    bare.write_text("Yes\n")
    with pytest.raises(DataError, match="no error of these kinds fits"):
        open_errors(bare, f"errors:{bare}(kinds=date)")


def test_every_severity_has_a_cost():
    assert {kind.severity for kind in choose_kinds()} == set(COSTS)
