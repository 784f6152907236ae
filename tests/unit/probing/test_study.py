"""The study of `monge probe`: metrics with known answers, shares, falls, order, ties, tables."""

import json
from dataclasses import replace

import numpy as np
import pytest
from probe_texts import make_texts

import monge
from monge.datasets.segment_scores import given_scores
from monge.errors import DataError, UsageError
from monge.evaluation import Resampling, load_variants
from monge.metrics.signature import Signature
from monge.probing.challenge import (
    ORIGINAL,
    REFERENCE_TEXTS,
    Challenge,
    example_texts,
    make_challenge,
    write_challenge,
)
from monge.probing.probe_result import probe_result_of
from monge.probing.probe_tables import heat_map, list_catalogue, make_sentences
from monge.probing.spreads import kept_spread, spread_key
from monge.probing.study import probe_challenge, wilson_interval
from monge.render.table import render_study
from monge.types import Segment

RESAMPLING = Resampling(resamples=200)


def challenge_of(kinds, texts=None, **more):
    texts = make_texts()[:60] if texts is None else texts
    rows = [Segment(str(k), text, (text,), f"Quelle {k}") for k, text in enumerate(texts, 1)]
    return make_challenge(rows, kinds=kinds, seed=7, **more)


def probe_by(challenge: Challenge, score, tmp_path, name="fake", lower=False):
    """The study of a fake metric, a function of text and reference, through a file of scores."""
    lines = [f"{score(row.hypothesis, row.references[0])!r}\n" for row in challenge.rows]
    (tmp_path / "scores.txt").write_text("".join(lines))
    option = f"{name}={tmp_path / 'scores.txt'}{',lower' * lower}"
    result = probe_challenge(challenge, (), scores=given_scores([option]), resampling=RESAMPLING)
    return result.metrics[0]


def count_digits(text):
    return sum(character.isdigit() for character in text)


def test_a_metric_that_counts_digits_sees_digits_and_nothing_else(tmp_path):
    challenge = challenge_of(["magnitude", "typo", "empty", "spacing"])
    metric = probe_by(challenge, lambda a, b: float(-count_digits(a)), tmp_path)
    magnitude, typo, empty = (metric.of(name) for name in ("magnitude", "typo", "empty"))
    # ten times a number has one digit more; numbers such as million have none
    extra = [
        count_digits(text.text) - count_digits(challenge.originals[text.item].hypothesis)
        for text in challenge.perturbed
        if text.kind.name == "magnitude"
    ]
    assert magnitude.n == len(extra) > 20
    assert magnitude.above == sum(count > 0 for count in extra) > 0
    assert magnitude.fall == pytest.approx(np.mean(extra))
    assert magnitude.ties == extra.count(0)
    assert (typo.n, typo.above, typo.ties, typo.fall) == (60, 0, 60, 0)
    # an empty text has fewer digits, which this metric takes for better
    digits = [count_digits(row.hypothesis) for row in challenge.originals]
    assert empty.above == 0 and empty.ties == digits.count(0)
    assert empty.fall == pytest.approx(-np.mean(digits))
    assert empty.fall_units == pytest.approx(-np.mean(digits) / np.std(digits))


def test_lower_is_better_is_turned_round(tmp_path):
    challenge = challenge_of(["truncated"])
    metric = probe_by(challenge, lambda a, b: abs(len(a) - len(b)), tmp_path, lower=True)
    assert metric.of("truncated").share == 1 and metric.of("truncated").fall > 0
    metric = probe_by(challenge, lambda a, b: abs(len(a) - len(b)), tmp_path)
    assert metric.of("truncated").share == 0 and metric.of("truncated").ties == 0


def test_the_order_by_severity_counts_pairs_of_the_same_text(tmp_path):
    challenge = challenge_of(["empty", "comma-dropped", "double", "spacing"][:2])
    costs = {ORIGINAL: 0.0, "empty": 1.0, "comma-dropped": 2.0}
    systems = iter([row.system for row in challenge.rows])
    metric = probe_by(challenge, lambda a, b: -costs[next(systems)], tmp_path)
    (order,) = metric.orders
    commas = sum(text.kind.name == "comma-dropped" for text in challenge.perturbed)
    assert (order.harsher, order.milder) == ("critical", "minor")
    assert (order.pairs, order.right, order.ties, order.share) == (commas, 0, 0, 0.0)
    assert (order.low, order.high) == (0.0, 0.0)
    costs["comma-dropped"] = 1.0
    systems = iter([row.system for row in challenge.rows])
    (order,) = probe_by(challenge, lambda a, b: -costs[next(systems)], tmp_path).orders
    assert (order.right, order.ties) == (0, commas)
    costs["comma-dropped"] = 0.25
    systems = iter([row.system for row in challenge.rows])
    (order,) = probe_by(challenge, lambda a, b: -costs[next(systems)], tmp_path).orders
    assert (order.right, order.share) == (commas, 1.0)


