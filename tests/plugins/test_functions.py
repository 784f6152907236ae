"""Grounds and readouts of users: equal to those of monge, signed by their code, checked."""

from __future__ import annotations

import numpy as np
import pytest

import monge
from monge.errors import InvalidSetting, PluginError, UsageError

TEXTS = ["the cat sat on the mat", "a dog", "", "he left early that day and never came back", "x"]
REFERENCES = ["a cat sat there", "a dog", "hello you", "he went home early", "y z"]


def squares(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(axis=2)


def inner(x, y):
    return x @ y.T


def moved_cost(plan, cost, similarity):
    return (plan * cost).sum()


@pytest.fixture
def registered():
    """Registers functions, and takes their names back."""
    names = []

    def register(name, function, **facts):
        names.append(name)
        monge.register(name, function, **facts)

    yield register
    for name in set(names):
        monge.unregister(name)


@pytest.fixture
def scored(tiny_bert):
    def score(metric, **options):
        return monge.score(
            TEXTS[:2] + TEXTS[3:],
            REFERENCES[:2] + REFERENCES[3:],
            metric,
            model=str(tiny_bert),
            **options,
        )

    return score


@pytest.mark.parametrize("metric", ["wmd", "emd", "rwmd", "moverscore"])
def test_a_ground_of_a_user_gives_the_scores_of_the_same_ground(metric, registered, scored):
    registered("squares", squares, kind="ground", higher_is_better=False, low=0)
    own = scored(f"{metric}[ground=squares]")
    assert np.allclose(own.segments, scored(f"{metric}[ground=sqeuclidean]").segments, atol=2e-6)


@pytest.mark.parametrize("metric", ["twmd", "bertscore", "lazy-emd"])
def test_a_similarity_of_a_user_gives_the_scores_of_the_same_similarity(metric, registered, scored):
    registered("inner", inner, kind="ground")
    own = scored(f"{metric}[ground=inner]")
    assert np.allclose(own.segments, scored(f"{metric}[ground=dot]").segments, atol=2e-6)


def test_a_readout_of_a_user_gives_the_scores_of_the_same_readout(registered, scored):
    registered("moved", moved_cost, kind="readout", higher_is_better=False, low=0)
    own = scored("wmd[readout=moved]")
    assert np.allclose(own.segments, scored("wmd[readout=cost]").segments, atol=1e-9)
    assert not own.higher_is_better
    both = scored("bertscore[readout=moved]")
    assert np.allclose(both.segments, (both.parts["precision"] + both.parts["recall"]) / 2)


def test_functions_never_see_padding(registered, scored):
    shapes = []

    def watched(x, y):
        shapes.append((len(x), len(y)))
        return squares(x, y)

    registered("watched", watched, kind="ground", higher_is_better=False, low=0)
    together = scored("wmd[ground=watched]")
    assert len(set(shapes)) >= 4 and (1, 1) not in shapes
    assert together.segments[1] == 0


def test_the_signature_tells_changed_code(registered, scored):
    registered("mine", squares, kind="ground", higher_is_better=False, low=0)
    before = scored("wmd[ground=mine]")
    code = str(before.signature).partition("|ground:mine,code=")[2][:8]
    assert set(code) <= set("0123456789abcdef")
    assert scored("wmd", settings=[f"ground=mine,code={code}"]).signature == before.signature
    registered("mine", lambda x, y: 2 * squares(x, y), kind="ground", higher_is_better=False, low=0)
    assert scored("wmd[ground=mine]").signature != before.signature
    with pytest.raises(InvalidSetting, match="has other code"):
        scored("wmd", settings=[f"ground=mine,code={code}"])


FAULTS = [
    (lambda x, y: np.zeros(3), r"ground faulty: returned the shape \(3,\), expected"),
    (lambda x, y: np.full((len(x), len(y)), np.nan), "not a finite number"),
    (lambda x, y: 1 / 0, "ZeroDivisionError"),
    (lambda x, y: "words", "ground faulty: "),
    (lambda x, y: np.full((len(x), len(y)), -1.0), "outside of 0 to inf"),
]


@pytest.mark.parametrize(("function", "message"), FAULTS)
def test_faults_are_named(function, message, registered, scored):
    registered("faulty", function, kind="ground", higher_is_better=False, low=0)
    with pytest.raises(PluginError, match=message):
        scored("wmd[ground=faulty]")


def test_what_cannot_be_registered_is_named():
    for arguments, message in (
        (("cosine", squares), "cosine is a ground of monge"),
        (("a b", squares), "letters, digits"),
        (("mine", 3), "expected a function, got int"),
    ):
        with pytest.raises((UsageError, InvalidSetting), match=message):
            monge.register(*arguments, kind="ground")
    with pytest.raises(monge.MongeError, match="did you mean ground"):
        monge.register("mine", squares, kind="gruond")
    with pytest.raises(monge.MongeError, match="unknown fact of a ground or a readout 'cites'"):
        monge.register("mine", squares, kind="ground", cites="x")
    with pytest.raises(monge.MongeError, match="low must be below high"):
        monge.register("mine", squares, kind="ground", low=2, high=1)


MODULE = """
import monge

def squares(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(axis=2)

def moved(plan, cost, similarity):
    return (plan * cost).sum()

distance = monge.TransportFunction(squares, higher_is_better=False, low=0)
cost = monge.TransportFunction(moved, higher_is_better=False, low=0)
"""


def test_packages_offer_grounds_and_readouts_to_the_command(package, texts):
    package.write(
        {"demo.py": MODULE},
        grounds="own = demo:distance",
        readouts="own-cost = demo:cost",
    )
    outputs = [
        package.run(
            "score", *texts, "-m", metric, "-f", "tsv", "--segments", "-q"
        ).stdout.splitlines()
        for metric in ("wmd[ground=own,readout=own-cost]", "wmd[ground=sqeuclidean]")
    ]
    own, built_in = ([float(line.split("\t")[3]) for line in lines[1:]] for lines in outputs)
    assert len(own) == 36 and np.allclose(own, built_in, atol=1e-6)
