"""`sensitivity`: hand values, one pass for all settings, seeded corpora, counted fallbacks, words
that must stay.
"""

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from study_tables import write

from monge import api
from monge.cli.app import run
from monge.datasets import Group, Judged, open_dataset
from monge.errors import DataError, InvalidSetting, UnknownName, UsageError
from monge.evaluation import Design, Resampling, Setup, Task, evaluate_task, sensitivity
from monge.evaluation.sensitivity.effects import Contrast, spread_of
from monge.evaluation.sensitivity.factors import Draw, changes, factors
from monge.evaluation.sensitivity.findings import verdict
from monge.evaluation.sensitivity.points import random_corpora
from monge.evaluation.task import languages, sampled
from monge.metrics.presets import resolve
from monge.render.table import render_study
from monge.types import Segment
from monge.types.table import STUDY_FORMATS

FAST = Resampling(resamples=40)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    return write(tmp_path_factory.mktemp("judged") / "judged.tsv", n=12, seed=3)


@pytest.fixture(scope="module")
def studied(table, tiny_bert):
    given = [
        "stopwords,subwords,punctuation,subwords+punctuation",
        "idf=off,references,random:2x6",
        "layers=2,4",
    ]
    return studied_with(table, tiny_bert, ["moverscore", "bertscore"], given)


def studied_with(table, model, metrics, given=(), sample=None, **design):
    """A study of a table with a model."""
    task, setup = Task("table", table, sample=sample), Setup(model=str(model))
    return sensitivity(task, metrics, Design(given, **design), setup=setup, resampling=FAST)


def still(values, r=4):
    """Draws that all say the same."""
    return np.repeat(np.array(values)[:, None], r, axis=1)


SETTINGS = ["a", "b", "c", "d"]
VALUES = np.array([0.70, 0.72, 0.68, 0.71])


@pytest.mark.parametrize(("ddof", "expected"), [(0, 2.1054), (1, 2.4311)])
def test_cv_of_the_worked_example(ddof, expected):
    found = spread_of(SETTINGS, VALUES, still(VALUES), default=0, ddof=ddof, confidence=0.95)
    assert found.cv == pytest.approx(expected, abs=5e-5)


def test_rd_range_and_lead_by_hand():
    found = spread_of(SETTINGS, VALUES, still(VALUES), default=0, ddof=0, confidence=0.95)
    assert (found.best, found.runner_up, found.worst) == ("b", "d", "c")
    assert found.rd == pytest.approx(100 * (0.68 - 0.72) / 0.72)
    assert found.range == pytest.approx(0.04)
    assert found.lead.difference == pytest.approx(0.01) and found.lead.sign == 1
    assert found.lead.rd == pytest.approx(100 * 0.01 / 0.71)


def test_what_has_no_meaning_is_no_number():
    values = np.array([-0.2, 0.1, -0.3, 0.05])
    found = spread_of(SETTINGS, values, still(values), default=0, ddof=0, confidence=0.95)
    assert found.cv is None and found.range == pytest.approx(0.4)
    below = np.array([-0.2, -0.1])
    assert spread_of(["a", "b"], below, still(below), default=0, ddof=0, confidence=0.95).rd is None


def test_of_equal_settings_the_default_is_best_and_leads_by_nothing():
    values = np.array([0.5, 0.5 - 1e-13])
    found = spread_of(["keep", "drop"], values, still(values), default=1, ddof=0, confidence=0.95)
    assert found.best == "drop" and found.lead.sign == 0


def test_a_lead_that_the_resamples_do_not_all_show_is_noise():
    drawn = np.array([[0.6, 0.4, 0.6, 0.4], [0.5, 0.5, 0.5, 0.5]])
    found = spread_of(["a", "b"], np.array([0.51, 0.5]), drawn, default=0, ddof=0, confidence=0.95)
    assert found.best == "a" and found.lead.sign == 0
    assert (
        Contrast(-0.1, -0.2, -0.05, -10.0).sign == -1 and Contrast(0.1, None, None, 1.0).sign == 0
    )


def test_idf_has_a_cv_of_corpora_without_off():
    values = np.array([0.4, 0.70, 0.72, 0.68, 0.71])
    found = spread_of(["off", *SETTINGS], values, still(values), default=0, ddof=0, confidence=0.95)
    assert found.cv_corpora == pytest.approx(2.1054, abs=5e-5) and found.cv > found.cv_corpora


