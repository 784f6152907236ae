"""How fast Sinkhorn's scaling converges: counted by hand, against its known rate, at the door."""

import json
from math import exp, sqrt

import numpy as np
import pytest
import torch

from monge import api
from monge.cli.app import run
from monge.errors import DataError, InvalidSetting
from monge.evaluation.convergence import ConvergenceSettings, study_convergence
from monge.transport.convergence import trace_misses
from monge.types import Problem, Segment


def problem(cost, a, b):
    cost = torch.tensor([cost], dtype=torch.float64)
    masses = [torch.tensor([mass], dtype=torch.float64) for mass in (a, b)]
    present = (masses[0] > 0).unsqueeze(2) & (masses[1] > 0).unsqueeze(1)
    return Problem(cost, -cost, *masses, present)


COST, A, B, T = [[0.1, 0.7, 0.4], [0.6, 0.2, 0.9]], [0.3, 0.7], [0.5, 0.2, 0.3], 0.2


def misses_by_numpy(count):
    """The scaling of the kernel itself, columns first."""
    kernel, a, b = np.exp(-np.array(COST) / T), np.array(A), np.array(B)
    u, misses = a.copy(), []
    for _ in range(count):
        v = b / (kernel.T @ u)
        u = a / (kernel @ v)
        misses.append(np.abs((u[:, None] * kernel * v).sum(0) - b).sum())
    return misses


def test_misses_are_those_of_plain_scaling():
    settled, misses = trace_misses(problem(COST, A, B), temperature=T, tolerance=1e-9, most=500)
    expected = misses_by_numpy(len(misses))
    assert misses[:, 0].tolist() == pytest.approx(expected, abs=1e-12)
    first = next(k for k, miss in enumerate(expected, 1) if miss <= 1e-9)
    assert settled.tolist() == [first] and first > 3
    assert misses[0, 0] > misses[2, 0]
    longer = trace_misses(problem(COST, A, B), temperature=T, tolerance=1e-9, most=500, least=60)
    assert longer[0].tolist() == [first] and len(longer[1]) == 60
    assert longer[1][:, 0].tolist() == pytest.approx(misses_by_numpy(60), abs=1e-12)


def test_the_rate_is_that_of_two_by_two_problems():
    """With the cross ratio r of the kernel, a sweep multiplies the miss by ((sqrt r - 1) / (sqrt r
    + 1))^2 where all masses are equal and the optimum is [[p, q], [q, p]].
    """
    cost, temperature = [[0.0, 0.5], [0.3, 0.0]], 0.2
    root = sqrt(exp(0.8 / temperature))
    rate = ((root - 1) / (root + 1)) ** 2
    _, misses = trace_misses(
        problem(cost, [0.5, 0.5], [0.5, 0.5]), temperature=temperature, tolerance=1e-13, most=2000
    )
    ratios = (misses[1:, 0] / misses[:-1, 0]).tolist()
    assert ratios[20] == pytest.approx(rate, abs=1e-3)
    assert rate == pytest.approx(0.5800, abs=5e-4)


def test_colder_problems_take_longer_and_unsettled_ones_are_said():
    counts = [
        int(trace_misses(problem(COST, A, B), temperature=t, tolerance=1e-6, most=50)[0][0])
        for t in (0.4, 0.2, 0.1)
    ]
    assert counts[0] < counts[1] < counts[2]
    settled, misses = trace_misses(problem(COST, A, B), temperature=0.01, tolerance=1e-12, most=3)
    assert settled.tolist() == [4] and len(misses) == 3


def test_padding_and_neighbours_change_nothing():
    padded = problem([[*row, 0.0] for row in COST] + [[0.0] * 4], [*A, 0.0], [*B, 0.0])
    alone = trace_misses(problem(COST, A, B), temperature=T, tolerance=1e-9, most=500)
    beside = trace_misses(padded, temperature=T, tolerance=1e-9, most=500)
    assert alone[0].tolist() == beside[0].tolist()
    assert alone[1][:, 0].tolist() == pytest.approx(beside[1][:, 0].tolist(), abs=1e-13)


