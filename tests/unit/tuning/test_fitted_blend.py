"""Blends that are fitted on human scores: known weights come back, and what cannot be is refused."""

import json

import numpy as np
import pytest

import monge
from monge import api
from monge.errors import DataError, InvalidSetting, MongeError, UnknownName, UsageError
from monge.metrics.blend_file import read_blend
from monge.tuning import BlendPlan, Plan, Schedule, fit_blend, tune
from monge.tuning.blend_plan import HELD_OUT

WORDS = ["the", "cat", "dog", "sat", "ran", "on", "mat", "house", "river", "bridge", "small", "old"]


def texts(n=240, seed=3):
    """Pairs of texts that are more and less alike; each item has two outputs."""
    random = np.random.default_rng(seed)
    pairs = []
    for item in range(n // 2):
        reference = [str(word) for word in random.choice(WORDS, 8)] + [f"n{item}"]
        for _ in range(2):
            keep = random.random()
            words = [w if random.random() < keep else str(random.choice(WORDS)) for w in reference]
            pairs.append((" ".join(words), " ".join(reference)))
    return pairs


def write_table(path, pairs, human):
    rows = [f"{h}\t{r}\t{float(s)!r}" for (h, r), s in zip(pairs, human, strict=True)]
    path.write_text("hypothesis\treference\thuman\n" + "\n".join(rows) + "\n")
    return path


def standardised(name, pairs):
    result = api.load(name).score(*map(list, zip(*pairs, strict=True)))
    sign = 1 if result.higher_is_better else -1
    return sign * (result.segments - result.segments.mean()) / result.segments.std()


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    """Judgements that are .7 of chrF and .3 of TER, both standardised, and a little noise."""
    pairs = texts()
    human = 0.7 * standardised("chrf", pairs) + 0.3 * standardised("ter", pairs)
    human = human + np.random.default_rng(1).normal(0, 0.05, len(human))
    return write_table(tmp_path_factory.mktemp("known") / "known.tsv", pairs, human)


@pytest.fixture
def plan(known):
    return BlendPlan(["chrf", "ter"], "table", known)


def changed(plan, **fields):
    from dataclasses import replace

    return replace(plan, **fields)


def test_known_weights_come_back_and_the_blend_beats_its_members(plan, tmp_path):
    fitted = fit_blend(plan, tmp_path / "known.json")
    weights = {name: member["weight"] for name, member in fitted.card["members"].items()}
    ratio = weights["ter"] / weights["chrf"]
    assert ratio == pytest.approx(0.3 / 0.7, abs=0.02)
    validated = fitted.card["cross_validation"]
    assert validated["beats_best_member"] and validated["best_member"] == "chrf"
    assert validated["agreement"]["blend"]["value"] > 0.99
    low, high = validated["agreement"]["blend"]["interval"]
    assert low < validated["agreement"]["blend"]["value"] < high
    assert "agrees better with people than its best member, chrf: +" in validated["verdict"]
    assert validated["items"] == 120


def test_the_file_is_a_metric_whose_scores_are_the_human_ones(plan, known, tmp_path):
    fitted = fit_blend(plan, tmp_path / "known.json")
    metric = fitted.load()
    rows = [line.split("\t") for line in known.read_text().splitlines()[1:]]
    result = metric.score([row[0] for row in rows], [row[1] for row in rows])
    human = np.array([float(row[2]) for row in rows])
    assert np.corrcoef(result.segments, human)[0, 1] > 0.99
    assert str(result.signature).replace("nrefs:1", "") == fitted.card["signature"].replace(
        "nrefs:1", ""
    )
    assert fitted.card["command"] == "monge tune blend -m chrf -m ter --train table --data DIR"
    again = fit_blend(plan, tmp_path / "again.json").card
    assert {**again, "name": "", "signature": ""} == {**fitted.card, "name": "", "signature": ""}


def test_the_card_is_shown(plan, tmp_path, capsys):
    fit_blend(plan, tmp_path / "known.json")
    monge.show(str(tmp_path / "known.json"))
    shown = capsys.readouterr().out
    for text in ("known: a blend fitted on human scores", "240 judgements in 120 sets", "chrf",
                 "blend minus this", "monge tune blend -m chrf -m ter", "known|linear|"):  # fmt: skip
        assert text in shown


def test_a_member_that_adds_nothing_is_told_plainly(known, tmp_path):
    pairs = texts()
    table = write_table(tmp_path / "chrf.tsv", pairs, standardised("chrf", pairs))
    fitted = fit_blend(BlendPlan(["chrf", "ter"], "table", table), tmp_path / "b.json")
    validated = fitted.card["cross_validation"]
    assert not validated["beats_best_member"]
    assert validated["verdict"].startswith("The blend does not beat its best member, chrf: ")


def test_negative_weights_only_if_signed(tmp_path):
    pairs = texts()
    human = standardised("chrf", pairs) - 0.5 * standardised("ter", pairs)
    table = write_table(tmp_path / "signed.tsv", pairs, human)
    plan = BlendPlan(["chrf", "ter"], "table", table)
    weight = fit_blend(plan, tmp_path / "a.json").card["members"]["ter"]["weight"]
    signed = fit_blend(changed(plan, signed=True), tmp_path / "b.json").card["members"]["ter"]
    assert weight == 0
    assert signed["weight"] == pytest.approx(-0.5 / human.std(), abs=0.02)
    assert (
        fit_blend(changed(plan, signed=True), tmp_path / "b.json")
        .card["command"]
        .endswith("--signed")
    )
    disliked = write_table(tmp_path / "bad.tsv", pairs, -standardised("chrf", pairs))
    with pytest.raises(DataError, match="no member agrees with the human scores of table"):
        fit_blend(changed(plan, data=disliked), tmp_path / "c.json")


def test_vectors_and_words_with_settings_and_a_model_of_their_own(known, tiny_bert, tmp_path):
    plan = BlendPlan(
        ["twmd", "chrf++[beta=1]", "sbert"],
        "table",
        known,
        model=str(tiny_bert),
        settings=("layers=3",),
        pairs=None,
    )
    fitted = fit_blend(plan, tmp_path / "mixed.json")
    members = fitted.card["members"]
    assert list(members) == ["twmd", "chrf++", "sbert"]
    assert members["twmd"]["settings"]["layers"] == "3"
    assert members["chrf++"]["settings"]["beta"] == "1" and members["chrf++"]["model"] is None
    assert members["twmd"]["settings"]["encoder"].startswith(f"model={tiny_bert}")
    result = fitted.load().score(["the cat sat"], ["the dog sat"])
    again, _ = api.replay(str(result.signature), model=str(tiny_bert))
    assert again.score(["the cat sat"], ["the dog sat"]).score == pytest.approx(result.score)


def test_the_same_metric_with_two_settings_is_two_members(known, tmp_path):
    plan = BlendPlan(["chrf", "chrf[beta=1]"], "table", known)
    fitted = fit_blend(plan, tmp_path / "two.json")
    assert list(fitted.card["members"]) == ["chrf", "chrf-no2"]
    assert read_blend(str(fitted.path)).spec.members["chrf-no2"].options["beta"] == 1


def test_agreement_on_other_data_is_reported(plan, known, tmp_path, monkeypatch):
    """Judgements that share a text with the other data are left out of the fit."""
    from monge.tuning import blend

    pairs = texts(60, seed=9) + texts()[:10]
    other = write_table(tmp_path / "other.tsv", pairs, standardised("chrf", pairs))
    opened, read = [], blend._open_scores

    def open_scores(lesson, own_plan):
        opened.append(lesson.data)
        where = other if lesson.data == "stsb" else known
        return read(blend.Lesson("table"), changed(own_plan, data=where))

    monkeypatch.setattr(blend, "_open_scores", open_scores)
    fitted = fit_blend(changed(plan, dev="stsb"), tmp_path / "known.json")
    assert opened == ["table", "stsb"]
    tested = fitted.card["tested_on"]
    assert tested["judgements"] == 70
    assert fitted.card["cross_validation"]["judgements"] < 240
    assert tested["agreement"]["chrf"]["value"] == pytest.approx(1.0)
    assert "blend_minus_this" in tested["agreement"]["ter"]


@pytest.mark.parametrize(
    ("fields", "kind", "message"),
    [
        ({"metrics": ["chrf"]}, UsageError, "two members or more .*got chrf"),
        ({"metrics": []}, UsageError, "got none"),
        ({"metrics": ["chrf", "chrf"]}, UsageError, "chrf is given twice"),
        ({"metrics": ["chrf", "chrff"]}, UnknownName, "unknown metric 'chrff'; did you mean chrf"),
        ({"metrics": ["chrf", "sentsim"]}, UsageError, "sentsim cannot be a member of a blend"),
        ({"metrics": ["chrf", "xmoverscore"]}, UsageError, "compares with the source"),
        ({"folds": 1}, InvalidSetting, "--folds takes a whole number of at least 2, got 1"),
        ({"folds": 200}, DataError, "120 sets that share no text, too few for 200 folds"),
        ({"rows": "some"}, InvalidSetting, "--rows takes all, held-out, got 'some'"),
        ({"rows": HELD_OUT}, InvalidSetting, "no member has one"),
        ({"lessons": ()}, InvalidSetting, "nothing to fit on"),
        ({"lessons": "rank:table"}, InvalidSetting, "fitted on human scores, all of the same"),
        ({"lessons": "table*2"}, InvalidSetting, "all of the same weight"),
        ({"dev": "table"}, InvalidSetting, "the weights are fitted on table"),
        ({"scores": ("bleu=x.txt",)}, UnknownName, "unknown member 'bleu'"),
        ({"settings": ("layers=3",)}, InvalidSetting, "none of chrf, ter has 'layers'"),
    ],
)
def test_a_plan_that_makes_no_blend_is_refused(plan, tmp_path, fields, kind, message):
    with pytest.raises(kind, match=message):
        fit_blend(changed(plan, **fields), tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize("name", ["b.toml", "a b.json", "b", ".json"])
def test_the_file_must_be_one_that_a_metric_can_be_named_by(plan, tmp_path, name):
    with pytest.raises(InvalidSetting, match=r"ends in \.json"):
        fit_blend(plan, tmp_path / name)


def test_a_blend_cannot_have_the_name_of_a_metric(plan, tmp_path):
    with pytest.raises(UsageError, match="a metric of monge is called twmd"):
        fit_blend(plan, tmp_path / "twmd.json")
    with pytest.raises(UsageError, match="there is no directory"):
        fit_blend(plan, tmp_path / "none" / "b.json")


def test_too_few_judgements_and_a_constant_member_are_refused(plan, tmp_path):
    pairs = texts(18)
    few = write_table(tmp_path / "few.tsv", pairs, standardised("chrf", pairs))
    with pytest.raises(DataError, match="18 judgements are too few for the weights of 2 members"):
        fit_blend(changed(plan, data=few, folds=3), tmp_path / "b.json")
    strange = [(f"{h.replace(' ', '')}", r) for h, r in texts()]
    table = write_table(tmp_path / "strange.tsv", strange, standardised("chrf", strange))
    with pytest.raises(DataError, match="rouge2 gives all 240 judgements of table the score 0"):
        fit_blend(changed(plan, data=table, metrics=["chrf", "rouge2"]), tmp_path / "b.json")


def test_rankings_are_refused(plan, tmp_path, monkeypatch):
    from monge.tuning import blend

    ranked = blend.Examples("wmt18", (), (), better=np.zeros((0, 2), dtype=np.int64))
    monkeypatch.setattr(blend, "open_lesson", lambda lesson, location: ranked)
    with pytest.raises(InvalidSetting, match="wmt18 has rankings of outputs"):
        fit_blend(changed(plan, lessons="wmt18"), tmp_path / "b.json")


@pytest.fixture(scope="module")
def adapter(known, tiny_bert, tmp_path_factory):
    """An adapter that learned from the same table and held out a quarter of it."""
    folder = tmp_path_factory.mktemp("adapter") / "own"
    schedule = Schedule(epochs=1, batch=32, checks=1)
    tune(
        Plan("twmd", "table", known, dev=0.25, model=str(tiny_bert), settings=("layers=3",),
             schedule=schedule),
        folder,
    )  # fmt: skip
    return folder


def test_rows_that_an_adapter_learned_from_are_refused(plan, adapter, tmp_path):
    member = f"twmd[encoder.model={adapter}]"
    own = changed(plan, metrics=[member, "chrf"])
    with pytest.raises(InvalidSetting, match="learned from table") as refusal:
        fit_blend(own, tmp_path / "b.json")
    for way_out in ("--train", "plain model", "twmd=FILE", "--rows held-out"):
        assert way_out in str(refusal.value)
    fitted = fit_blend(changed(own, rows=HELD_OUT, folds=5), tmp_path / "held.json")
    card = json.loads((adapter / "card.json").read_text())
    assert fitted.card["cross_validation"]["judgements"] == card["held_out"]["judgements"]
    assert "--rows held-out" in fitted.card["command"]


def test_held_out_rows_of_other_data_cannot_be_drawn_again(plan, adapter, tmp_path):
    pairs = texts(60)
    other = write_table(tmp_path / "other.tsv", pairs, standardised("chrf", pairs))
    own = changed(plan, metrics=[f"twmd[encoder.model={adapter}]", "chrf"], rows=HELD_OUT)
    with pytest.raises(DataError, match="the adapter held out 60 judgements, the split of this"):
        fit_blend(changed(own, data=other), tmp_path / "b.json")


def member_of(adapter):
    return f"bertscore[encoder.model={adapter}]"


def test_out_of_fold_scores_stand_for_a_member_with_an_adapter(plan, adapter, known, tmp_path):
    """They are taken in the order of the judgements; the blend then scores with the adapter."""
    rows = [line.split("\t") for line in known.read_text().splitlines()[1:]]
    random = np.random.default_rng(2)
    scores = [float(row[2]) * 0.1 + 0.5 + random.normal(0, 0.05) for row in rows]
    (tmp_path / "oof.txt").write_text("".join(f"{score!r}\n" for score in scores))
    own = changed(
        plan,
        metrics=[f"twmd[encoder.model={adapter}]", "chrf"],
        scores=(f"twmd={tmp_path / 'oof.txt'}",),
    )
    fitted = fit_blend(own, tmp_path / "b.json")
    member = fitted.card["members"]["twmd"]
    assert member["mean"] == pytest.approx(np.mean(scores))
    assert member["deviation"] == pytest.approx(np.std(scores))
    assert "+own" in member["model"]["name"]
    held = fit_blend(changed(own, metrics=[own.metrics[0], member_of(adapter), "chrf"],
                             rows=HELD_OUT, folds=5), tmp_path / "held.json")  # fmt: skip
    assert held.card["cross_validation"]["judgements"] == 60
    assert held.card["members"]["twmd"]["mean"] != pytest.approx(np.mean(scores))
    (tmp_path / "oof.txt").write_text("0.5\n0.4\n")
    with pytest.raises(MongeError):
        fit_blend(own, tmp_path / "c.json")