def test_usual_settings_and_named_ones():
    found = {
        one.name: one
        for one in factors(["stopwords,idf,subwords+punctuation", "layers=2..4"], ["en"])
    }
    assert found["stopwords"].settings == ("none", "moverscore", "en")
    assert found["idf"].settings == (
        "off",
        "references",
        "random-1",
        "random-2",
        "random-3",
        "random-4",
    )
    assert found["idf"].draw == Draw(4, 2000, usual=True)
    assert found["subwords+punctuation"].settings[:3] == ("first+keep", "first+drop", "all+keep")
    assert found["layers"].settings == ("2", "3", "4")
    assert factors(["stopwords"], ["ru"])[0].settings == ("none", "ru")
    assert factors(["stopwords"], ["ru", "zh"])[0].settings == ("none", "lang")
    assert [one.name for one in factors([], ["en"])] == [
        "stopwords",
        "idf",
        "subwords",
        "punctuation",
    ]


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ("stopword", UnknownName), ("layers", InvalidSetting), ("subwords,subwords", InvalidSetting),
        ("idf=off,nowhere.txt", InvalidSetting), ("idf=off", InvalidSetting), ("idf=off,random:0x5", InvalidSetting),
        ("stopwords=none", InvalidSetting), (",", InvalidSetting), ("idf+subwords", InvalidSetting),
    ],
)  # fmt: skip
def test_factors_that_are_refused(given, error):
    with pytest.raises(error):
        factors([given], ["en"])


def test_a_language_without_a_list_asks_for_one():
    with pytest.raises(InvalidSetting, match="lv"):
        factors(["stopwords"], ["lv"])


def test_idf_keeps_the_formula_of_a_metric_that_has_one():
    own, other, yisi = (resolve(name)[1] for name in ("moverscore", "bertscore", "yisi-1"))
    assert (
        changes("idf", "off", own, "en") == ("weights=uniform",)
        and changes("idf", "off", other, "en") == ()
    )
    assert changes("idf", "references", other, "en") == ("weights=idf", "weights.corpus=references")
    assert yisi.changed(changes("idf", "random-1", yisi, "en")).weights.name == yisi.weights.name
    assert changes("stopwords", "lang", own, "ru") == ("units.stopwords=ru",)


def test_random_corpora_are_seeded_and_differ(table):
    judged = open_dataset("table", table)
    one = random_corpora(judged, Draw(3, 6), 7)
    assert one == random_corpora(judged, Draw(3, 6), 7), "the same seed, the same corpora"
    assert one["random-1"] == random_corpora(judged, Draw(1, 6), 7)["random-1"], (
        "whatever their number"
    )
    assert one != random_corpora(judged, Draw(3, 6), 8)
    assert len({tuple(texts) for texts in one.values()}) == 3
    pool = {
        text
        for group in judged.groups.values()
        for segment in group.segments
        for text in segment.references
    }
    assert all(len(set(texts)) == 6 and set(texts) <= pool for texts in one.values())
    with pytest.raises(DataError, match="24 distinct"):
        random_corpora(judged, Draw(1, 25), 7)
    assert len(random_corpora(judged, Draw(1, 2000, usual=True), 7)["random-1"]) == 12


def test_every_value_is_what_evaluate_says(studied, table, tiny_bert):
    for metric, setting, change in (
        ("moverscore", "moverscore", "units.stopwords=moverscore"), ("bertscore", "mean", "units.subwords=mean"),
        ("bertscore", "references", "weights=idf"), ("moverscore", "off", "weights=uniform"),
    ):  # fmt: skip
        setup = Setup([change], model=str(tiny_bert))
        alone = evaluate_task(Task("table", table), [metric], setup=setup, resampling=FAST)
        (level,) = [
            one for effect in studied.effects for one in effect.levels
            if effect.metric == metric and one.setting == setting
        ]  # fmt: skip
        for name, figure in alone.agreements[0].groups.items():
            assert level.values[name] == pytest.approx(figure.value, abs=1e-6)
        assert alone.agreements[0].signature in level.signatures


