"""`compare`: the tests of `stats` on systems, corpus scores by kept counts, speed, the command."""

import json
import time

import numpy as np
import pytest
import sacrebleu
from scipy.stats import ttest_rel

import monge
from monge.cli.app import run
from monge.errors import Misaligned, UsageError
from monge.evaluation import Resampling, compare, compare_scores
from monge.evaluation.verdict import least_segments
from monge.render.table import render_study
from monge.stats.draws import draw_counts

REFERENCES = [
    f"the {a} {b} sat on the {c} mat today"
    for a in ["red", "big", "old"]
    for b in ["cat", "dog"]
    for c in ["new", "wet", "far"]
]
GOOD = [line.replace("today", "now") if k % 4 == 0 else line for k, line in enumerate(REFERENCES)]
FAIR = [
    line.replace("sat on", "stood by") if k % 2 == 0 else line for k, line in enumerate(REFERENCES)
]
BAD = ["a thing was somewhere" if k % 3 else line for k, line in enumerate(REFERENCES)]
SYSTEMS = {"good": GOOD, "fair": FAIR, "bad": BAD}


def test_a_thousand_resamples_of_five_systems_take_less_than_two_seconds_of_the_processor():
    random = np.random.default_rng(0)
    scores = (
        random.normal(size=3000) + random.normal(size=(5, 3000)) * 0.5 + np.arange(5)[:, None] * 0.1
    )
    start = time.thread_time()
    systems, pairs = compare_scores("abcde", scores)
    assert time.thread_time() - start < 2
    assert len(pairs) == 10
    assert [one.cluster for one in systems] == [5, 4, 3, 2, 1]


def test_p_values_are_those_of_the_paired_tests():
    scores = np.random.default_rng(2).normal([[0.0], [0.1], [0.6]], 1, size=(3, 60))
    _, pairs = compare_scores("abc", scores, resampling=Resampling(resamples=4000, seed=7))
    by_t = [ttest_rel(scores[i], scores[j]).pvalue for i, j in ((0, 1), (0, 2), (1, 2))]
    assert by_t[0] > 0.5 and by_t[1] < 0.05
    for method in ("bootstrap", "permutation"):
        p_values = [getattr(pair, method) for pair in pairs]
        assert p_values == pytest.approx(by_t, abs=0.04)
        least, middle, largest = sorted(p_values)
        by_holm = [3 * least, max(3 * least, 2 * middle), max(3 * least, 2 * middle, largest)]
        corrected = sorted(getattr(pair, f"{method}_holm") for pair in pairs)
        assert corrected == pytest.approx(np.minimum(by_holm, 1))


def test_many_systems_get_the_resamples_that_their_pairs_need():
    """The least p of 1,000 resamples, times the 45 pairs of 10 systems, is .045: hardly anything
    could differ.
    """
    random = np.random.default_rng(1)
    lines = [f"{line} {k}" for line in REFERENCES for k in range(3)]
    systems = {
        f"s{s:02d}": [x if random.random() > s / 10 else "a thing" for x in lines]
        for s in range(10)
    }
    found = compare(systems, lines, ["chrf"])
    assert found.resampling.resamples == 10 * 9 / 0.05 and "1800 resamples" in found.resampling.note
    assert max(one.cluster for one in found.standings[0].systems) >= 3
    few = compare(systems, lines, ["chrf"], resampling=Resampling(resamples=500))
    assert few.resampling.resamples == 500 and few.verdict == [
        "Nothing was tested: 500 resamples cannot show any of 45 differences at the level 0.05; "
        "leave --resamples out, or ask for more."
    ]
    assert compare(SYSTEMS, REFERENCES, ["chrf"]).resampling.resamples == 1000
    same = compare(dict.fromkeys(systems, lines), lines, ["chrf"]).verdict
    assert same == ["By chrf, the systems cannot be told apart: all 10 share the first place."]


def test_lower_can_be_better():
    scores = np.random.default_rng(2).normal([[0.0], [2.0]], 1, size=(2, 60))
    systems, _ = compare_scores("ab", scores, higher_is_better=False)
    assert [one.cluster for one in systems] == [1, 2]


