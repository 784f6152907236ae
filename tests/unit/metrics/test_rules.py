"""Bounds: what the records of grounds and readouts say is true of the kernels, and no score leaves
its range.
"""

from dataclasses import replace
from itertools import product
from math import e, inf, isinf, log

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import lambertw

from monge.errors import InvalidSetting, UnknownName
from monge.metrics.axes import AXES, Ordered, Spectrum, Tempered
from monge.metrics.presets import PRESETS, bounds_of, resolve
from monge.metrics.rows import BERTSCORE, COSINE, RAW, UNIT
from monge.metrics.rules import bounds, check
from monge.scoring.measure import score_clouds
from monge.transport.plan_values import mass, transported_similarity
from monge.transport.readouts import lambert, self_normalised
from monge.transport.tempered import tempered
from monge.types import Cloud

TRANSPORTS = {
    "exact": AXES["transport"]["exact"],
    "onesided": AXES["transport"]["onesided"],
    "independent": AXES["transport"]["independent"],
    "pruned": AXES["transport"]["pruned"],
    "one sweep": Tempered("tempered", temperature=0.1),
    "settled": Tempered("tempered", temperature=0.1, sweeps=0),
    "one side free": Tempered("tempered", temperature=0.1, slack=(inf, 0.0)),
    "slack": Tempered(
        "tempered", temperature=0.5, sweeps=0, order="reference-last", slack=(0.05, 0.05)
    ),
}


def cloud(vectors, weights=None):
    vectors = torch.as_tensor(vectors, dtype=torch.float64)
    ones = torch.ones(vectors.shape[:2], dtype=torch.float64)
    return Cloud(vectors, ones if weights is None else weights, ones.bool())


def samples(*, unit):
    """Random clouds, tight ones, and one with a point at the origin."""
    generator = torch.Generator().manual_seed(5)
    for n, m, scale in ((3, 4, 1.0), (6, 2, 0.1), (1, 1, 1.0), (12, 12, 1.0)):
        sides = [
            torch.randn(8, size, 4, generator=generator, dtype=torch.float64) for size in (n, m)
        ]
        sides = [side * scale + sides[0][:, :1] * (1 - scale) for side in sides]
        sides[1][0] = -sides[0][0, :1]
        sides[0][1, 0] = 0
        if unit:
            sides = [torch.nn.functional.normalize(side, dim=2) for side in sides]
        weights = [torch.rand(8, size, generator=generator, dtype=torch.float64) for size in (n, m)]
        yield tuple(cloud(side, weight) for side, weight in zip(sides, weights, strict=True))


GROUNDS, READOUTS = AXES["ground"], AXES["readout"]


@pytest.mark.parametrize("name", GROUNDS)
def test_the_record_of_a_ground_is_true_of_its_kernel(name):
    rule, plane = GROUNDS[name], [[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]]
    problem = AXES["ground"][name].problem(cloud([[[1.0, 0.0]]]), cloud(plane))
    same, orthogonal, opposite = problem.cost[0, 0].tolist()
    assert rule.distance == torch.equal(problem.similarity, -problem.cost)
    assert same == rule.unit_costs[0] == 0
    assert rule.orthogonal_cost is None or orthogonal == pytest.approx(rule.orthogonal_cost)
    assert isinf(rule.unit_costs[1]) or max(orthogonal, opposite) == pytest.approx(
        rule.unit_costs[1]
    )
    for one, other in samples(unit=False):
        cost = AXES["ground"][name].problem(one, other).cost
        assert rule.free_costs[0] <= cost.min() and cost.max() <= rule.free_costs[1] + 1e-12


def test_an_unknown_ground_is_an_error_not_a_squared_distance():
    with pytest.raises(UnknownName, match=r"unknown ground choice 'euclid'.*euclidean"):
        BERTSCORE.changed(["ground=euclid"])


def test_transforms_of_costs():
    wanted = {
        "cost": 0.5,
        "-cost": -0.5,
        "1-cost": 0.5,
        "1/(1+cost)": 2 / 3,
        "exp(-cost)": np.exp(-0.5),
    }
    for name, rule in READOUTS.items():
        if rule.by_cost:
            value = wanted.get(name, 0.5)
            assert rule.transform(0.5, np.exp) == pytest.approx(value)
            assert float(rule.transform(torch.tensor(0.5), torch.exp)) == pytest.approx(value)


