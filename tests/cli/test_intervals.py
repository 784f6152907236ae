"""One system has one interval, whichever verb shows it."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from monge.render.cells import supported_digits

SYSTEMS = ("system-a.txt", "system-b.txt")
METRICS = ("-m", "twmd", "-m", "bleu", "-m", "chrf")
SPAN = re.compile(r"\[(\d+(?:\.\d+)?), (\d+(?:\.\d+)?)\]")


def shown(results):
    """The intervals of (system, metric) -> (score, low, high) as tables show them: each metric in
    its own digits.
    """
    by_metric = {}
    for (_, metric), (_, low, high) in results.items():
        by_metric.setdefault(metric, []).append((low, high))
    return {
        f"{low:.{digits}f}, {high:.{digits}f}"
        for ends in by_metric.values()
        for digits in [supported_digits(ends)]
        for low, high in ends
    }


@pytest.fixture
def example(workplace):
    """The whole bundled example."""
    for name in ("reference.txt", *SYSTEMS):
        (workplace / name).write_text(
            (files("monge") / "example" / name).read_text("utf-8"), "utf-8"
        )
    return workplace


@pytest.mark.parametrize("seed", [12345, 7])
def test_score_compare_and_report_show_the_same_intervals(monge, example, seed):
    given = ("-r", "reference.txt", *METRICS, "--seed", seed)
    both = ("-t", SYSTEMS[0], "-t", SYSTEMS[1])
    scored = json.loads(monge("score", *both, *given, "--ci", "-f", "json").out)["results"]
    compared = json.loads(monge("compare", *both, *given, "-f", "json").out)["results"]
    of_score = {
        (one["system"], one["metric"]): (
            one["score"],
            one["interval"]["low"],
            one["interval"]["high"],
        )
        for one in scored
    }
    of_compare = {
        (one["system"], metric["metric"]): (one["score"], one["low"], one["high"])
        for metric in compared
        for one in metric["systems"]
    }
    assert of_score == of_compare
    assert len({low for _, low, _ in of_score.values()}) == 6
    reported = monge("report", *both, *given, "-f", "markdown", "--plans", 0).out.replace("\\", "")
    assert shown(of_score) <= {", ".join(ends) for ends in SPAN.findall(reported)}
    alone = monge("report", "-t", SYSTEMS[0], *given, "-f", "markdown", "--plans", 0).out.replace(
        "\\", ""
    )
    of_one = {key: one for key, one in of_score.items() if f"{key[0]}.txt" == SYSTEMS[0]}
    assert shown(of_one) == {", ".join(ends) for ends in SPAN.findall(alone)}


def test_another_number_of_resamples_is_another_interval(monge, example):
    given = (
        "compare",
        "-t",
        SYSTEMS[0],
        "-t",
        SYSTEMS[1],
        "-r",
        "reference.txt",
        "-m",
        "bleu",
        "-f",
        "json",
    )
    lows = [
        json.loads(monge(*given, "--resamples", count).out)["results"][0]["systems"][0]["low"]
        for count in (1000, 999)
    ]
    assert lows[0] != lows[1]
