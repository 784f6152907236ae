"""Statistics of one group: toy values of the specification, draws, ties with the best."""

import numpy as np
import pytest
from scipy import stats as reference

from monge.datasets import Group
from monge.errors import InvalidSetting, UnknownName
from monge.evaluation.agreement import (
    BOOTSTRAP,
    PERM_BOTH,
    WILLIAMS,
    AgreementTable,
    Column,
    draw_values,
    standing,
)
from monge.evaluation.question import named, question
from monge.evaluation.variant_scores import RowScores, VariantScores
from monge.stats import holm, percentiles, perm_both, williams_scores
from monge.types import Segment, Signature


def ranked(better, worse, ids=None):
    """A group of rankings, and the scores of its segments."""
    ids = ids or [str(k) for k in range(len(better))]
    segments = [
        Segment(one, f"{side} {one}", ("r",)) for one in ids for side in ("better", "worse")
    ]
    rankings = np.array([[2 * k, 2 * k + 1] for k in range(len(ids))])
    return Group(tuple(segments), rankings=rankings), np.array(
        [x for pair in zip(better, worse, strict=True) for x in pair]
    )


def rated(scores):
    return Group(
        tuple(Segment(str(k), "h", ("r",)) for k in range(len(scores))),
        scores=np.array(scores, dtype=float),
    )


@pytest.mark.parametrize(
    ("statistic", "value"), [("tau10", 0.0), ("tau13", 1 / 3), ("tau14", 0.25)]
)
def test_rankings_have_the_values_of_the_specification(statistic, value):
    group, scores = ranked([0.9, 0.5, 0.7, 0.3], [0.8, 0.5, 0.9, 0.1])
    assert question(group, statistic, 1).value(scores) == pytest.approx(value)


def of_group(segments, systems, *, higher_is_better):
    """The scores of one variant on the group `g`."""
    return VariantScores(None, {"g": RowScores(segments, systems, Signature(()), higher_is_better)})


def test_ties_of_a_distance_are_losses():
    group, scores = ranked([0.2, 0.5, 0.5, 0.1], [0.8, 0.5, 0.9, 0.3])
    signed = of_group(scores, {}, higher_is_better=False).signed("g", group)
    assert question(group, "tau10", 1).value(signed) == pytest.approx(0.5)


def drawn_items(items, resamples, seed):
    """Which items each resample has: the plain way, one index a draw."""
    return np.random.default_rng(seed).integers(items, size=(resamples, items))


@pytest.mark.parametrize("statistic", ["tau10", "tau13", "tau14"])
def test_draws_of_rankings_resample_items_not_pairs(statistic):
    """Each draw counted pair by pair: every pair of an item counts as often as the item was
    drawn.
    """
    random = np.random.default_rng(3)
    better, worse = random.normal(0.3, 1, 80).round(1), random.normal(0, 1, 80).round(1)
    group, scores = ranked(better, worse, [f"{k // 4:02}" for k in range(80)])
    asked = question(group, statistic, 1)
    assert (asked.n, asked.items) == (80, 20)
    (found,) = draw_values(asked, [scores], resamples=50, seed=9)
    for row, value in zip(drawn_items(20, 50, 9), found, strict=True):
        wins = losses = ties = 0
        for item in row:
            for k in range(4 * item, 4 * item + 4):
                wins, losses = wins + (better[k] > worse[k]), losses + (better[k] < worse[k])
                ties += better[k] == worse[k]
        lost = {"tau10": ties, "tau13": 0, "tau14": 0}[statistic]
        counted = {"tau10": ties, "tau13": 0, "tau14": ties}[statistic]
        assert value == pytest.approx((wins - losses - lost) / (wins + losses + counted))


@pytest.mark.parametrize(
    ("statistic", "expected"),
    [
        ("pearson", reference.pearsonr),
        ("kendall", reference.kendalltau),
        ("spearman", reference.spearmanr),
    ],
)
def test_draws_of_scores_are_scipy_s_values_on_the_drawn_items(statistic, expected):
    random = np.random.default_rng(5)
    human = random.normal(size=40)
    metric = human + random.normal(size=40)
    (found,) = draw_values(question(rated(human), statistic, 1), [metric], resamples=100, seed=4)
    plain = [expected(human[row], metric[row]).statistic for row in drawn_items(40, 100, 4)]
    assert found == pytest.approx(plain)
    assert percentiles(found, 0.9) == pytest.approx(tuple(np.quantile(plain, [0.05, 0.95])))