@pytest.mark.parametrize(("ground", "readout"), list(product([*GROUNDS, "clipped"], READOUTS)))
def test_no_score_leaves_its_bounds(ground, readout):
    seen = 0
    for transport, unit in product(TRANSPORTS.values(), (True, False)):
        spec = replace(
            BERTSCORE,
            ground=replace(COSINE, clip=True) if ground == "clipped" else AXES["ground"][ground],
            readout=Spectrum(readout, (1.0,))
            if readout == "cost+tempered"
            else AXES["readout"][readout],
            transport=transport,
            normalise=UNIT if unit else RAW,
        )
        try:
            check(spec)
        except InvalidSetting:
            continue
        found = bounds(spec)
        for one, other in samples(unit=unit):
            scores = score_clouds(one, other, spec)[1]["score"]
            assert found.low - 1e-8 <= scores.min() and scores.max() <= found.high + 1e-8, (
                transport,
                unit,
            )
            seen += len(scores)
    assert seen or (readout == "self-normalised" and GROUNDS[ground].distance)


@pytest.mark.parametrize(
    ("metric", "low", "high"),
    [
        ("bertscore", -1, 1),
        ("bertscore[transport=exact]", -1, 1),
        ("twmd[transport=exact]", -1, 1),
        ("twmd[transport=exact,ground.clip=yes]", 0, 1),
        ("twmd[transport=independent]", -1, 1),
        ("twmd[transport=independent,ground.clip=yes]", 0, inf),
        ("twmd", -inf, inf),
        ("twmd[readout=prf]", -1, 1),
        ("trwmd[readout=prf]", -1, 1),
        ("lazy-emd", 0, inf),
        ("lazy-emd[ground.clip=yes,readout=prf]", 0, inf),
        ("lazy-emd[transport.slack=inf/inf]", 0, 2),
        ("wmd", 0, 2),
        ("wmd[normalise=none]", 0, inf),
        ("wmd[ground=manhattan]", 0, inf),
        ("wms[ground=dot]", 0, inf),
        ("xmoverscore@v2[ground=dot,normalise=none]", -inf, inf),
        ("wordset-cka", 0, 1),
    ],
)
def test_bounds_by_hand(metric, low, high):
    found = bounds(resolve(metric)[1])
    assert (found.low, found.high) == (low, high)
    assert bool(found.note) == (
        metric in ("twmd", "twmd[transport=independent,ground.clip=yes]", "lazy-emd")
    )


def softmax(temperature):
    """One over what 512 units at the worst distance have with themselves, at least."""
    return 1 / (1 - temperature * float(lambertw(511 / e).real))


SETTLED = 1 / (1 - 0.1 * log(512))


@pytest.mark.parametrize(
    ("metric", "low", "high", "note"),
    [
        ("twmd", -1, 1, "in practice"),
        ("twmd[ground.clip=yes]", 0, 1, "in practice"),
        ("twmd[transport.sweeps=converged]", -SETTLED, SETTLED, "up to 512 units"),
        ("trwmd", -softmax(0.02), softmax(0.02), "up to 512 units"),
        ("trwmd-b", -softmax(0.15), softmax(0.15), "up to 512 units"),
        ("trwmd@paper", -1, 1 + 0.02 * log(512), "entropy"),
        ("lazy-emd", 0, 2 * (512 * 512) ** (0.009 / (0.23 + 0.31 + 0.009)), "mass can be made"),
        ("baryscore", 0, 4, "barycentres of unit vectors"),
        ("sentsim", 2, 2 * e, "within the fitted ranges"),
    ],
)
def test_usual_ranges(metric, low, high, note):
    found = bounds_of(resolve(metric)[1])
    assert found.shown == found.usual == (pytest.approx(low), pytest.approx(high))
    assert note in found.note
    assert isinf(found.high)


def test_finite_ranges_are_shown_as_they_are():
    for name in PRESETS:
        found = bounds_of(resolve(name)[1])
        assert (found.usual is None) or isinf(found.low) or isinf(found.high)
    assert bounds_of(resolve("moverscore")[1]).shown == (-3, 1)