@pytest.mark.parametrize("metric", ["bleu", "chrf", "chrf++", "ter"])
def test_corpus_scores_are_the_library_s_and_their_resamples_too(metric):
    found = compare(
        SYSTEMS, REFERENCES, [metric], resampling=Resampling(resamples=40, seed=3)
    ).standings[0]
    scorer = {
        "bleu": sacrebleu.metrics.BLEU(),
        "chrf": sacrebleu.metrics.CHRF(),
        "chrf++": sacrebleu.metrics.CHRF(word_order=2),
        "ter": sacrebleu.metrics.TER(),
    }[metric]
    assert found.of == "corpus score"
    for one in found.systems:
        assert one.score == pytest.approx(
            scorer.corpus_score(SYSTEMS[one.system], [REFERENCES]).score
        )
    n = len(REFERENCES)
    counts = draw_counts(np.arange(n), resamples=40, seed=3).astype(int)
    drawn = [np.repeat(np.arange(n), mine).tolist() for mine in counts.T]
    scores = [
        scorer.corpus_score([BAD[k] for k in row], [[REFERENCES[k] for k in row]]).score
        for row in drawn
    ]
    low, high = np.quantile(scores, [0.025, 0.975])
    assert (found.systems[2].low, found.systems[2].high) == pytest.approx((low, high))


def test_what_a_metric_does_to_texts_is_done_to_those_that_are_counted():
    """chrF that leaves no-break spaces in: its corpus score, from the kept counts as from the
    metric itself.
    """
    odd = [line.replace(" ", "\u00a0", 2) for line in REFERENCES]
    found = compare(
        {"odd": odd, "bad": BAD},
        REFERENCES,
        ["chrf[remove=spaces]"],
        resampling=Resampling(resamples=20),
    )
    expected = monge.score(odd, REFERENCES, metric="chrf[remove=spaces]").score
    assert found.standings[0].systems[0].score == pytest.approx(expected)
    assert expected != pytest.approx(monge.score(odd, REFERENCES, metric="chrf").score)


def test_swapping_outputs_is_swapping_counts():
    texts = {"good": GOOD[:3], "bad": BAD[:3]}
    found = compare(
        texts, REFERENCES[:3], ["chrf"], resampling=Resampling(resamples=8)
    )  # all 2^3 swaps
    (pair,) = found.standings[0].pairs
    scorer = sacrebleu.metrics.CHRF()
    swapped = []
    for bits in range(8):
        one = [BAD[k] if bits >> k & 1 else GOOD[k] for k in range(3)]
        two = [GOOD[k] if bits >> k & 1 else BAD[k] for k in range(3)]
        swapped.append(
            scorer.corpus_score(one, [REFERENCES[:3]]).score
            - scorer.corpus_score(two, [REFERENCES[:3]]).score
        )
    assert pair.difference == pytest.approx(swapped[0])
    assert pair.permutation == sum(abs(one) >= abs(swapped[0]) - 1e-9 for one in swapped) / 8


def test_systems_must_answer_the_same_items():
    with pytest.raises(Misaligned):
        compare({"a": GOOD, "b": BAD[:-1]}, REFERENCES, ["chrf"])
    with pytest.raises(UsageError, match="two systems"):
        compare({"a": GOOD}, REFERENCES, ["chrf"])