def test_lower_human_scores_can_be_better():
    human = [1.0, 2.0, 3.0, 5.0]
    assert question(rated(human), "pearson", -1).value(-np.array(human)) == pytest.approx(1.0)


def test_systems_are_compared_by_name():
    group = Group((), systems={"b": 2.0, "a": 1.0, "c": 3.0})
    scores = of_group(np.empty(0), {"a": -1.0, "b": -2.0, "c": -3.0}, higher_is_better=False)
    signed = scores.signed("g", group)
    assert signed.tolist() == [2.0, 1.0, 3.0]
    assert question(group, "pearson", 1).value(signed) == pytest.approx(1.0)


def test_names_of_statistics():
    assert named("darr", "rankings") == "tau10"
    assert named("Tau-B", "scores") == "kendall"
    with pytest.raises(InvalidSetting, match="needs human scores"):
        named("pearson", "rankings")
    with pytest.raises(UnknownName, match="did you mean pearson"):
        named("pearsn", "scores")


def column_of(asked, scores, resamples, seed):
    """A column of variants with these scores."""
    drawn = draw_values(asked, scores, resamples=resamples, seed=seed)
    return Column(np.array([asked.value(one) for one in scores]), drawn, asked.n, asked, scores)


def three_metrics(n=300, seed=1):
    """Two metrics that are nearly the same, and one that is worse, with a column of their
    values.
    """
    random = np.random.default_rng(seed)
    human = random.normal(size=n)
    noise = random.normal(size=(2, n))
    scores = [
        human + 0.5 * noise[0],
        human + 0.5 * noise[0] + 0.05 * noise[1],
        human + 3 * noise[1],
    ]
    return human, scores, column_of(question(rated(human), "pearson", 1), scores, 300, 1)


def test_every_two_metrics_are_compared_because_the_best_is_chosen_on_the_data():
    column = three_metrics()[2]
    found = standing(column)
    assert (found.best, found.test, found.correction) == (
        int(np.argmax(column.values)),
        BOOTSTRAP,
        "max-T",
    )
    assert (
        sorted(found.mark(k, 0.05) for k in range(2)) == ["best", "tied"]
        and found.mark(2, 0.05) == ""
    )
    assert found.p_values[2] == pytest.approx(1 / 301)
    mean = standing(Column(column.values, column.draws, 300))
    assert mean.p_values.tolist() == found.p_values.tolist()


def test_williams_test_is_two_sided_and_corrected_over_all_pairs():
    human, scores, column = three_metrics()
    found = standing(column, test_name="williams")
    assert (found.test, found.correction) == (WILLIAMS, "Holm")
    pairs = [(0, 1), (0, 2), (1, 2)]
    plain = [williams_scores(human, scores[i], scores[j]).p_value for i, j in pairs]
    corrected = holm([2 * min(p, 1 - p) for p in plain])
    assert found.p_values[1 - found.best] == pytest.approx(corrected[0])
    assert found.p_values[2] == pytest.approx(corrected[pairs.index((found.best, 2))])


def test_few_false_claims_are_made_of_equal_metrics():
    """The chance of any false claim among five exchangeable metrics; the bar is .06, three standard
    errors allowed.
    """
    claims = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        human, shared = random.normal(size=100), random.normal(size=100)
        scores = [0.8 * human + 0.6 * shared + 0.7 * random.normal(size=100) for _ in range(5)]
        found = standing(column_of(question(rated(human), "pearson", 1), scores, 200, seed))
        claims += any(found.mark(k, 0.05) == "" for k in range(5))
    assert claims / 200 <= 0.06 + 3 * (0.06 * 0.94 / 200) ** 0.5


