"""Figures of a sensitivity study: bars of CV and RD, shares of a full crossing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from monge.evaluation.sensitivity import Sensitivity
from monge.evaluation.sensitivity.effects import Crossing, Spread
from monge.render.palette import INK, LINE, SERIES, SOFT
from monge.report.canvas import figure

MOST_LEVEL = 8
"""More names of groups than this are turned, so that they do not collide."""


def sensitivity_figures(
    sensitivity: Sensitivity, directory: Path, *, form: str = "svg"
) -> list[Path]:
    """Draw every figure; return the paths."""
    written = [
        bars(
            sensitivity, directory / f"sensitivity-cv.{form}", "CV in %", lambda spread: spread.cv
        ),
        bars(
            sensitivity,
            directory / f"sensitivity-rd.{form}",
            "RD in %, worst against best",
            lambda spread: spread.rd,
        ),
    ]
    if sensitivity.crossings:
        return [*written, shares(sensitivity, directory / f"sensitivity-shares.{form}")]
    return written


def bars(
    sensitivity: Sensitivity, path: Path, label: str, value: Callable[[Spread], float | None]
) -> Path:
    """Return a panel a factor: bars of every metric by group; what is undefined has no bar."""
    groups, metrics = list(sensitivity.groups), sensitivity.metrics
    width = 0.8 / len(metrics)
    rows = len(sensitivity.factors)
    wide = max(7.0, 1.5 + 0.24 * len(groups) * (len(metrics) + 1))
    with figure(path, width=wide, height=1.9 * rows, rows=rows) as axes:
        for panel, factor in zip(axes[:, 0], sensitivity.factors, strict=True):
            for k, effect in enumerate(sensitivity.of(factor.name)):
                heights = [value(effect.spreads[name]) for name in groups]
                places = [
                    place + (k - (len(metrics) - 1) / 2) * width for place in range(len(groups))
                ]
                heights_shown = [
                    (place, height)
                    for place, height in zip(places, heights, strict=True)
                    if height is not None
                ]
                panel.bar(
                    [place for place, _ in heights_shown],
                    [height for _, height in heights_shown],
                    width=width * 0.92,
                    color=SERIES[k % len(SERIES)],
                    label=effect.metric,
                )
            panel.axhline(0, color=SOFT, linewidth=0.8)
            turned = {"rotation": 30, "ha": "right"} if len(groups) > MOST_LEVEL else {}
            panel.set_xticks(range(len(groups)), groups, **turned)
            panel.set_title(f"{factor.name} ({len(factor.settings)} settings)", loc="left")
            panel.set_ylabel(label)
        axes[-1, 0].legend(
            fontsize=6, ncols=min(len(metrics), 3), loc="upper center", bbox_to_anchor=(0.5, -0.2)
        )
    return path


def shares(sensitivity: Sensitivity, path: Path) -> Path:
    """Draw the variance shares of factors as one stacked bar per metric, interactions last."""
    names = list(sensitivity.crossings[0].settings)
    metrics = [crossing.metric for crossing in sensitivity.crossings]
    with figure(path, width=5.2, height=1.1 + 0.42 * len(metrics)) as axes:
        panel = axes[0, 0]
        for row, crossing in enumerate(sensitivity.crossings):
            _stack_shares(panel, row, crossing, names)
        panel.set_yticks(range(len(metrics)), metrics)
        panel.invert_yaxis()
        panel.set_xlim(0, 100)
        panel.set_xlabel(f"share of the variance of {sensitivity.statistic} in %")
        panel.legend(
            fontsize=6, ncols=len(names) + 1, loc="lower center", bbox_to_anchor=(0.5, 1.0)
        )
    return path


def _stack_shares(panel: Any, row: int, crossing: Crossing, names: Sequence[str]) -> None:
    """Draw the bar of a metric; shares of 6 % and more have their number inside."""
    bars = [
        (name, crossing.shares.get(name, 0.0), SERIES[k % len(SERIES)], "white")
        for k, name in enumerate(names)
    ]
    bars.append(("interactions", crossing.residual if crossing.shares else 0.0, LINE, INK))
    start = 0.0
    for name, part, colour, ink in bars:
        share = 100 * part
        label = name if row == 0 else None
        panel.barh(row, share, left=start, color=colour, height=0.7, label=label)
        if share >= 6:
            centred = {"ha": "center", "va": "center", "color": ink, "fontsize": 7}
            panel.text(start + share / 2, row, f"{share:.0f}", **centred)
        start += share