def test_wilson_intervals_are_those_of_the_formula():
    # Wilson 1927, 15 of 20 at 95 %: the roots of (p - 3/4)^2 = z^2 p (1 - p) / 20
    z = 1.959963984540054
    roots = np.sort(np.roots([1 + z * z / 20, -(1.5 + z * z / 20), 0.75**2]))
    assert wilson_interval(15, 20, 0.95) == pytest.approx(tuple(roots))
    assert wilson_interval(0, 5, 0.95)[0] == 0 and wilson_interval(5, 5, 0.95)[1] == 1


@pytest.mark.filterwarnings("ignore::monge.errors.Unsuited", "ignore::monge.errors.Unused")
def test_metrics_of_every_kind_are_scored_in_one_run():
    names = ["twmd", "chrf", "cider", "sentsim", "wmd"]
    kinds = ["number", "lower-case", "accents-dropped"]
    result = monge.probe(metrics=names, kinds=kinds, sample=12)
    assert [metric.metric for metric in result.metrics] == names
    twmd, chrf, *_, wmd = result.metrics
    assert all(metric.signature.startswith(f"metric:{metric.metric}|") for metric in result.metrics)
    # the embedded model knows small letters only; chrF does not
    assert twmd.of("lower-case").ties == twmd.of("lower-case").n == 12
    assert chrf.of("lower-case").above > 8
    assert not wmd.higher_is_better and wmd.of("number").fall > 0


def test_originals_score_as_they_do_alone():
    challenge = make_challenge(example_texts()[:6], kinds=["typo"], seed=1)
    (variant,) = load_variants(["twmd"])
    result = probe_challenge(challenge, [variant], resampling=RESAMPLING)
    texts = [row.hypothesis for row in challenge.rows]
    alone = monge.score(texts, [row.references for row in challenge.rows], "twmd").segments
    items = [text.item for text in challenge.perturbed]
    falls = alone[items] - alone[6:]
    assert result.metrics[0].of("typo").fall == pytest.approx(falls.mean(), abs=1e-6)
    assert result.metrics[0].of("typo").above == int((falls > 1e-5).sum())


def test_references_alone_are_their_own_good_texts():
    result = monge.probe(references=["It has 12 rooms.", "He came at 5."], metrics=["chrf"])
    assert result.origin == REFERENCE_TEXTS
    metric = result.metrics[0]
    assert metric.spread_source.startswith(("the perturbed texts", "the 3920"))
    assert metric.of("number").share == 1
    with pytest.raises(UsageError, match="without references or sources"):
        monge.probe(["a text"], metrics=["chrf"])
    with pytest.raises(UsageError, match="sources without texts"):
        monge.probe(sources=["a text"], metrics=["chrf"])


def test_kept_spreads_are_found_whatever_the_statistics():
    challenge = make_challenge(example_texts()[:4], kinds=["typo"], seed=1)
    variants = load_variants(["moverscore", "cider", "chrf", "bertscore[encoder.model=mt]"])
    result = probe_challenge(challenge, variants, resampling=RESAMPLING)
    assert {metric.spread_source for metric in result.metrics} == {
        "the 3920 judged pairs of WMT17 into English"
    }
    changed = load_variants(["bertscore[layers=2]"])
    (metric,) = probe_challenge(challenge, changed, resampling=RESAMPLING).metrics
    assert metric.spread_source == "the good texts of this run"
    signature = Signature.parse("metric:x|stats:idf=1234|monge:0.1.0|readout:y")
    assert spread_key(signature) == "metric:x|readout:y" and kept_spread(signature) is None


def test_languages_without_word_lists_leave_kinds_out_and_say_so():
    texts = ["Der Hund schläft seit 3 Stunden.", "Die Katze, die 2 Jahre alt ist, schläft nicht."]
    challenge = challenge_of([], texts, language="de")
    assert "negation-dropped" in challenge.left_out and "typo" not in challenge.left_out
    assert challenge.left_out["antonym"] == "no word lists for the language 'de'"
    guessed = challenge_of(
        [], [f"{text} Das ist nicht die Frage der Zeit, und es ist auch so." for text in texts] * 3
    )
    assert guessed.language == "de"


def test_a_sample_is_drawn_in_order_and_repeats():
    first = challenge_of(["typo"], sample=20)
    numbers = [int(row.id) for row in first.originals]
    assert len(numbers) == 20 and numbers == sorted(numbers) != list(range(1, 21))
    assert first.digest == challenge_of(["typo"], sample=20).digest
    rows = list(first.originals)
    assert make_challenge(rows, kinds=["typo"], seed=8).digest != first.digest


