"""TWMD and TRWMD as released, against a reference written loop by loop."""

import numpy as np
import pytest

import monge

from .reference import plain_model, real_pairs

COUNT, TOLERANCE = 80, 5e-6  # two batches of 32 and one of 16


def kept(text, layer):
    """[CLS] stays, the final special goes."""
    return plain_model().layers(text)[layer][:-1]


def unit_rows(rows):
    return np.array([row / np.linalg.norm(row) for row in rows])


def softmax(values):
    shifted = np.exp(values - values.max())
    return shifted / shifted.sum()


def row_value(similarity, temperature, *, relaxed):
    """The authors' "recall": the mean over rows of a plan that meets the row masses, no entropy
    term.
    """
    log_plan = similarity / temperature
    if not relaxed:  # one sweep: columns first, then rows
        columns = np.array([np.logaddexp.reduce(log_plan[:, j]) for j in range(log_plan.shape[1])])
        log_plan = log_plan - columns
    return np.mean([softmax(log_plan[i]) @ similarity[i] for i in range(len(similarity))])


def values(x, y, temperature, relaxed):
    """(candidate side, reference side, harmonic mean), not yet normalised."""
    similarity = x @ y.T
    one = row_value(similarity, temperature, relaxed=relaxed)
    other = row_value(similarity.T, temperature, relaxed=relaxed)
    return np.array([one, other, 2 * one * other / (one + other)])


def reference_scores(hypotheses, references, layer, temperature, *, relaxed, centred):
    scores = []
    for start in range(0, len(hypotheses), 32):
        xs = [kept(text, layer) for text in hypotheses[start : start + 32]]
        ys = [kept(text, layer) for text in references[start : start + 32]]
        if centred:
            mean_x, mean_y = np.concatenate(xs).mean(0), np.concatenate(ys).mean(0)
            xs, ys = [x - mean_x for x in xs], [y - mean_y for y in ys]
        for x, y in zip(xs, ys, strict=True):
            x, y = unit_rows(x), unit_rows(y)
            own = values(x, x, temperature, relaxed) * values(y, y, temperature, relaxed)
            scores.append(values(x, y, temperature, relaxed) / np.sqrt(own))
    return np.array(scores)


@pytest.mark.parametrize(("name", "temperature"), [
    ("twmd@release", 0.02), ("trwmd@release", 0.02), ("twmd-b@release", 0.10), ("trwmd-b@release", 0.15),
])  # fmt: skip
def test_equal_to_the_reference(data_dir, name, temperature, capsys):
    hypotheses, references = real_pairs(data_dir, COUNT)
    metric = monge.load(name)
    ours = metric.score(hypotheses, references)
    theirs = reference_scores(
        hypotheses, references, metric.spec.layers.at, temperature,
        relaxed=name.startswith("tr"), centred="-b" in name,
    )  # fmt: skip
    worst = [
        float(np.abs(ours.parts[part] - theirs[:, k]).max())
        for k, part in enumerate(("precision", "recall", "f1"))
    ]
    with capsys.disabled():
        print(f"\n{name}: largest differences {worst}")
    assert max(worst) <= TOLERANCE
    assert np.array_equal(ours.segments, ours.parts["precision"])
