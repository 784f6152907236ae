"""Groups, means, and human columns that cannot be human."""

import numpy as np
import pytest

from monge.datasets.catalogue import describe
from monge.datasets.judged import Group, Judged, by_system, find_suspicious, merge_groups, scored
from monge.datasets.request import matching
from monge.errors import UnknownName
from monge.types import Segment


def group(*scores, **more):
    return scored(
        [Segment(str(i), "h", ("r",), None, "AB"[i % 2]) for i in range(len(scores))],
        scores,
        **more,
    )


def judged(mean, **groups):
    row = describe("wmt17")
    return Judged(
        "wmt17",
        "raw",
        "segment",
        "da",
        "pearson",
        1,
        groups,
        mean,
        "max",
        "references",
        {},
        (),
        {},
        row.licence,
        "",
    )


def test_means():
    parts = {"a": group(1, 2, 3), "b": group(1)}
    assert judged("unweighted", **parts).weights == {"a": 0.5, "b": 0.5}
    assert judged("weighted", **parts).weights == {"a": 0.75, "b": 0.25}
    assert judged("weighted", **parts).n == 4
    assert judged("weighted", **parts).kind == "scores"


def test_kinds():
    assert group(1).kind == "scores"
    assert Group((), rankings=np.zeros((3, 2), dtype=np.int64)).kind == "rankings"
    assert Group((), rankings=np.zeros((3, 2), dtype=np.int64)).n == 3
    assert Group((), systems={"A": 1.0}).kind == "systems"
    assert Group(()).n == 0


def test_systems_are_means_of_their_segments():
    both = merge_groups({"x": group(1, 2), "y": group(3, 5)})
    assert by_system(both).systems == {"A": 2.0, "B": 3.5}
    assert by_system(both).scores is None
    assert len(by_system(both).segments) == 4


def test_a_constant_human_column_warns():
    assert find_suspicious("da", {"cs-en": group(3, 3, 3)}) == [
        "cs-en: human column 'da' is constant (3); no correlation is defined"
    ]
    assert find_suspicious("da", {"cs-en": group(3, 3, 2)}) == []
    assert find_suspicious("da", {"cs-en": group(3)}) == []


def test_a_model_score_in_disguise_warns():
    model = np.array([-0.1, -0.7, -0.3])
    [warning] = find_suspicious("z_mean", {"en-de": group(*(2 * model + 1), model_scores=model)})
    assert "correlates perfectly with the model's own scores" in warning
    assert find_suspicious("z_mean", {"en-de": group(1, 2, 5, model_scores=model)}) == []
    assert find_suspicious("z_mean", {"en-de": group(1, 2, 5, model_scores=np.zeros(3))}) == []


def test_rows_and_groups_cannot_be_confused():
    with pytest.raises(ValueError, match="zip"):
        by_system(Group((Segment("1", "h"),), scores=np.array([1.0, 2.0])))


def test_groups_are_asked_for_by_name_or_pattern():
    assert matching(["a[1]"], ["a[1]", "a1"], "group") == ["a[1]"], (
        "a name is itself, whatever it holds"
    )
    assert matching(["*-en", "de-fr"], ["cs-en", "de-en", "de-fr", "en-de"], "group") == [
        "cs-en",
        "de-en",
        "de-fr",
    ]
    with pytest.raises(UnknownName, match="unknown group 'x\\*'"):
        matching(["x*"], ["a"], "group")
