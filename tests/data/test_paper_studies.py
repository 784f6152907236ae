"""Parts of the studies of the papers' claims that no model is needed for, computed again."""

import paper_measures as measures
import pytest
from make_paper_studies import make_arguments, read_plan, read_study

from monge.evaluation import Setup, Task

PAIRS = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")


def test_good_and_bad_texts_are_told_apart_as_kept(data_dir, monkeypatch):
    monkeypatch.setattr(measures, "RESAMPLES", 100)
    kept = {figure["label"]: figure for figure in read_study("distributions")["figures"]}
    dataset = measures.open_tokenised(str(data_dir), PAIRS)
    scores = measures.score(dataset, {"sentBLEU": "sentbleu"}, Setup(), None)
    for half, high in (("r on the low half", False), ("r on the high half", True)):
        judged, places = measures.halve(dataset, high=high)
        rows = {"sentBLEU": measures.select(judged, scores["sentBLEU"], places)}
        table = measures.tabulate(judged, rows, "pearson")
        assert table.mean.values[0] == pytest.approx(kept["sentBLEU"][half][0], abs=1e-6)
    value, draws = measures.tell_apart(dataset, scores["sentBLEU"])
    known, low, high = kept["sentBLEU"]["told apart"]
    assert value == pytest.approx(known, abs=1e-6)
    assert low - 0.01 < draws.min() and draws.max() < high + 0.03


def test_log_likelihoods_agree_with_people_as_kept(data_dir):
    kept = {row["label"]: row["value"] for row in read_study("log-likelihoods")["figures"]}
    pairs = ["en-de", "en-zh", "ru-en", "ro-en"]
    dataset = Task("mlqe-pe", data_dir, pairs=pairs).open()[0]
    values = [
        measures.np.corrcoef(group.model_scores, group.scores)[0, 1]
        for group in dataset.groups.values()
    ]
    assert sum(values) / 4 == pytest.approx(kept["log-likelihood"], abs=1e-6)


def test_commands_name_directories_of_this_machine_only_when_run():
    arguments = make_arguments(read_plan()["slacks-e5"], "/data", "/models")
    assert arguments[:4] == ["sweep", "wmt18", "--data", "/data"]
    assert arguments[-1] == "/models/e5-small"
    assert not any("/" in word and word.startswith("/") for word in read_plan()["slacks"].split())
