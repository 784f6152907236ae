"""mt-metrics-eval: its directory as a data set, its score files, a submission to the WMT metrics
task.

Its own code is not published as a package (the name on PyPI is another's): where MONGE_PEER_TESTS
names a directory with a checkout of it, its `stats` is asked; scipy's correlations and the
definition of pairwise accuracy everywhere.
"""

from __future__ import annotations

import importlib
import shutil
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, pearsonr

import monge
from monge import stats
from monge.cli.app import run
from monge.compat.mt_metrics_eval import (
    TaskKey,
    read_scores,
    read_task_scores,
    submit,
    write_scores,
)
from monge.datasets import open_dataset
from monge.errors import InvalidSetting, Misaligned, UnknownName, Unreadable

PAIR, METRIC = "de-en", "chrf"


@pytest.fixture(scope="module")
def folder(pairs, tmp_path_factory):
    """A small test set in the documented layout: three systems, two references, judgements with
    gaps.
    """
    root = tmp_path_factory.mktemp("data") / "wmt99"
    hypotheses, references = pairs
    systems = {
        "all": hypotheses,
        "half.v2": [text[: len(text) // 2] for text in hypotheses],
        "next": [*hypotheses[1:], hypotheses[0]],
        "refB": [text.upper() for text in references],
    }
    written = {
        f"sources/{PAIR}.txt": references[::-1],
        f"references/{PAIR}.refA.txt": references,
        f"references/{PAIR}.refB.txt": systems["refB"],
        f"documents/{PAIR}.docs": [f"{'news' if k < 3 else 'chat'} doc{k // 3}" for k in range(8)],
        **{f"system-outputs/{PAIR}/{name}.txt": texts for name, texts in systems.items()},
    }
    for name, lines in written.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("".join(f"{line}\n" for line in lines), "utf-8")
    drawn = np.random.default_rng(7).normal(size=(4, 8))
    human = root / "human-scores"
    human.mkdir()
    rows = [
        f"{name}\t{'None' if k == 5 else value}"
        for name, row in zip(systems, drawn, strict=True)
        for k, value in enumerate(row)
    ]
    (human / f"{PAIR}.mqm.seg.score").write_text("\n".join(rows) + "\n")
    (human / f"{PAIR}.mqm.sys.score").write_text(
        "".join(f"{name} {row.mean()}\n" for name, row in zip(systems, drawn, strict=True))
    )
    (human / f"{PAIR}.wmt-z.seg.score").write_text("\n".join(rows[:8]) + "\n")
    return root


@pytest.fixture(scope="module")
def gold(folder):
    return {
        level: read_scores(folder / "human-scores" / f"{PAIR}.mqm.{level}.score")
        for level in ("seg", "sys")
    }


@pytest.fixture(scope="module")
def ours(folder):
    """Segment scores of our metric by system, against refA."""
    (found,) = submit([monge.load(METRIC)], folder, reference="refA").scored
    return found


def test_agreement_is_that_of_the_formulas(folder, gold, ours):
    names = ["all", "half.v2", "next"]  # references are no systems unless asked for
    human = [one for name in names for one in gold["seg"][name]]
    known = [
        (h, m)
        for h, m in zip(human, (s for name in names for s in ours.segments[name]), strict=True)
        if h is not None
    ]
    h, m = np.array(known).T
    task = monge.Task("mt-metrics-eval", folder, statistic=["pearson", "kendall"], human="mqm")
    found = {
        one["statistic"]: one["groups"][PAIR]
        for one in monge.evaluate(task, [METRIC]).to_dict()["results"]
    }
    assert found["pearson"]["n"] == len(known) == 21
    assert found["pearson"]["value"] == pytest.approx(pearsonr(h, m).statistic, abs=1e-9)
    assert found["kendall"]["value"] == pytest.approx(kendalltau(h, m).statistic, abs=1e-9)
    task = monge.Task(
        "mt-metrics-eval", folder, level="system", statistic=["pearson", "pairwise_accuracy"]
    )
    found = {
        one["statistic"]: one["groups"][PAIR]["value"]
        for one in monge.evaluate(task, [METRIC]).to_dict()["results"]
    }
    h, m = (
        np.array([side[name] for name in names], dtype=float).ravel()
        for side in (gold["sys"], ours.systems)
    )
    assert found["pearson"] == pytest.approx(pearsonr(h, m).statistic, abs=1e-9)
    same = [(h[i] > h[j]) == (m[i] > m[j]) for i, j in combinations(range(3), 2)]
    assert found["pairwise_accuracy"] == pytest.approx(np.mean(same), abs=1e-9)


@pytest.fixture(scope="module")
def its_stats(checkout):
    """mt_metrics_eval.stats of a checkout."""
    root = str(checkout("mt-metrics-eval"))
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(root)
        return importlib.import_module("mt_metrics_eval.stats")


def test_agreement_is_that_of_its_own_stats(folder, gold, ours, its_stats):
    names = ["all", "half.v2", "next"]
    asked = its_stats.Correlation(
        len(names),
        [
            one for name in names for one in gold["seg"][name]
        ],  # with None where there is no judgement
        [one for name in names for one in ours.segments[name]],
    )
    expected = {
        "pearson": asked.Pearson()[0],
        "spearman": asked.Spearman()[0],
        "kendall": asked.Kendall()[0],
        "tau23": asked.KendallVariants(variant="23")[0],
        "acc23": asked.KendallVariants(variant="acc23")[0],
    }
    task = monge.Task("mt-metrics-eval", folder, statistic=list(expected), human="mqm")
    found = {
        one["statistic"]: one["groups"][PAIR]["value"]
        for one in monge.evaluate(task, [METRIC]).to_dict()["results"]
    }
    assert found == {name: pytest.approx(value, abs=1e-9) for name, value in expected.items()}
    task = monge.Task("mt-metrics-eval", folder, level="system", statistic="pairwise_accuracy")
    (found,) = monge.evaluate(task, [METRIC]).to_dict()["results"]
    agree, pairs = its_stats.Agreement(
        *(
            [side[name][0] if side is gold["sys"] else side[name] for name in names]
            for side in (gold["sys"], ours.systems)
        )
    )
    assert found["groups"][PAIR]["value"] == pytest.approx(agree / pairs, abs=1e-9)


AVERAGES = {
    "pearson": lambda asked, by: asked.Pearson(by),
    "spearman": lambda asked, by: asked.Spearman(by),
    "kendall": lambda asked, by: asked.Kendall(by),
    "tau23": lambda asked, by: asked.KendallVariants(by, variant="23"),
    "acc23": lambda asked, by: asked.KendallVariants(by, variant="acc23"),
    "acc_eq_calibrated": lambda asked, by: asked.KendallWithTiesOpt(by, sample_rate=1.0),
}


def matrix(seed, systems=5, items=30):
    """Human scores [systems, items], coarse, some NaN, and a metric's, with ties."""
    generator = np.random.default_rng(seed)
    human = generator.integers(-4, 1, (systems, items)).astype(float)
    metric = (human / 4 + generator.normal(size=human.shape)).round(1)
    human[generator.random(human.shape) < 0.2] = np.nan
    return human, metric


def averaged(human, metric, statistic, by):
    """Our mean over items or systems."""
    judged, places = ~np.isnan(human), np.indices(human.shape)
    labels = places[1 if by == "item" else 0][judged]
    return np.nanmean(stats.group_values(statistic, human[judged], metric[judged], labels))


@pytest.mark.parametrize("seed", range(3))
def test_averages_are_those_of_its_own_stats(seed, its_stats):
    human, metric = matrix(seed)
    gold = [None if np.isnan(one) else one for one in human.ravel()]
    asked = its_stats.Correlation(len(human), gold, metric.ravel().tolist())
    for statistic, theirs in AVERAGES.items():
        for by in ("item", "system"):
            expected = theirs(asked, "sys" if by == "system" else by)[0]
            assert averaged(human, metric, statistic, by) == pytest.approx(expected, abs=1e-9), (
                statistic,
                by,
            )


@pytest.mark.parametrize("by", ["item", "system"])
def test_averages_by_hand(by):
    """A loop over items or systems that leaves out what has no value; and every threshold of ties
    tried.
    """
    human, metric = matrix(7)
    rows = list(zip(*((side.T if by == "item" else side) for side in (human, metric)), strict=True))
    kept = [(h[~np.isnan(h)], m[~np.isnan(h)]) for h, m in rows]
    expected = [pearsonr(h, m).statistic for h, m in kept if len(set(h)) > 1 and len(set(m)) > 1]
    assert averaged(human, metric, "pearson", by) == pytest.approx(np.mean(expected), abs=1e-9)

    def accuracy(h, m, epsilon):
        near = [(a, b) for a in range(len(h)) for b in range(a)]
        signs = [
            (np.sign(h[a] - h[b]), 0 if abs(m[a] - m[b]) <= epsilon else np.sign(m[a] - m[b]))
            for a, b in near
        ]
        return np.mean([one == other for one, other in signs])

    steps = {abs(x - y) for _, m in kept for x in m for y in m}
    best = max(np.mean([accuracy(h, m, one) for h, m in kept if len(h) > 1]) for one in steps)
    assert averaged(human, metric, "acc_eq_calibrated", by) == pytest.approx(best, abs=1e-9)


def test_averages_are_asked_for_by_name(folder, ours, gold, capsys):
    asked = ["pearson-by-item", "acc-eq-by-system", "acc_eq_calibrated_by_item", "pearson"]
    task = monge.Task("mt-metrics-eval", folder, statistic=asked, human="mqm")
    found = {
        one["statistic"]: one["groups"][PAIR]
        for one in monge.evaluate(task, [METRIC]).to_dict()["results"]
    }
    assert list(found) == [
        "pearson_by_item",
        "acc23_by_system",
        "acc_eq_calibrated_by_item",
        "pearson",
    ]
    names = ["all", "half.v2", "next"]
    human = np.array(
        [[np.nan if one is None else one for one in gold["seg"][name]] for name in names]
    )
    metric = np.array([ours.segments[name] for name in names])
    expected = averaged(human, metric, "pearson", "item")
    assert found["pearson_by_item"]["value"] == pytest.approx(expected, abs=1e-9)
    assert found["acc23_by_system"]["value"] == pytest.approx(
        averaged(human, metric, "acc23", "system"), abs=1e-9
    )
    for wrong in ("pearson-by-segments", "mae100-by-item", "nothing-by-item"):
        with pytest.raises(InvalidSetting, match="STATISTIC-by-item"):
            monge.evaluate(
                monge.Task("mt-metrics-eval", folder, statistic=wrong, human="mqm"), [METRIC]
            )
    with pytest.raises(InvalidSetting, match="these are systems"):
        task = monge.Task("mt-metrics-eval", folder, level="system", statistic="pearson-by-item")
        monge.evaluate(task, [METRIC])


@pytest.mark.parametrize("seed", range(5))
def test_statistics_with_ties_are_those_of_its_own_stats(seed, its_stats):
    generator = np.random.default_rng(seed)
    human, metric = generator.integers(-5, 1, 60).astype(float), generator.normal(size=60).round(1)
    for name, variant in (("kendall", "b"), ("tau23", "23"), ("acc23", "acc23")):
        expected = its_stats.KendallVariants(human, metric, variant=variant)[0]
        assert stats.STATISTICS[name](human, metric) == pytest.approx(expected, abs=1e-9)
    expected, threshold, _ = its_stats.KendallWithTiesOpt(human, metric, sample_rate=1.0)
    found = stats.calibrate_ties(human, metric)
    assert found.accuracy == pytest.approx(expected, abs=1e-9)
    assert found.epsilon == pytest.approx(threshold, abs=1e-9)
    assert stats.STATISTICS["pearson"](human, metric) == pytest.approx(
        pearsonr(human, metric).statistic, abs=1e-9
    )


def test_how_a_test_set_is_read(folder):
    judged = open_dataset("mt-metrics-eval", folder)
    assert judged.excluded == {"no human score": 3}
    assert "refA of refA, refB is the reference" in judged.warnings[0]
    with_humans = open_dataset(
        "mt-metrics-eval", folder.parent, human_systems=True, test_set="wmt99", reference="refA"
    )
    assert {one.system for one in with_humans.groups[PAIR].segments} == {
        "all",
        "half.v2",
        "next",
        "refB",
    }
    both = open_dataset("mt-metrics-eval", folder, reference="all").groups[PAIR].segments[0]
    assert len(both.references) == 2
    other = open_dataset("mt-metrics-eval", folder, human="wmt-z")
    assert other.n == 7
    assert open_dataset("mt-metrics-eval", folder, human="wmt-z", level="system").groups[
        PAIR
    ].systems.keys() == {"all"}


def test_what_is_wrong_is_named(folder, tmp_path):
    for said, asked in {
        "there are mqm, wmt-z": {"human": "mqn"},
        "references: all, refA, refB": {"reference": "refC"},
    }.items():
        with pytest.raises((Unreadable, UnknownName), match=said):
            open_dataset("mt-metrics-eval", folder, **asked)
    with pytest.raises(Unreadable, match="mt-metrics-eval: no file"):
        open_dataset("mt-metrics-eval", tmp_path)
    file = tmp_path / "x.seg.score"
    file.write_text("sys 0.5\nsys nought\n")
    with pytest.raises(Unreadable, match=r"x.seg.score:2: expected a system and its score"):
        read_scores(file)
    strange = Path(shutil.copytree(folder, tmp_path / "strange"))
    with (strange / "human-scores" / f"{PAIR}.mqm.seg.score").open("a") as file:
        file.write("".join(f"other {k}\n" for k in range(8)))
    with pytest.raises(
        Unreadable, match=r"scores of other, but system-outputs/de-en has no other.txt"
    ):
        open_dataset("mt-metrics-eval", strange)
    bad = Path(shutil.copytree(folder, tmp_path / "copy"))
    (bad / "sources" / f"{PAIR}.txt").write_text("one line\n")
    with pytest.raises(Misaligned, match="has 8 lines, the source has 1"):
        open_dataset("mt-metrics-eval", bad)


def test_blanks_between_system_and_score_may_be_any(tmp_path):
    file = tmp_path / "x.seg.score"
    file.write_text("one\t0.5\none   -1e-3\none \t None\ntwo\t\t3\n")
    assert read_scores(file) == {"one": [0.5, -1e-3, None], "two": [3.0]}


def test_scores_of_documents_and_domains_stand_beside_the_others(folder, tmp_path):
    """The layout has four levels; ours reads segments and systems, and the others must not disturb
    that.
    """
    copy = Path(shutil.copytree(folder, tmp_path / "wmt99"))
    human = copy / "human-scores"
    (human / f"{PAIR}.mqm.doc.score").write_text("".join(f"all\t{k}\n" for k in range(3)))
    (human / f"{PAIR}.mqm.domain.score").write_text("chat all 0.5\nnews all None\n")
    (human / f"{PAIR}.mqm.rater1.seg.score").write_text(
        (human / f"{PAIR}.mqm.seg.score").read_text()
    )
    before, after = (open_dataset("mt-metrics-eval", one, human="mqm") for one in (folder, copy))
    assert after.groups[PAIR].segments == before.groups[PAIR].segments
    assert open_dataset("mt-metrics-eval", copy, human="mqm.rater1").n == before.n


def test_score_files_come_back_as_they_were(tmp_path, ours):
    file = tmp_path / "chrf-refA.seg.score"
    write_scores(file, ours.segments)
    assert read_scores(file) == dict(ours.segments)


def test_a_submission_from_one_command(folder, pairs, tmp_path, capsys):
    assert run(["submit", str(folder), "-m", METRIC, "-m", "ter", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert "ter: lower is better, so its scores are written with their sign turned" in said
    assert "12 files below" in said
    scores = read_scores(tmp_path / "metric-scores" / PAIR / "chrf-refA.seg.score")
    assert list(scores) == [
        "all",
        "half.v2",
        "next",
        "refB",
    ]  # refA is what they were compared with
    expected = monge.score(*pairs, metric=METRIC)
    assert scores["all"] == expected.segments.tolist()
    segments = [line.split("\t") for line in (tmp_path / "chrf.seg.score").read_text().splitlines()]
    assert segments[0] == [
        "chrf",
        PAIR,
        "wmt99",
        "news",
        "doc0",
        "refA",
        "all",
        "1",
        repr(scores["all"][0]),
    ]
    assert len(segments) == 7 * 8  # four systems against refA, three against refB
    systems = [line.split("\t") for line in (tmp_path / "chrf.sys.score").read_text().splitlines()]
    assert systems[0][:6] == ["chrf", PAIR, "wmt99", "all", "refA", "all"]
    assert float(systems[0][6]) == expected.score
    assert {row[3] for row in systems} == {"all", "chat", "news"}
    assert all(
        float(line.split("\t")[-1]) <= 0
        for line in (tmp_path / "ter.seg.score").read_text().splitlines()
    )
    assert run(["submit", str(tmp_path), "-o", str(tmp_path)]) == 1
    assert "no test set of mt-metrics-eval" in capsys.readouterr().err


def test_files_of_the_metrics_task_come_back_as_they_were(folder, ours, tmp_path):
    submit([monge.load(METRIC)], folder).write(tmp_path)
    segments, systems = (
        read_task_scores(tmp_path / f"{METRIC}.{level}.score") for level in ("seg", "sys")
    )
    key = TaskKey(METRIC, PAIR, "wmt99", "all", "refA")
    assert segments[key] == dict(ours.segments)
    assert systems[key] == {name: [score] for name, score in ours.systems.items()}
    assert {one.domain for one in systems} == {"all", "chat", "news"}
    for text, said in {
        "m\tde-en\tw\tall\trefA\tone\tnought": "x.sys.score:1: expected metric",
        "m\tde-en\tw\tall\trefA\tone\t1\nm\tde-en\tw\tall\trefA\tone\t2": "x.sys.score:2: a second "
        "score of one",
        "m\tde-en\tw\tnews\td\trefA\tone\t2\t0.5": "segment 2, expected 1 of one",
    }.items():
        (tmp_path / "x.sys.score").write_text(text + "\n")
        with pytest.raises(Unreadable, match=said):
            read_task_scores(tmp_path / "x.sys.score")