def test_the_default_is_found_or_added(studied):
    named = {(one.factor, one.metric): one.default.setting for one in studied.effects}
    assert named["subwords", "moverscore"] == "first" and named["subwords", "bertscore"] == "all"
    assert named["idf", "moverscore"] == "references" and named["idf", "bertscore"] == "off"
    assert named["layers", "moverscore"] == "own"
    for one in studied.effects:
        assert all(each.difference == 0 for each in one.default.versus.values())


def test_one_encoding_pass_a_group(studied, table, tiny_bert, monkeypatch):
    calls = []
    score = api.score_segments
    monkeypatch.setattr(
        api,
        "score_segments",
        lambda metrics, *a, **k: calls.append(len(metrics)) or score(metrics, *a, **k),
    )
    metrics = ["moverscore", "bertscore", "twmd"]
    found = studied_with(table, tiny_bert, metrics, ["stopwords,subwords,punctuation"])
    assert calls == [found.settings] * 2, "two groups, every setting of every metric at once"
    judged = open_dataset("table", table)
    texts = [
        {one.hypothesis for one in group.segments} | {one.references[0] for one in group.segments}
        for group in judged.groups.values()
    ]
    assert found.work["encoded"] <= sum(map(len, texts))
    alone = [
        score([api.load("twmd", model=str(tiny_bert))], g.segments)[0].work
        for g in judged.groups.values()
    ]
    assert found.work["encoded"] == sum(one["encoded"] for one in alone), (
        "no more than one metric alone"
    )
    assert studied.work["encoded"] == found.work["encoded"]


def test_a_full_crossing_answers_whether_the_aggregation_matters(table, tiny_bert):
    metrics, given = ["moverscore", "bertscore"], ["stopwords=none,en", "subwords=first,all"]
    found = studied_with(table, tiny_bert, metrics, given, cross=True)
    for one in found.crossings:
        assert list(one.settings) == ["stopwords", "subwords", "transport"]
        assert sum(one.shares.values()) + one.residual == pytest.approx(1)
        assert 0 <= one.heavier()[0] <= one.heavier()[1] == 2
        assert all(len(best) == 3 for best in one.best.values())
    assert "outweighs the aggregation" in " ".join(found.verdict)
    with pytest.raises(InvalidSetting, match="at most"):
        studied_with(
            table, tiny_bert, ["twmd"], ["layers=0..40", "stopwords,idf,subwords"], cross=True
        )


def test_a_joint_factor_is_taken_apart_in_a_crossing(table, tiny_bert):
    found = studied_with(table, tiny_bert, ["bertscore"], ["subwords+punctuation"], cross=True)
    assert found.crossings[0].settings == {
        "subwords": ("first", "all", "mean"), "punctuation": ("keep", "drop"), "transport": ("onesided", "exact"),
    }  # fmt: skip


def test_the_last_word_before_a_full_stop_stays(tiny_bert):
    """The published code lost it under averaged subwords without punctuation."""
    settings = ["units.subwords=mean", "units.punctuation=drop"]
    for metric in ("moverscore", "bertscore"):
        found = api.explain(
            "the cat sat.", "the dog ran .", metric=metric, model=str(tiny_bert), settings=settings
        )
        for side, last in ((found.hypothesis, "sat"), (found.reference, "ran")):
            words = [word for word in side.units if not word.startswith("[")]
            assert words[-1] == last and "." not in words


def test_texts_without_units_are_counted_never_perfect(tmp_path, tiny_bert):
    path = tmp_path / "judged.tsv"
    rows = [
        ("the of it", "a cat sat on the mat", 0.1),
        ("...", "the dog ran", 0.2),
        ("a dog ran", "the dog ran", 0.9),
        ("cat sat", "the cat sat", 0.8),
        ("it is", "and the", 0.3),
        ("new world", "hello world", 0.6),
    ]
    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerows([("hypothesis", "reference", "human"), *rows])
    found = studied_with(path, tiny_bert, ["bertscore"], ["stopwords=none,en", "punctuation"])
    flagged = {
        (one.factor, level.setting): level.flagged for one in found.effects for level in one.levels
    }
    assert sum(flagged["stopwords", "en"].values()) >= 3 and not flagged["stopwords", "none"]
    assert any("all-filtered" in name for name in flagged["stopwords", "en"])
    assert sum(flagged["punctuation", "drop"].values()) == 1
    assert "all-filtered" in render_study(found, "text", version="9")
    metric = api.load("bertscore", model=str(tiny_bert), settings=["units.stopwords=en"])
    assert metric.score(["the of it"], ["a cat sat on the mat"]).score < 0.999


