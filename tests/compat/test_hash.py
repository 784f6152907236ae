"""`monge signature from-bert-score`: hashes of the package, read as settings."""

from __future__ import annotations

import json

import pytest

from monge.cli.app import run
from monge.compat.bert_score_hash import parse_hash
from monge.errors import StatisticsMismatch
from monge.metrics.presets import resolve


def test_every_hash_that_the_package_makes_is_read(peer_bert_score):
    from bert_score.utils import get_hash

    for idf in (False, True):
        for rescaled, custom in ((False, False), (True, False), (True, True)):
            for fast in (False, True):
                said = parse_hash(
                    get_hash("allenai/scibert_scivocab_uncased", 8, idf, rescaled, custom, fast)
                )
                assert (said.model, said.layer) == ("allenai/scibert_scivocab_uncased", 8)
                assert (said.idf, said.rescaled, said.custom, said.fast) == (
                    idf,
                    rescaled,
                    custom,
                    fast,
                )
                resolve(said.metric, ())  # a metric that there is


def test_the_command_says_what_the_hash_does_not(capsys):
    line = "roberta-large_L17_idf_version=0.3.12(hug_trans=4.30.2)-rescaled"
    assert run(["signature", "from-bert-score", line]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "bertscore@release[layers=17,weights=idf]" in said
    assert "--model roberta-large --rescale --lang LANG" in said
    for untold in (
        "weights of the model",
        "texts that idf was fitted on",
        "language of the baseline",
        "0.3.13 calls itself",
    ):
        assert untold in said
    assert run(["signature", "from-bert-score", "-f", "json", line]) == 0
    assert len(json.loads(capsys.readouterr().out)["untold"]) == 4
    assert run(["signature", "from-bert-score", "metric:twmd"]) == 3
    assert "not a hash of bert-score" in capsys.readouterr().err
    with pytest.raises(StatisticsMismatch):
        parse_hash("roberta-large_L17")
