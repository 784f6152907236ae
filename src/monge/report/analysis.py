"""Figures of an analysis of word vectors: a row a centring, a column a similarity, a line a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from monge.render.palette import LINE, SERIES
from monge.report.canvas import figure
from monge.study.vectors import Analysis

TITLES = {"baseline": "two random words", "self": "the same word in two texts", "intra": "two words of one text"}


def analysis_figure(found: Sequence[Analysis], path: Path) -> Path:
    """Cosine against layer, with bootstrap intervals; all panels share their scale."""
    centrings = [one.centring for one in found[0].centrings]
    values = [
        level for one in found for centred in one.centrings for levels in centred.levels.values() for level in levels
    ]
    low, high = min(0.0, *(one.low for one in values)), max(one.high for one in values)
    with figure(path, width=8.4, height=1.9 * len(centrings), rows=len(centrings), columns=len(TITLES)) as axes:
        for row, centring in enumerate(centrings):
            for column, (kind, title) in enumerate(TITLES.items()):
                panel = axes[row, column]
                for number, one in enumerate(found):
                    levels = one.centrings[row].levels[kind]
                    colour = SERIES[number % len(SERIES)]
                    places = range(len(levels))
                    panel.fill_between(
                        places, [at.low for at in levels], [at.high for at in levels], color=colour, alpha=0.15
                    )
                    panel.plot(
                        places, [at.value for at in levels], color=colour, marker="o", markersize=2.5, label=one.model
                    )
                panel.axhline(0, color=LINE, linewidth=0.8, zorder=0)
                panel.set_ylim(low - 0.05, high + 0.05)
                if row == 0:
                    panel.set_title(title)
                if column == 0:
                    panel.set_ylabel(f"{centring} centring" if centring != "none" else "as they are")
                if row == len(centrings) - 1:
                    panel.set_xlabel("layer")
        axes[0, 0].legend(fontsize=6)
    return path