def test_a_text_keeps_its_errors_beside_other_texts():
    texts = make_texts()[:30]
    together = {(t.kind.name, t.item): t.text for t in challenge_of(["minor"], texts).perturbed}
    alone = {(t.kind.name, t.item): t.text for t in challenge_of(["minor"], texts[:5]).perturbed}
    assert alone == {key: text for key, text in together.items() if key[1] < 5}


def test_scores_that_are_no_numbers_are_refused(tmp_path):
    challenge = challenge_of(["typo"], make_texts()[:3])
    values = iter([1.0, 1.0, 1.0, 0.5, 0.5, 0.5])
    metric = probe_by(challenge, lambda a, b: next(values), tmp_path)
    assert metric.of("typo").share == 1
    from monge.evaluation.variant_scores import RowScores
    from monge.probing.study import measure_reaction

    page = RowScores(np.array([1, 1, 1, np.nan, 0, 0]), {}, Signature((("a", "b"),)), True)
    with pytest.raises(DataError, match="no finite score for text 1 of typo"):
        measure_reaction(challenge, "x", "x", page, RESAMPLING)


def test_the_result_is_rebuilt_from_its_json():
    result = monge.probe(metrics=["chrf"], kinds=["number", "typo", "spacing"], sample=20)
    data = json.loads(json.dumps(result.to_dict()))
    again = probe_result_of(data)
    assert again.to_dict() == result.to_dict()
    assert again.sheets() == result.sheets()
    assert data["study"]["seed"] == 12345 and data["study"]["catalogue"] == 1
    assert {row["kind"] for row in result.records()} == {"number", "typo", "spacing"}


def test_sentences_and_tables_name_what_is_missed(tmp_path):
    challenge = challenge_of(["number", "date", "typo", "synonym"])
    blind = probe_by(challenge, lambda a, b: 1.0, tmp_path)
    result = replace(
        probe_challenge(
            challenge,
            (),
            scores=given_scores([f"blind={tmp_path / 'scores.txt'}"]),
            resampling=RESAMPLING,
        )
    )
    assert blind.of("number").ties == blind.of("number").n
    assert make_sentences(result) == [
        "blind does not see a changed number in 100 % or a changed date in 100 % of pairs."
    ]
    text = render_study(result, "text", version="1")
    assert "Ties: the error does not change the score" in text and "catalogue 1" in text
    assert "signature  scores:blind#" in text
    for form in ("tsv", "markdown", "latex", "html", "jsonl"):
        assert "synonym" in render_study(result, form, version="1")


def test_the_heat_map_has_a_cell_per_metric_and_kind():
    result = monge.probe(metrics=["chrf", "ter"], kinds=["number", "typo", "spacing"], sample=20)
    grid = heat_map(result)
    assert grid.columns == ("chrf", "ter")
    assert grid.rows[-1] == "spacing (neutral)"
    svg = grid.svg()
    assert svg.startswith("<svg ") and svg.count('<rect class="mg-c') == 6
    chrf = result.metrics[0].of("number")
    assert f"number (critical), chrf: {100 * (1 - chrf.share):.1f} %" in svg
    assert grid.figure().startswith("<figure>")


def test_files_for_other_programs_are_aligned(tmp_path):
    rows = [replace(row, references=(*row.references, "Second.")) for row in example_texts()[:5]]
    challenge = make_challenge(rows, kinds=["typo", "empty"], seed=1)
    paths = write_challenge(challenge, tmp_path / "new" / "folder")
    names = ["texts.txt", "reference.txt", "reference-2.txt", "source.txt", "index.jsonl"]
    assert [path.name for path in paths] == names
    texts, first, second, source, index = (
        path.read_text("utf-8").split("\n")[:-1] for path in paths
    )
    assert len(texts) == len(first) == len(second) == len(source) == len(index) == 15
    for line, record in enumerate(map(json.loads, index), 1):
        assert record["line"] == line
        assert first[line - 1] == first[record["original"] - 1]
        assert (texts[line - 1] == texts[record["original"] - 1]) == (record["system"] == ORIGINAL)
    bad = make_challenge([replace(rows[0], source="two\nlines")], kinds=["typo"], seed=1)
    with pytest.raises(UsageError, match="line break, which source"):
        write_challenge(bad, tmp_path)


def test_the_catalogue_is_listed():
    listing = list_catalogue()
    assert len(listing.to_dict()["kinds"]) == len(listing.sheets()[0].rows) >= 35