ROWS = [
    Segment(str(k), hypothesis, (reference,))
    for k, (hypothesis, reference) in enumerate(
        [
            ("the cat sat on the mat", "a cat was on the mat"),
            ("the dog ran", "a dog ran to the house"),
            ("hello world", "the world and a dog"),
            ("", "the mat"),
        ]
    )
]


def test_study_of_a_model(tiny_bert):
    metric = api.load("twmd-b", model=str(tiny_bert))
    settings = ConvergenceSettings((0.5, 0.02), 1e-4, 60)
    study = study_convergence(metric, ROWS, settings)
    assert study.pairs == 3  # a blank text has no problem
    warm, cold = study.results
    assert warm.median.value < cold.median.value or cold.settled < 1
    assert warm.settled == 1 and list(warm.misses) == [1, 2, 5, 10, 20, 50]
    values = list(cold.misses.values())
    assert values == sorted(values, reverse=True)
    assert warm.median.low <= warm.median.value <= warm.median.high
    assert "centre" in study.settings and "sides=joint" in study.settings["centre"]
    plain = json.dumps(study.to_dict(), allow_nan=False)
    assert '"metric": "twmd-b"' in plain


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"temperatures": (0.1, 0.0)}, "temperatures takes positive finite numbers, got 0"),
        ({"temperatures": ()}, "got none"),
        ({"tolerance": 0.0}, "tolerance takes a share of the mass"),
        ({"most": 0}, "most takes a whole number of at least 1"),
    ],
)
def test_wrong_settings_are_refused(settings, says):
    with pytest.raises(InvalidSetting, match=says):
        ConvergenceSettings(**settings)


def test_nothing_to_trace_is_said(tiny_bert):
    metric = api.load("twmd", model=str(tiny_bert))
    for rows in ([], [ROWS[3]]):
        with pytest.raises(DataError, match="there is nothing to trace"):
            study_convergence(metric, rows)


@pytest.fixture
def files(tmp_path):
    paths = tmp_path / "h.txt", tmp_path / "r.txt"
    paths[0].write_text("".join(f"{row.hypothesis}\n" for row in ROWS))
    paths[1].write_text("".join(f"{row.references[0]}\n" for row in ROWS))
    return [str(path) for path in paths]


def call(*arguments):
    return run(["analyse", *arguments])


def test_command_with_figure_and_page(files, tiny_bert, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    common = [*files, "--study", "convergence", "--model", str(tiny_bert)]
    common += ["--temperatures", "0.05,0.5", "--most-sweeps", "200"]
    figure = tmp_path / "sweeps.svg"
    assert call(*common, "--figure", str(figure)) == 0
    printed = capsys.readouterr().out
    assert "sweeps until Sinkhorn's scaling has settled" in printed
    assert "3 pairs of texts" in printed and "missed after 10" in printed
    assert figure.read_text().startswith("<?xml")
    assert call(*common, "-f", "json") == 0
    (result,) = json.loads(capsys.readouterr().out)["results"]
    assert [row["temperature"] for row in result["results"]] == [0.05, 0.5]
    page = tmp_path / "page.html"
    assert call(*common, "-f", "html", "-o", str(page)) == 0
    assert "T 0.05" in page.read_text() and "<svg" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--study", "convergance"], "unknown study 'convergance'; did you mean convergence?"),
        (["--study", "convergence", "--temperatures", "warm"], "takes numbers with commas"),
        (["--study", "convergence", "-m", "chrf"], "chrf"),
    ],
)
def test_command_refuses_in_one_line(files, tiny_bert, arguments, says, capsys):
    assert call(*files, *arguments, "--model", str(tiny_bert)) == 2
    error = capsys.readouterr().err
    assert says in error and len(error.strip().splitlines()) == 1


def test_command_needs_two_files_of_equal_length(files, tiny_bert, tmp_path, capsys):
    options = ["--study", "convergence", "--model", str(tiny_bert)]
    assert call(files[0], *options) == 2
    assert "takes two files, line by line beside each other, got 1" in capsys.readouterr().err
    short = tmp_path / "short.txt"
    short.write_text("one line\n")
    assert call(files[0], str(short), *options) != 0
    assert "has 4 lines" in capsys.readouterr().err