def test_outputs_of_one_source_are_resampled_together():
    random = np.random.default_rng(3)
    items = np.repeat(np.arange(20), 8)
    effect = random.normal(size=(2, 20))[:, items]
    human, score = effect[0] + 0.3 * random.normal(size=160), effect[0] + effect[1]
    widths = {}
    for name, ids in {"item": items, "output": np.arange(160)}.items():
        segments = tuple(Segment(str(k), f"h{i}", ("r",)) for i, k in enumerate(ids.tolist()))
        asked = question(Group(segments, scores=human), "pearson", 1)
        low, high = percentiles(draw_values(asked, [score], resamples=300, seed=1)[0], 0.95)
        widths[name] = high - low
        assert asked.items == len(set(ids.tolist()))
    assert widths["item"] > 2 * widths["output"]


@pytest.mark.parametrize("same", ["source", "references"])
def test_a_shared_source_or_list_of_references_makes_one_item(same):
    rows = []
    for k in range(12):
        source = f"source {k // 3}" if same == "source" else None
        references = (f"r{k // 3}", f"s{k // 3}") if same == "references" else (f"r{k}",)
        rows.append(Segment(str(k), f"h{k}", references, source=source))
    asked = question(Group(tuple(rows), scores=np.arange(12.0)), "pearson", 1)
    assert asked.items == 4 and asked.item_of.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]


def test_groups_of_one_item_are_resampled_for_the_mean():
    """TAC 2008 has a topic per group: what varies is the topic."""
    random = np.random.default_rng(4)
    columns = {}
    for name in "abcdef":
        human = random.normal(size=9)
        segments = tuple(Segment(name, f"h{k}", ("r", "s")) for k in range(9))
        asked = question(Group(segments, scores=human), "pearson", 1)
        assert asked.single_item and asked.items == 9
        scores = [human + random.normal(size=9), human + random.normal(size=9)]
        columns[name] = column_of(asked, scores, 200, 1)
    mean = AgreementTable("pearson", columns, np.full(6, 1 / 6), {}).mean
    values = np.stack([one.values for one in columns.values()])
    assert mean.draws.shape == (2, 200) and mean.items == 6
    assert (mean.draws >= values.min(0)[:, None]).all() and (
        mean.draws <= values.max(0)[:, None]
    ).all()


def test_the_same_metric_twice_is_tied():
    human = np.arange(20.0)
    score = human + np.tile([1.0, -1.0], 10)
    asked = question(rated(human), "pearson", 1)
    found = standing(column_of(asked, [score, 2 * score + 3], 50, 0))
    assert sorted(found.mark(k, 0.05) for k in range(2)) == ["best", "tied"]


def test_other_tests_can_be_asked_for_where_they_fit():
    random = np.random.default_rng(8)
    human = random.normal(size=30)
    scores = [human + random.normal(size=30) * 0.3, human + random.normal(size=30) * 2]
    asked = question(rated(human), "kendall", 1)
    column = column_of(asked, scores, 99, 1)
    found = standing(column, test_name="perm-both", seed=6)
    expected = perm_both(
        human, *scores, statistic="kendall", resamples=99, seed=6, two_sided=True
    ).p_value
    assert (found.test, found.p_values[1]) == (PERM_BOTH, expected)
    with pytest.raises(InvalidSetting, match="Williams' test is for"):
        standing(column, test_name="williams")
    together = Group(tuple(Segment(str(k // 3), "h", ("r",)) for k in range(30)), scores=human)
    shared = column_of(question(together, "pearson", 1), scores, 99, 6)
    with pytest.raises(InvalidSetting, match="30 are of 10 source items"):
        standing(shared, test_name="williams")
    swapped = perm_both(
        human, *scores, resamples=99, seed=6, two_sided=True, items=np.arange(30) // 3
    ).p_value
    assert standing(shared, test_name="perm-both", seed=6).p_values[1] == swapped
    group, ranks = ranked([0.9, 0.5], [0.8, 0.7])
    rankings = question(group, "tau10", 1)
    with pytest.raises(InvalidSetting, match="rankings"):
        standing(
            Column(np.zeros(2), np.zeros((2, 9)), 2, rankings, [ranks, ranks]),
            test_name="perm-both",
        )
    with pytest.raises(InvalidSetting, match="one of auto"):
        standing(column, test_name="luck")
