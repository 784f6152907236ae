"""TWMD and TRWMD on the toy problem. The authors' R, P, F are our precision, recall, F."""

import numpy as np
import pytest
import torch
from toy import X2, Y2, X, Y, pair, scored, scored_window

TABLE = [
    (
        "twmd",
        0.02,
        (0.9399597680, 0.9199975760, 0.9298715488),
        (0.9399626134, 0.9200003611, 0.9298743637),
    ),
    (
        "twmd",
        0.10,
        (0.9202645463, 0.9098371021, 0.9150211178),
        (0.9331070729, 0.9225341110, 0.9277904710),
    ),
    (
        "trwmd",
        0.02,
        (0.9799686295, 0.9199821144, 0.9490284047),
        (0.9799715960, 0.9199848994, 0.9490312777),
    ),
    (
        "trwmd",
        0.15,
        (0.9280888056, 0.8964008429, 0.9119696440),
        (0.9614886884, 0.9286603453, 0.9447894335),
    ),
]


def prf(parts):
    return parts["precision"], parts["recall"], parts["f1"]


@pytest.mark.parametrize("profile", ["", "@release"])
@pytest.mark.parametrize(("name", "temperature", "raw", "normalised"), TABLE)
def test_values(name, temperature, raw, normalised, profile):
    change = f"transport.temperature={temperature}"
    assert prf(scored(name + profile, change, "readout=prf")) == pytest.approx(raw, abs=1e-9)
    parts = scored(name + profile, change)
    assert prf(parts) == pytest.approx(normalised, abs=1e-9)
    assert parts["score"] == parts["precision" if profile else "f1"]


def test_default_temperatures():
    assert scored("twmd")["score"] == pytest.approx(0.9277904710, abs=1e-9)
    assert scored("twmd", "transport.temperature=0.02")["score"] == pytest.approx(
        0.9298743637, abs=1e-9
    )
    assert scored("trwmd")["score"] == pytest.approx(0.9490312777, abs=1e-9)


def test_a_text_with_itself_scores_exactly_1():
    """Rank statistics need equal scores to be equal to the last bit: a text with itself had 1 and 1
    - 1e-16.
    """
    generator = np.random.default_rng(1)
    for size in range(1, 30):
        vectors = generator.normal(size=(size, 7))
        assert {scored(name, x=vectors, y=vectors)["score"] for name in ("twmd", "trwmd")} == {1.0}


def test_self_terms():
    spec, hypothesis, reference = pair("twmd", "transport.temperature=0.1")
    for cloud, value in ((hypothesis, 0.9928055160), (reference, 0.9797115717)):
        own = spec.readout.compare_with_self(cloud, spec.ground, spec.transport, spec.epsilon)
        assert [float(own[part][0]) for part in ("precision", "recall", "f1")] == pytest.approx(
            [value] * 3, abs=1e-9
        )


@pytest.mark.parametrize(("temperature", "raw", "normalised"), [
    (0.02, 0.8933333333, 0.8933360377), (0.10, 0.8922943315, 0.9047474488),
])  # fmt: skip
def test_converged(temperature, raw, normalised):
    changes = f"transport.temperature={temperature}", "transport.sweeps=converged"
    assert prf(scored("twmd", *changes, "readout=prf")) == pytest.approx([raw] * 3, abs=1e-9)
    assert prf(scored("twmd", *changes)) == pytest.approx([normalised] * 3, abs=1e-9)


@pytest.mark.parametrize(("temperature", "part", "raw", "normalised"), [
    (0.02, "precision", 0.9800038082, 0.9800035116),
    (0.15, "precision", 1.0247033476, 1.0048451865),
    (0.15, "recall", 0.9383878385, 0.9202024222),
])  # fmt: skip
def test_equation_7(temperature, part, raw, normalised):
    change = f"transport.temperature={temperature}"
    plain = scored("trwmd@paper", change, "readout=objective,entropy=conditional")
    assert plain[part] == pytest.approx(raw, abs=1e-9)
    assert scored("trwmd@paper", change)[part] == pytest.approx(normalised, abs=1e-9)
    similarity, t = X @ Y.T, temperature
    rows = similarity if part == "precision" else similarity.T
    literal = t * np.log(np.exp(rows / t).sum(1)).mean()
    assert plain[part] == pytest.approx(literal, abs=1e-12)


def test_printed_objective():
    change = "transport.temperature=0.1"
    assert scored("twmd@paper", change, "readout=objective")["precision"] == pytest.approx(
        1.0473472705, abs=1e-9
    )
    parts = scored("twmd@paper", change)
    assert parts["precision"] == parts["score"] == pytest.approx(0.9564589934, abs=1e-9)


def test_plan():
    spec, hypothesis, reference = pair("twmd", "transport.temperature=0.1")
    plan = spec.transport.solve(spec.ground.problem(hypothesis, reference))["precision"].coupling[0]
    expected = [[0.426840, 0.073014, 0.000146], [0.004862, 0.224910, 0.270228]]
    assert torch.allclose(plan, torch.tensor(expected, dtype=torch.float64), atol=1e-6)
    assert plan.sum(1).tolist() == pytest.approx([0.5, 0.5], abs=1e-12)