@pytest.mark.parametrize("x", [0.0, 0.1, 1.0, 188.0, 1e6])
def test_lambert(x):
    w = lambert(x)
    assert w * np.exp(w) == pytest.approx(x, rel=1e-12)


@pytest.mark.parametrize(("units", "temperature"), [(2, 0.02), (8, 0.1), (40, 0.15)])
def test_what_a_text_has_with_itself_under_a_softmax_is_no_less_than_the_bound_which_is_reached(
    units, temperature
):
    """n units at one distance 1 - cos = T (1 + W((n-1)/e)) from each other."""
    w = lambert((units - 1) / e)
    cosine = 1 - temperature * (1 + w)
    gram = torch.eye(units, dtype=torch.float64) * (1 - cosine) + cosine
    text = cloud(torch.linalg.cholesky(gram)[None])
    problem = AXES["ground"]["cosine"].problem(text, text)
    plan = tempered(problem, temperature=temperature, slack=(inf, 0.0))
    assert float(transported_similarity(plan, problem)) == pytest.approx(
        1 - temperature * w, abs=1e-9
    )


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.tuples(st.integers(1, 24), st.integers(1, 24)),
    spread=st.sampled_from([0.01, 0.1, 0.3, 1.0]),
    temperature=st.sampled_from([0.01, 0.02, 0.1, 0.15]),
    metric=st.sampled_from(
        ["trwmd", "trwmd@paper", "twmd[transport.sweeps=converged]", "lazy-emd", "twmd"]
    ),
)
def test_no_score_leaves_the_usual_range(seed, sizes, spread, temperature, metric):
    """Clouds of unit vectors, tight and wide, alike and unlike; `twmd`, whose range is not proven,
    to a hundredth.
    """
    spec = resolve(metric)[1].changed([f"transport.temperature={temperature}"])
    draw = torch.Generator().manual_seed(seed)
    middle = torch.randn(1, 1, 6, generator=draw, dtype=torch.float64)
    sides = [
        middle + spread * 3 * torch.randn(4, size, 6, generator=draw, dtype=torch.float64)
        for size in sizes
    ]
    sides[1][0] *= -1
    weights = [torch.rand(4, size, generator=draw, dtype=torch.float64) + 1e-3 for size in sizes]
    one, other = (cloud(side, weight) for side, weight in zip(sides, weights, strict=True))
    low, high = bounds(spec).shown
    scores = score_clouds(one, other, spec)[1]["score"]
    room = 0.01 if metric == "twmd" else 1e-7
    assert low - room <= scores.min() and scores.max() <= high + room


def test_order_adds_to_the_range():
    spec = resolve("wmdo")[1]
    assert isinstance(spec.readout, Ordered)
    assert bounds(spec).high == pytest.approx(2 + 0.18 + 0.10)


def test_why_one_sweep_has_no_bound_of_one():
    """Gradient ascent on the score itself: two texts that score above 1 under plans of one
    sweep.
    """
    generator = torch.Generator().manual_seed(256)
    start = torch.randn(16, 16, 8, generator=generator, dtype=torch.float64)
    one, other = (
        (
            torch.randn(16, 16, 8, generator=generator, dtype=torch.float64) * 0.2 + start[:, :1]
        ).requires_grad_()
        for _ in range(2)
    )

    def value(x, y):
        problem = AXES["ground"]["cosine"].problem(cloud(x), cloud(y))
        return transported_similarity(tempered(problem, temperature=0.02), problem)

    climb, best = torch.optim.Adam([one, other], lr=0.02), 0.0
    for _ in range(80):
        scores = self_normalised(value(one, other), value(one, one), value(other, other))
        best = max(best, scores.max().item())
        climb.zero_grad()
        (-scores.sum()).backward()
        climb.step()
    assert best > 1.0001
    assert isinf(bounds(resolve("twmd")[1]).high)


def test_why_slack_has_no_bound():
    """The mass of a settled plan with slack is at most (n m)^(T / (s + t + T)), reached where all
    costs are 0.
    """
    for n in (1, 10, 100):
        point = cloud(torch.ones(1, n, 2))
        problem = AXES["ground"]["cosine"].problem(point, point)
        plan = tempered(problem, temperature=0.5, sweeps=0, slack=(0.05, 0.1))
        assert float(mass(plan)) == pytest.approx((n * n) ** (0.5 / 0.65), rel=1e-6)
