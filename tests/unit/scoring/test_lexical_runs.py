import subprocess
import sys

import pytest

from monge import api
from monge.errors import InvalidSetting, StatisticsMismatch, UnknownName, UsageError
from monge.metrics.presets import resolve
from monge.metrics.signature import parse
from monge.types import Segment

ROWS = [
    Segment(str(k), hypothesis, ("a cat sat on the mat", "the cat sat"), system=system)
    for k in range(2)
    for system, hypothesis in (("one", "the cat sat down"), ("two", "a dog sat on the mat"))
]


def test_mixed_runs_come_system_by_system_in_the_given_order():
    found = api.score_segments([api.load(name) for name in ("chrf", "twmd", "bleu")], ROWS)
    assert [(one.system, one.metric) for one in found] == [
        (system, metric) for system in ("one", "two") for metric in ("chrf", "twmd", "bleu")
    ]
    alone = api.score_segments([api.load("bleu")], ROWS)
    assert [one.score for one in found if one.metric == "bleu"] == [one.score for one in alone]


def test_corpus_score_is_the_library_s_and_its_interval_pools_counts():
    from sacrebleu.metrics.bleu import BLEU

    hypotheses = ["the cat sat down here", "a dog sat on the mat"]
    references = [["the cat sat down there"], ["a dog sat on a mat"]]
    result = api.with_intervals([api.load("bleu").score(hypotheses, references)])[0]
    streams = [[one[0] for one in references]]
    assert result.score == BLEU().corpus_score(hypotheses, streams).score
    assert result.score != result.segments.mean()
    assert result.interval[0] <= result.score <= result.interval[1]


def test_signature_parses_back_and_replays():
    metric = api.load("chrf[char_order=4,lowercase=yes]")
    result = metric.score(["A cat"], ["the cat"])
    said = parse(str(result.signature))
    assert said.spec == metric.spec
    again, fields = api.replay(str(result.signature))
    assert again.spec == metric.spec
    assert fields["nc"] == "4"
    with pytest.raises(StatisticsMismatch, match="version=0"):
        api.score_segments(
            [again], api.segments_of(["a"], ["b"]), expect=[{**fields, "version": "0"}]
        )


@pytest.mark.parametrize(
    ("name", "changes", "error", "says"),
    [
        ("chrg", (), UnknownName, "did you mean chrf"),
        ("chrf", ("layers=3",), InvalidSetting, "no 'layers'"),
        ("chrf[layers=3]", (), UnknownName, "options: beta, char_order"),
        ("chrf[char_order=x]", (), InvalidSetting, "a whole number of at least 1, got 'x'"),
        ("chrf[char_order]", (), InvalidSetting, "OPTION=VALUE"),
        ("cider[corpus=x]", (), UnknownName, "corpus"),
    ],
)
def test_wrong_names_and_settings_are_usage_errors(name, changes, error, says):
    with pytest.raises(error, match=says):
        resolve(name, changes)


def test_there_is_nothing_to_fit_or_explain():
    with pytest.raises(UsageError, match="nothing to explain"):
        api.explain("a", "b", metric="ter")
    with pytest.raises(UsageError, match="nothing to fit"):
        api.fit(["a"], metric="ter")


def test_words_need_no_torch():
    code = (
        "import sys, monge; monge.score(['a cat'], ['the cat'], metric='chrf'); "
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
