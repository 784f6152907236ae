"""How well metrics with the embedded model agree with people on WMT17 into English: mean Pearson of seven pairs."""

import numpy as np
import pytest

from monge import api
from monge.data import open_dataset

LEAST = {
    "twmd[transport.temperature=0.1,layers=4]": 0.680,
    "bertscore[layers=6]": 0.655,
    "sbert": 0.604,
    "moverscore@v2": 0.635,
}


@pytest.fixture(scope="module")
def correlations(data_dir):
    """name -> pair -> Pearson; all metrics of a pair share one encoding pass, idf is fitted a pair."""
    judged = open_dataset("wmt17", data_dir, text="tokenised", entities=True)
    pairs = {pair: group for pair, group in judged.groups.items() if pair.endswith("-en")}
    assert len(pairs) == 7
    assert all(group.n == 560 for group in pairs.values())
    metrics = [api.load(name) for name in LEAST]
    found = {name: {} for name in LEAST}
    for pair, group in pairs.items():
        hypotheses = [segment.hypothesis for segment in group.segments]
        references = [segment.references[0] for segment in group.segments]
        assert not [text for text in (*hypotheses, *references) if "&quot;" in text or "&apos;" in text]
        segments = api.segments_of(hypotheses, references)
        for name, result in zip(LEAST, api.score_segments(metrics, segments), strict=True):
            found[name][pair] = np.corrcoef(result.segments, group.scores)[0, 1]
    return found


@pytest.mark.parametrize(("name", "least"), LEAST.items())
def test_agreement_with_people(correlations, name, least, capsys):
    each = correlations[name]
    mean = float(np.mean(list(each.values())))
    with capsys.disabled():
        listed = " ".join(f"{pair} {value:.3f}" for pair, value in sorted(each.items()))
        print(f"\n{name}: mean {mean:.4f} (at least {least}); {listed}")
    assert mean >= least