def test_exact_and_greedy_neighbours():
    assert scored("emd", "readout=1-cost")["score"] == pytest.approx(0.8933333333, abs=1e-9)
    parts = scored("bertscore")
    assert (parts["precision"], parts["recall"]) == pytest.approx((0.98, 0.92), abs=1e-12)


ROWS = [(X, [Y]), (X2, [Y2])]


@pytest.mark.parametrize(("name", "values"), [
    ("twmd-b@release", (0.6753605780, 0.6470220532, 0.6608876698)),
    ("trwmd-b@release", (0.8362937648, 0.6805221274, 0.7504093475)),
])  # fmt: skip
def test_batch_centring(name, values):
    assert prf(scored_window(name, rows=ROWS)[0].parts) == pytest.approx(values, abs=1e-9)


def test_batch_centring_with_one_mean_for_both_sides():
    parts = scored_window("twmd-b@release", "centre.sides=joint", rows=ROWS)[0].parts
    assert prf(parts) == pytest.approx((0.5989385861, 0.6075015781, 0.6031896932), abs=1e-9)


def test_batch_centring_of_the_neighbours():
    greedy = scored_window("bertscore", "centre=batch(32)", rows=ROWS)[0].parts
    assert (greedy["precision"], greedy["recall"]) == pytest.approx(
        (0.8438437284, 0.6894790874), abs=1e-9
    )
    mean = scored_window("sbert@paper", "centre=batch(32)", rows=ROWS)[0].parts
    assert mean["score"] == pytest.approx(0.9953372933, abs=1e-9)
    squared = scored_window("wordset-cka", "centre=batch(32)", rows=ROWS)[0].parts
    assert squared["score"] == pytest.approx(0.6764677603, abs=1e-9)


def test_centred_cosines():
    spec, hypothesis, reference = pair(
        "bertscore", x=X - np.array([0.6, 0.6]), y=Y - np.array([1.4 / 3, 1.6 / 3])
    )
    expected = [[0.980581, 0.380750, -0.980581], [-0.707107, 0.196116, 0.707107]]
    similarity = spec.ground.problem(hypothesis, reference).similarity[0]
    assert torch.allclose(similarity, torch.tensor(expected, dtype=torch.float64), atol=1e-6)


def test_a_batch_of_one_is_centred_by_its_own_texts():
    alone = scored_window("twmd-b@release", rows=ROWS[:1])[0].parts
    assert prf(alone) == pytest.approx(prf(scored("twmd-b@release", "centre=sentence")), abs=1e-12)


def test_batches_are_consecutive_segments_of_the_given_size():
    rows = [*ROWS, *ROWS]
    by_two = scored_window("twmd-b@release", "centre.size=2", rows=rows)
    assert by_two[0].parts == pytest.approx(by_two[2].parts, abs=1e-12)
    assert prf(by_two[2].parts) == pytest.approx(
        (0.6753605780, 0.6470220532, 0.6608876698), abs=1e-9
    )
    uneven = scored_window("twmd-b@release", "centre.size=3", rows=rows)
    alone = scored_window("twmd-b@release", rows=[rows[3]])
    assert uneven[3].parts == pytest.approx(alone[0].parts, abs=1e-12)
    assert abs(uneven[0].parts["precision"] - 0.6753605780) > 1e-3


def test_printed_objective_of_centred_vectors():
    """The paper's profile is the objective of vectors minus one mean of all words: the mean is
    subtracted by hand here.
    """
    mean = np.concatenate([X, Y]).mean(0)
    for name, plain in (("twmd-b@paper", "twmd@paper"), ("trwmd-b@paper", "trwmd@paper")):
        temperature = {"twmd-b@paper": 0.1, "trwmd-b@paper": 0.15}[name]
        change = f"transport.temperature={temperature}"
        expected = scored(plain, change, x=X - mean, y=Y - mean)
        centred = scored(name, "centre=none", x=X - mean, y=Y - mean)
        assert centred == pytest.approx(expected, abs=1e-12)
        assert centred["score"] == centred["precision"]


def test_objective_of_trwmd_b_by_hand():
    """T / n sum_i ln sum_j exp(s_ij / T) at T = .15, divided by the root of the self terms."""

    def value(a, b):
        similarity = a @ b.T
        return 0.15 * np.log(np.exp(similarity / 0.15).mean(1) * len(b)).mean()

    mean = np.concatenate([X, Y]).mean(0)
    a, b = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (X - mean, Y - mean))
    expected = value(a, b) / np.sqrt(value(a, a) * value(b, b))
    parts = scored("trwmd-b@paper", "centre=none", x=X - mean, y=Y - mean)
    assert parts["score"] == pytest.approx(expected, abs=1e-12)