def test_verdict_counts_what_the_tables_show(studied):
    text = " ".join(studied.verdict)
    for one in studied.of("stopwords"):
        assert f"{one.metric} {one.cv:.2f} %" in text
    worse = sum(
        level.versus[name].difference < -1e-9
        for one in studied.of("stopwords") for level in one.levels for name in studied.groups
    )  # fmt: skip
    sure = sum(
        level.versus[name].sign != 0
        for one in studied.of("stopwords") for level in one.levels if not level.default for name in studied.groups
    )  # fmt: skip
    told = verdict(studied.of("stopwords"), (), "pearson")[0]
    said = f"Of 8 comparisons of another setting with the default, {worse} are for the worse"
    assert (
        said in told
        if sure
        else "differs from the default by more than noise (8 comparisons)" in told
    )


@pytest.mark.parametrize("form", STUDY_FORMATS)
def test_formats(studied, form):
    shown = render_study(studied, form, version="9", key="sensitivity")
    assert "subwords+punctuation" in shown and "random-2" in shown
    if form == "json":
        found = json.loads(shown)["sensitivity"]
        assert found["ddof"] == 0 and found["work"]["encoded"] and len(found["effects"]) == 12
        assert found["stopwords"][0] == {"name": "moverscore", "words": 153, "digest": "f308c8ef"}
        assert [one["texts"] for one in found["corpora"]] == [6, 6]
    elif form not in ("jsonl", "tsv"):  # records are figures alone
        assert "ddof 0 (population)" in shown and "encoding pass" in shown


def test_languages_come_from_the_groups(tmp_path):
    judged = open_dataset(
        "table", write(tmp_path / "t.tsv", groups=("en-ru", "cs-en", "de-en"), n=3)
    )
    assert languages(judged, None) == {"ru": ["en-ru"], "en": ["cs-en", "de-en"]}
    assert languages(judged, "de") == {"de": ["en-ru", "cs-en", "de-en"]}


def test_groups_of_two_languages_each_with_its_own_list(tmp_path, tiny_bert):
    path = write(tmp_path / "t.tsv", groups=("en-de", "cs-en"), n=8)
    given = ["stopwords", "idf=off,random:1x4"]
    found = studied_with(path, tiny_bert, ["bertscore"], given)
    (level,) = [one for one in found.of("stopwords")[0].levels if one.setting == "lang"]
    assert ["stopwords=de#" in line for line in level.signatures] == [True, False]
    assert [one.name for one in found.lists] == ["de", "en"]
    assert [(one.name, one.language) for one in found.corpora] == [
        ("random-1", "de"),
        ("random-1", "en"),
    ]


def test_a_path_may_name_the_language(tmp_path, tiny_bert):
    path = write(tmp_path / "t.tsv", groups=("en-de", "cs-en"), n=8)
    for language, words in (("de", "quick fox"), ("en", "the a over")):
        (tmp_path / f"mine-{language}.txt").write_text(words)
    given = [f"stopwords=none,{tmp_path}/mine-{{lang}}.txt"]
    found = studied_with(path, tiny_bert, ["bertscore"], given)
    assert [one.words for one in found.lists] == [2, 3]
    assert "mine-{lang}.txt" in render_study(found, "text", version="9")


def test_a_sample_is_seeded_and_keeps_what_was_judged_together(table, tiny_bert, tmp_path):
    judged = open_dataset("table", write(tmp_path / "t.tsv", n=20, systems=("a", "b")))
    some = sampled(judged, 5, 7)
    assert all(
        len({one.id for one in group.segments}) == 5 and group.n == 10
        for group in some.groups.values()
    )
    for name, group in some.groups.items():
        known = dict(zip(judged.groups[name].segments, judged.groups[name].scores, strict=True))
        assert [known[one] for one in group.segments] == group.scores.tolist()
    again = sampled(judged, 5, 7).groups["two"].segments
    assert again == some.groups["two"].segments != sampled(judged, 5, 8).groups["two"].segments
    alone = replace(judged, groups={"two": judged.groups["two"]})
    assert sampled(alone, 5, 7).groups["two"].segments == again, "whatever other groups there are"
    assert sampled(judged, 20, 7).groups["one"] is judged.groups["one"]
    with pytest.raises(InvalidSetting, match="sample"):
        sampled(judged, 1, 7)
    found = studied_with(table, tiny_bert, ["twmd"], ["punctuation"], sample=6)
    assert found.groups == found.segments == {"one": 6, "two": 6} and found.sample == 6
    assert "a sample of 6 source segments" in render_study(found, "text", version="9")


