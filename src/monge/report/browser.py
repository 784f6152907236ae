"""The browser of segments of reports and the service: its controls as HTML, its script's data.

`render/assets/segments.js` draws the cards. A report holds all segments and sorts them itself
(`report.js`); the service asks for a page of them (`monge.server.browse`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from monge.render.page import safe
from monge.report.material import HUMAN, Material

ORDERS = {
    "input": "place in the input",
    "score": "score of the system",
    "difference": "system minus other system",
    "spread": "best minus worst",
    "disagreement": "disagreement of the metrics",
    "human": "human score of the system",
}
_MARKED = (
    " Orange marks what hurt: the stronger a word is marked, the more of the score it lost by the "
    "chosen metric. “Plan” shows which words were matched with which, and at what cost."
)


@dataclass(frozen=True)
class BrowsedMetric:
    """A metric of a browser: its plans by name, and the decimals that scores are shown with."""

    name: str
    higher: bool
    digits: int
    plans: tuple[str, ...] = ()


@dataclass(frozen=True)
class SegmentBrowser:
    """The metrics, orders and filters that the segment browser of a page offers.

    `systems` are names as people read them, `order` has their places, the best first. `paired`: all
    systems have the same segments. `explained` of the `items` have plans; `flagged`: something was
    unusual in some; `human` names human scores where there are any, which some segments lack where
    it is `partly_judged`.
    """

    systems: tuple[str, ...]
    metrics: tuple[BrowsedMetric, ...]
    order: tuple[int, ...]
    items: int
    paired: bool = True
    flagged: bool = False
    explained: int = 0
    human: str = ""
    partly_judged: bool = False
    notes: tuple[str, ...] = ()

    @property
    def description(self) -> dict[str, Any]:
        """The data that the script of the page needs."""
        return {
            "systems": list(self.systems),
            "metrics": [{**vars(metric), "plans": list(metric.plans)} for metric in self.metrics],
            "order": list(self.order),
            "human_name": "human score" if self.human == HUMAN else self.human,  # of one output
        }

    @property
    def orders(self) -> list[tuple[str, str]]:
        """The keys that segments can be sorted by, each with its name."""
        absent = set() if self.human else {"human"}
        absent |= set() if len(self.systems) > 1 and self.paired else {"difference", "spread"}
        absent |= {"disagreement"} if len(self.metrics) == 1 else set()
        return [(key, name) for key, name in ORDERS.items() if key not in absent]

    @property
    def filters(self) -> list[tuple[str, str]]:
        """The choices of which segments are shown, each with its name."""
        choices = [("all", "all segments")]
        if len(self.systems) > 1 and self.paired:
            choices += [
                ("better", "where the system is better"),
                ("worse", "where the system is worse"),
            ]
        choices += [("flagged", "where something was unusual")] * self.flagged
        choices += [("judged", f"with {self.human}")] * self.partly_judged
        return [*choices, *([("plans", "with a plan")] * (0 < self.explained < self.items))]

    def html(self) -> str:
        """Return the section with the controls; they show when the script runs."""
        several = len(self.systems) > 1
        checked = " checked" if several and self.paired else ""
        marked = _MARKED if self.explained else ""
        notes = "".join(f'<p class="soft">{safe(line)}</p>' for line in self.notes)
        return (
            '<section id="segments" aria-labelledby="segments-title"><h2 '
            'id="segments-title">Segments</h2>\n'
            "<p>Every segment with the output of "
            f"{'all systems' if several else 'the system'}.{marked}</p>\n"
            f'{notes}\n<p id="segments-status" role="status" class="soft"></p>\n'
            "<noscript><p>Showing the segments needs JavaScript. The tables above do "
            "not.</p></noscript>\n"
            '<div id="browser" hidden>\n<div class="row controls">\n'
            '<label for="search">Search<input id="search" type="search" '
            'autocomplete="off"></label>\n'
            f"{self._selects()}\n"
            f'<label class="check"><input type="checkbox" id="descending"{checked}> largest '
            f"first</label>\n</div>\n"
            '<div id="items"></div>\n<div class="row"><button type="button" '
            'id="previous">Previous</button>'
            '<span id="place" class="soft" role="status"></span><button type="button" '
            'id="next">Next</button></div>\n'
            "</div>\n</section>"
        )

    def _selects(self) -> str:
        """Return the lists to choose from; those of systems only where there are several."""
        several = len(self.systems) > 1
        order = "spread" if several and self.paired else "score"
        metrics = [(str(k), metric.name) for k, metric in enumerate(self.metrics)]
        systems = [(str(k), name) for k, name in enumerate(self.systems)]
        selects = [
            ("filter", "Show", _options(self.filters)),
            ("order", "Sort by", _options(self.orders, order)),
            ("metric", "Metric", _options(metrics)),
        ]
        if several:
            selects.append(("system", "System", _options(systems, str(self.order[0]))))
        if several and self.paired:
            selects.append(("other", "Other system", _options(systems, str(self.order[1]))))
        return "\n".join(
            f'<label for="{key}">{label}<select id="{key}">{inside}</select></label>'
            for key, label, inside in selects
        )


def _options(names: Sequence[tuple[str, str]], chosen: str = "") -> str:
    return "".join(
        "<option "
        f'value="{safe(value)}"{" selected" if value == chosen else ""}>{safe(name)}</option>'
        for value, name in names
    )


def browser_of(material: Material) -> SegmentBrowser:
    """Return the browser of a report."""
    plans = material.plan_names
    return SegmentBrowser(
        systems=tuple(material.names),
        metrics=tuple(
            BrowsedMetric(name, standings.higher_is_better, standings.digits, plans.get(name, ()))
            for name, standings in zip(material.metrics, material.standings, strict=True)
        ),
        order=tuple(material.order),
        items=material.items,
        flagged=any(flags for row in material.results for result in row for flags in result.flags),
        explained=len(material.explained),
        human=material.human_name if material.human is not None else "",
        partly_judged=material.human is not None and not bool(np.isfinite(material.human).all()),
        notes=material.notes,
    )
