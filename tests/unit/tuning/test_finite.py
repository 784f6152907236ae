"""Gradients are numbers for every metric, also where a text is compared with itself; if not, the
rows are named.
"""

from dataclasses import replace

import pytest
import torch

from monge.errors import DataError
from monge.metrics.presets import PRESETS
from monge.tuning import tuning
from monge.tuning.objectives import pearson

SAME = ["the cat sat on the mat", "a dog", "house", "the the the"]
OTHER = [
    ("the cat ran", "a cat sat"),
    ("the dog", "house"),
    ("a mat on a mat", "the house"),
    ("ran", "a dog ran"),
]


@pytest.fixture
def table(tmp_path):
    lines = ["hypothesis\treference\thuman"]
    lines += [f"{text}\t{text}\t{k}" for k, text in enumerate(SAME)]
    lines += [f"{one}\t{other}\t{-k}" for k, (one, other) in enumerate(OTHER)]
    held = [
        f"{word} {one} on\t{word} {other}\t{len(word)}"
        for word in ("sat", "mat", "on")
        for one, other in OTHER
    ]
    path = tmp_path / "same.tsv"
    rows = [*((row, "learn") for row in lines[1:]), *((row, "held") for row in held)]
    path.write_text(
        "\n".join(
            [
                f"{lines[0]}\tgroup\tsource",
                *(f"{row}\t{group}\t{row.split(chr(9))[1]}" for row, group in rows),
            ]
        )
    )
    return path


def plan_for(plan, table, metric):
    return replace(
        plan,
        metric=metric,
        data=table,
        lessons="table(pairs=learn)",
        dev="table(pairs=held)",
        settings=(),
    )


@pytest.mark.parametrize(
    "name",
    [*PRESETS, "twmd[ground=manhattan,readout=-cost]", "bertscore[ground=euclidean,readout=-cost]"],
)
def test_gradients_are_finite_where_a_text_meets_itself(plan, table, name):
    ready = tuning._open_plan(plan_for(plan, table, name))
    objective = ready.loop.objectives[0]
    loss = objective.loss(range(len(SAME) + len(OTHER)), ready.judge)
    torch.autograd.backward(loss)
    gradients = [
        parameter.grad for parameter in ready.learner.parameters if parameter.grad is not None
    ]
    assert (
        gradients
        and torch.isfinite(loss)
        and all(bool(torch.isfinite(one).all()) for one in gradients)
    )


def test_the_euclidean_ground_has_the_gradient_of_a_distance():
    """Away from 0 that of |x - y|, typed in from the formula; at 0 it is 0; the values are those
    without gradients.
    """
    from monge.transport.grounds import Euclidean

    torch.manual_seed(1)
    x, y = torch.randn(1, 3, 5, dtype=torch.float64), torch.randn(1, 4, 5, dtype=torch.float64)
    y[0, 1] = x[0, 0]
    leaf = x.clone().requires_grad_()
    distances = Euclidean("euclidean").compare(leaf, y, leaf.dtype)
    assert torch.equal(distances.detach(), Euclidean("euclidean").compare(x, y, x.dtype))
    distances.sum().backward()
    offsets = x[0].unsqueeze(1) - y[0].unsqueeze(0)
    lengths = offsets.norm(dim=-1, keepdim=True)
    wanted = torch.where(lengths > 1e-6, offsets / lengths.clamp_min(1e-300), 0.0).sum(1)
    assert torch.allclose(leaf.grad[0], wanted, atol=1e-6)


@pytest.mark.parametrize("first", [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 4.0]])
@pytest.mark.parametrize("second", [[3.0, 3.0, 3.0], [1.0, 5.0, 2.0]])
def test_a_correlation_with_what_is_constant_is_0_and_so_is_its_gradient(first, second):
    leaf = torch.tensor(first, dtype=torch.float64, requires_grad=True)
    value = pearson(leaf, torch.tensor(second, dtype=torch.float64))
    value.backward()
    assert torch.isfinite(value) and bool(torch.isfinite(leaf.grad).all())
    if len(set(first)) == 1 or len(set(second)) == 1:
        assert float(value.detach()) == 0


def test_a_gradient_that_is_no_number_names_the_lesson_and_the_rows(plan, table, monkeypatch):
    ready = tuning._open_plan(plan_for(plan, table, "twmd"))
    before = [parameter.detach().clone() for parameter in ready.learner.parameters]
    real = ready.judge.scores

    def spoiled(rows):
        scores = real(rows)
        wrong = torch.tensor(
            [0.0 if row.hypothesis == SAME[1] else 1.0 for row in rows], dtype=scores.dtype
        )
        return scores * (wrong * scores).sqrt()

    monkeypatch.setattr(ready.judge, "scores", spoiled)
    with pytest.raises(
        DataError,
        match=r"score:table: the loss .* for 1 of the 8 judgements of a step: a dog \| a dog:",
    ):
        ready.loop._step(0)
    assert all(
        torch.equal(one, other) for one, other in zip(before, ready.learner.parameters, strict=True)
    )
