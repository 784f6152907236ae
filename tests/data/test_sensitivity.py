"""The studies of docs/sensitivity.md: run as planned, and a part of them computed again."""

from __future__ import annotations

import re
from dataclasses import replace

import make_sensitivity as make
import pytest

from monge.evaluation.sensitivity.findings import verdict

STUDY, PAIR = "wmt17-en", "cs-en"
METRICS = ["moverscore", "bertscore"]
FACTORS = ["stopwords=none,moverscore,en", "idf=off,references", "subwords,punctuation"]


def on_the_pair(effect):
    """An effect as a study of one pair alone would have it."""
    levels = tuple(
        replace(one, values={PAIR: one.values[PAIR]}, versus={PAIR: one.versus[PAIR]})
        for one in effect.levels
    )
    return replace(effect, levels=levels, spreads={PAIR: effect.spreads[PAIR]})


def numbers(text):
    return [float(one) for one in re.findall(r"\d+(?:\.\d+)?", text)]


def test_the_short_page_is_short():
    texts = make.make_texts(make.read_plan(), make.read_results())
    assert {path.name: len(text) for path, text in texts.items()}["sensitivity.md"] < 12_000


def test_every_study_of_the_plan_was_run_as_planned():
    planned, kept = make.read_plan()["study"], make.read_results()
    assert [one["name"] for one in planned] == list(kept)
    for one in planned:
        found = kept[one["name"]]
        assert found.metrics == one["metrics"]
        assert list(found.groups) == one["pairs"] or (one["pairs"] == ["*"] and found.groups)
        assert (found.sample, found.level, bool(found.crossings)) == (
            one.get("sample"), one.get("level", "segment"), one.get("cross", False)
        )  # fmt: skip


def test_the_results_are_what_is_computed(data_dir, models_dir, tmp_path):
    planned = make.read_plan()
    study = next(one for one in planned["study"] if one["name"] == STUDY)
    kept = make.read_results()[STUDY]
    study = {**study, "pairs": [PAIR], "metrics": METRICS, "factors": FACTORS}
    make.write_inputs(tmp_path, planned, data_dir, [study])
    found = make.run_study(study, tmp_path, data_dir, models_dir)
    assert (
        found.groups[PAIR] == kept.groups[PAIR]
        and found.work["encoded"] <= 2 * found.segments[PAIR]
    )
    known = {(one.factor, one.metric): one for one in kept.effects}
    for now in found.effects:
        then = on_the_pair(known[now.factor, now.metric])
        before = {one.setting: one for one in then.levels}
        for one in now.levels:
            other = before[one.setting]
            assert one.values[PAIR] == pytest.approx(other.values[PAIR], abs=1e-4)
            mine, theirs = one.versus[PAIR], other.versus[PAIR]
            assert mine.difference == pytest.approx(theirs.difference, abs=5e-4)
            # kept intervals resampled outputs, those made now resample source items with all their
            # outputs
            assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), abs=5e-3)
        if len(now.levels) == len(then.levels):
            one, other = now.spreads[PAIR], then.spreads[PAIR]
            assert (one.best, one.worst) == (other.best, other.worst)
            assert (one.cv, one.rd) == pytest.approx((other.cv, other.rd), abs=0.02)
            said, says = (verdict([each], (), "pearson")[0] for each in (then, on_the_pair(now)))
            assert numbers(says) == pytest.approx(numbers(said), abs=0.011)