def test_rankings_are_sampled_with_their_texts():
    segments = tuple(
        Segment(str(k // 3), f"text {k}", ("reference",), system="abc"[k % 3]) for k in range(30)
    )
    pairs = np.array([(k, k + 1) for k in range(0, 30, 3)] + [(k + 2, k) for k in range(0, 30, 3)])
    whole = Group(segments, rankings=pairs)
    some = sampled(replace(open_nothing(), groups={"x": whole}), 4, 1).groups["x"]
    assert len(some.segments) == 12 and len(some.rankings) == 8
    before = {(segments[a].hypothesis, segments[b].hypothesis) for a, b in pairs}
    after = [(some.segments[a].hypothesis, some.segments[b].hypothesis) for a, b in some.rankings]
    assert set(after) <= before and all(
        some.segments[a].id == some.segments[b].id for a, b in some.rankings
    )


def open_nothing():
    plain = dict.fromkeys(
        ("dataset", "text", "level", "human", "statistic", "mean", "references", "against"), ""
    )
    return Judged(
        **plain,
        direction=1,
        groups={},
        excluded={},
        warnings=(),
        switches={},
        licence="",
        citation="",
    )


def test_a_study_reads_back_from_its_json(studied, table, tiny_bert):
    crossed = studied_with(table, tiny_bert, ["twmd"], ["subwords=first,all"], cross=True)
    for found in (studied, crossed):
        back = type(found).from_dict(json.loads(json.dumps(found.to_dict())))
        assert back.to_dict() == found.to_dict() and back.verdict == found.verdict


def test_refusals(table):
    with pytest.raises(UsageError, match="no transport metric"):
        sensitivity(Task("table", table), ["chrf"])
    with pytest.raises(InvalidSetting, match="ddof"):
        Design(ddof=2)
    with pytest.raises(UsageError):
        sensitivity(Task("table", table), ["emd"], Design(["transport.temperature=0.1,0.2"]))


def test_the_command(table, tiny_bert, tmp_path, capsys):
    words = tmp_path / "mine.txt"
    words.write_text("the quick brown\n")
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("the cat sat\na dog ran\nhello world\n")
    given = [
        "sensitivity",
        "table",
        "--data",
        str(table),
        "-m",
        "bertscore",
        "--model",
        str(tiny_bert),
    ]
    given += [
        "--resamples",
        "40",
        "--factor",
        f"stopwords=none,en,{words}",
        "--factor",
        f"idf=off,{corpus}",
    ]
    assert (
        run([*given, "--ddof", "1", "--cross", "--figures", str(tmp_path / "figures"), "-q"]) == 0
    )
    shown = capsys.readouterr().out
    assert "mine.txt: 3 words, #" in shown and "corpus.txt" in shown and "ddof 1 (sample)" in shown
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    assert names == {f"sensitivity-{name}.svg" for name in ("cv", "rd", "shares")}
    assert (
        run([*given, "--sample", "6", "-q"]) == 0
        and "a sample of 6 source segments" in capsys.readouterr().out
    )
    assert (
        run([*given, "--level", "nonsense"]) == 2 and run([*given, "--figure-format", "gif"]) == 2
    )


def test_a_corpus_may_have_the_language_in_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for language in ("de", "en"):
        (tmp_path / f"corpus-{language}.txt").write_text("a b\nc d\n")
    (found,) = factors(["idf=off,corpus-{lang}.txt"], ["en", "de"])
    assert found.settings == ("off", "corpus-{lang}.txt")
    spec = resolve("moverscore")[1]
    assert changes("idf", "corpus-{lang}.txt", spec, "de")[-1] == "weights.corpus=corpus-de.txt"
    with pytest.raises(InvalidSetting, match=r"corpus-\{lang\}"):
        factors(["idf=off,corpus-{lang}.txt"], ["en", "fi"])