def test_it_is_public():
    assert monge.compare is compare
    assert {"compare", "evaluate"} <= set(monge.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = monge.nothing


@pytest.mark.parametrize("form", ["text", "latex", "html", "markdown"])
def test_formats(form):
    found = compare(SYSTEMS, REFERENCES, ["rouge1", "ter"], resampling=Resampling(resamples=100))
    shown = render_study(found, form, version="9")
    assert "good" in shown and f"{found.standings[0].systems[0].score:.3f}" in shown
    assert "Holm" in shown and "seed 12345" in shown and "corpus score" in shown


def test_the_command(tmp_path, capsys):
    for name, lines in {**SYSTEMS, "reference": REFERENCES}.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    files = [word for name in SYSTEMS for word in ("-t", str(tmp_path / name))]
    given = ["compare", *files, "-r", str(tmp_path / "reference"), "-m", "rouge1", "-f", "json"]
    assert run([*given, "--resamples", "200", "--test", "permutation"]) == 0
    found = json.loads(capsys.readouterr().out)
    (result,) = found["results"]
    assert [one["system"] for one in result["systems"]] == list(SYSTEMS)
    assert result["systems"][0]["cluster"] == 1
    assert {"p", "holm"} == set(result["pairs"][0]["bootstrap"])
    assert found["study"] == {
        "seed": 12345,
        "resamples": 200,
        "confidence": 0.95,
        "alpha": 0.05,
        "test": "permutation",
        "correction": "Holm",
        "language": "en",
        "people": [],
    }
    assert run([*given, "--test", "luck"]) == 2
    assert run(["compare", "-t", str(tmp_path / "good"), "-m", "rouge1"]) == 2
    capsys.readouterr()


def test_best_is_marked_only_where_a_test_says_so():
    """Before: the highest score was bold, though the test could not tell it from the next one."""
    apart = compare(
        {"good": REFERENCES, "bad": BAD}, REFERENCES, ["chrf"], resampling=Resampling(resamples=200)
    )
    assert [apart.standings[0].cell(k).mark for k in range(2)] == ["best", ""]
    twins = {"good": GOOD, "twin": [*GOOD[:-1], BAD[1]], "bad": BAD}
    equal = compare(twins, REFERENCES, ["chrf"], resampling=Resampling(resamples=200))
    assert [equal.standings[0].cell(k).mark for k in range(3)] == ["tied", "tied", ""]
    assert "cannot be told apart from the best (paired permutation" in render_study(
        equal, "text", version="1"
    )


@pytest.mark.parametrize(("n", "claims"), [(2, False), (5, False), (6, True), (12, True)])
def test_few_segments_are_tested_exactly(n, claims):
    """Two segments were said to differ by more than chance: bootstrap p .0012, exact p .5."""
    better = np.arange(n) / 100 + 0.5
    systems, pairs = compare_scores(["a", "b"], [better, better - 0.2 - np.arange(n) / 1000],
                                    resampling=Resampling(test="permutation"))  # fmt: skip
    assert pairs[0].permutation == pytest.approx(2 / 2**n if n <= 9 else pairs[0].permutation)
    assert ([one.cluster for one in systems] == [1, 2]) == claims


def test_the_verdict_says_that_there_are_too_few_segments():
    texts = {"a": ["the cat sat", "a dog ran"], "b": ["xx yy", "zz ww"]}
    found = compare(texts, ["the cat sat", "a dog ran"], ["chrf", "rouge1"])
    assert found.resampling.test == "permutation"
    assert found.verdict == [
        "No difference can be shown with 2 segments: the exact test of 1 pair of systems needs at "
        "least 6 at the level "
        "0.05."
    ]
    assert {one.cluster for standings in found.standings for one in standings.systems} == {1}
    asked = compare(
        texts, ["the cat sat", "a dog ran"], ["chrf"], resampling=Resampling(test="bootstrap")
    )
    assert asked.verdict == found.verdict, "the bootstrap may be asked for; the sentence stays"


def test_the_test_changes_where_the_bootstrap_can_be_trusted():
    for n, test in ((29, "permutation"), (30, "bootstrap")):
        texts = [f"text number {k}" for k in range(n)]
        assert compare({"a": texts, "b": texts}, texts, ["chrf"]).resampling.test == test


def test_the_fewest_segments_are_those_at_which_the_exact_test_can_reject():
    for pairs in (1, 3, 45):
        for alpha in (0.05, 0.01):
            n = least_segments(pairs, alpha)
            assert pairs * 2.0 ** (1 - n) <= alpha < pairs * 2.0 ** (2 - n)


def test_people_read_as_many_digits_as_intervals_support_and_programs_read_all():
    systems = {f"{name}.txt": lines for name, lines in SYSTEMS.items()}
    found = compare(systems, REFERENCES, ["chrf", "ter"])
    one, pair = found.standings[0], found.standings[0].pairs[1]
    assert pair.bootstrap == pytest.approx(1 / 1001)  # no draw went so far
    text = render_study(found, "text", version="")
    width = min(system.high - system.low for system in one.systems)
    digits = 1 if width >= 1 else 2
    assert (
        shown := f"{one.systems[0].score:.{digits}f}"
    ) in text and f"{one.systems[0].score:.4f}" not in text
    assert f"[{one.systems[0].low:.{digits}f}, {one.systems[0].high:.{digits}f}]" in text
    assert ".txt" not in text and "≤ .001" in text and "−" in text
    assert all(not cell.startswith("-") for cell in text.split())
    for form in ("markdown", "html", "latex"):
        page = render_study(found, form, version="")
        assert shown in page and "good.txt" not in page
        assert ("$\\leq$ .001" if form == "latex" else "≤ .001") in page and ("−" in page) == (
            form != "latex"
        )
    for form in ("json", "jsonl", "tsv"):
        record = render_study(found, form, version="")
        assert (
            f"{one.systems[0].score:.4f}"[:-1] in record
            and "good.txt" in record
            and "−" not in record
        )
    assert found.verdict[0].startswith("good.txt") and found.told[0].startswith("good is")
