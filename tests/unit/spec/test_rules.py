"""Bounds: what the records of grounds and readouts say is true of the kernels, and no score leaves its range."""

from dataclasses import replace
from itertools import product
from math import inf, isinf

import numpy as np
import pytest
import torch

from monge.errors import InvalidSetting, UnknownName
from monge.kernels import ground as kernel
from monge.kernels.readout import mass, self_normalised, transported_similarity
from monge.kernels.tempered import tempered
from monge.scoring.measure import solved
from monge.spec.axes import AXES, Ordered, Readout, Spectrum, Tempered
from monge.spec.formulas import GROUNDS, READOUTS
from monge.spec.presets import resolve
from monge.spec.rows import BERTSCORE, COSINE, RAW, UNIT
from monge.spec.rules import bounds, check
from monge.types import Cloud

TRANSPORTS = {
    "exact": AXES["transport"]["exact"],
    "onesided": AXES["transport"]["onesided"],
    "independent": AXES["transport"]["independent"],
    "pruned": AXES["transport"]["pruned"],
    "one sweep": Tempered("tempered", temperature=0.1),
    "settled": Tempered("tempered", temperature=0.1, sweeps=0),
    "one side free": Tempered("tempered", temperature=0.1, slack=(inf, 0.0)),
    "slack": Tempered("tempered", temperature=0.5, sweeps=0, order="reference-last", slack=(0.05, 0.05)),
}


def cloud(vectors, weights=None):
    vectors = torch.as_tensor(vectors, dtype=torch.float64)
    ones = torch.ones(vectors.shape[:2], dtype=torch.float64)
    return Cloud(vectors, ones if weights is None else weights, ones.bool())


def samples(*, unit):
    """Random clouds, tight ones, and one with a point at the origin."""
    generator = torch.Generator().manual_seed(5)
    for n, m, scale in ((3, 4, 1.0), (6, 2, 0.1), (1, 1, 1.0), (12, 12, 1.0)):
        sides = [torch.randn(8, size, 4, generator=generator, dtype=torch.float64) for size in (n, m)]
        sides = [side * scale + sides[0][:, :1] * (1 - scale) for side in sides]
        sides[1][0] = -sides[0][0, :1]
        sides[0][1, 0] = 0
        if unit:
            sides = [torch.nn.functional.normalize(side, dim=2) for side in sides]
        weights = [torch.rand(8, size, generator=generator, dtype=torch.float64) for size in (n, m)]
        yield tuple(cloud(side, weight) for side, weight in zip(sides, weights, strict=True))


def test_every_ground_and_readout_has_its_record_and_its_kernel():
    assert set(GROUNDS) == set(AXES["ground"]) == {*kernel.PRODUCTS, *kernel.DISTANCES}
    assert set(READOUTS) == set(AXES["readout"])


@pytest.mark.parametrize("name", GROUNDS)
def test_the_record_of_a_ground_is_true_of_its_kernel(name):
    rule, plane = GROUNDS[name], [[[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]]
    problem = kernel.between(cloud([[[1.0, 0.0]]]), cloud(plane), ground=name)
    same, orthogonal, opposite = problem.cost[0, 0].tolist()
    assert rule.distance == torch.equal(problem.similarity, -problem.cost)
    assert same == rule.unit[0] == 0
    assert rule.orthogonal is None or orthogonal == pytest.approx(rule.orthogonal)
    assert isinf(rule.unit[1]) or max(orthogonal, opposite) == pytest.approx(rule.unit[1])
    for one, other in samples(unit=False):
        cost = kernel.between(one, other, ground=name).cost
        assert rule.free[0] <= cost.min() and cost.max() <= rule.free[1] + 1e-12


def test_an_unknown_ground_is_an_error_not_a_squared_distance():
    with pytest.raises(UnknownName, match=r"unknown ground 'euclid'.*euclidean"):
        kernel.between(cloud([[[1.0]]]), cloud([[[1.0]]]), ground="euclid")


def test_transforms_of_costs():
    wanted = {"cost": 0.5, "-cost": -0.5, "1-cost": 0.5, "1/(1+cost)": 2 / 3, "exp(-cost)": np.exp(-0.5)}
    for name, rule in READOUTS.items():
        if rule.by_cost:
            value = wanted.get(name, 0.5)
            assert Readout(name).transform(0.5, np.exp) == pytest.approx(value)
            assert float(Readout(name).transform(torch.tensor(0.5), torch.exp)) == pytest.approx(value)


@pytest.mark.parametrize(("ground", "readout"), list(product([*GROUNDS, "clipped"], READOUTS)))
def test_no_score_leaves_its_bounds(ground, readout):
    seen = 0
    for transport, unit in product(TRANSPORTS.values(), (True, False)):
        spec = replace(
            BERTSCORE,
            ground=replace(COSINE, clip=True) if ground == "clipped" else AXES["ground"][ground],
            readout=Spectrum(readout, (1.0,)) if readout == "cost+tempered" else AXES["readout"][readout],
            transport=transport,
            normalise=UNIT if unit else RAW,
        )
        try:
            check(spec)
        except InvalidSetting:
            continue
        found = bounds(spec)
        for one, other in samples(unit=unit):
            scores = solved(one, other, spec).parts["score"]
            assert found.low - 1e-8 <= scores.min() and scores.max() <= found.high + 1e-8, (transport, unit)
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
    assert bool(found.note) == (metric in ("twmd", "twmd[transport=independent,ground.clip=yes]"))


def test_order_adds_to_the_range():
    spec = resolve("wmdo")[1]
    assert isinstance(spec.readout, Ordered)
    assert bounds(spec).high == pytest.approx(2 + 0.18 + 0.10)


def test_why_one_sweep_has_no_bound_of_one():
    """Gradient ascent on the score itself: two texts that score above 1 under plans of one sweep."""
    generator = torch.Generator().manual_seed(256)
    start = torch.randn(16, 16, 8, generator=generator, dtype=torch.float64)
    one, other = (
        (torch.randn(16, 16, 8, generator=generator, dtype=torch.float64) * 0.2 + start[:, :1]).requires_grad_()
        for _ in range(2)
    )

    def value(x, y):
        problem = kernel.between(cloud(x), cloud(y), ground="cosine")
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
    """The mass of a settled plan with slack is at most (n m)^(T / (s + t + T)), reached where all costs are 0."""
    for n in (1, 10, 100):
        point = cloud(torch.ones(1, n, 2))
        problem = kernel.between(point, point, ground="cosine")
        plan = tempered(problem, temperature=0.5, sweeps=0, slack=(0.05, 0.1))
        assert float(mass(plan)) == pytest.approx((n * n) ** (0.5 / 0.65), rel=1e-6)
