"""The report of a job: the document of `monge report`, its content for the page, its plans."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from monge import api
from monge.evaluation import Comparison
from monge.metrics.signature import shortened
from monge.render.page import safe
from monge.render.results import results_content, results_html
from monge.report.browser import BrowsedMetric, SegmentBrowser, browser_of
from monge.report.document import report_content, report_page
from monge.report.material import gathered, with_plans
from monge.server.engine import BatchingEngine, SlicedEncoding
from monge.server.job import EXPLAINING, WRITING, Job
from monge.server.service import VERSION, names_and_labels
from monge.types import Result, Segment, Transported
from monge.types.system_names import short_names

if TYPE_CHECKING:
    from monge.scoring.encoding import Encoding

REPORT_FILE, CONTENT_FILE, PLANS_FILE = "report.html", "report.json", "plans.json"
UNPAIRED = (
    "The systems have different segments: their scores are shown, and whether one is better is not "
    "tested."
)


class JobReport:
    """Makes the report of a job whose systems have the same segments."""

    def __init__(
        self, engine: BatchingEngine, job: Job, metrics: Sequence[api.Metric], corpora: api.Corpora
    ) -> None:
        self._engine, self._job, self._metrics, self._corpora = engine, job, metrics, corpora

    def files(
        self, results: Sequence[Result], rows: Sequence[Segment], comparison: Comparison | None
    ) -> dict[str, str]:
        """Return the files that the job keeps, by name; raise Gone where it is cancelled."""
        self._job.phase = EXPLAINING
        return self._job.ticket.run(lambda: self._make_files(results, rows, comparison))

    def _make_files(
        self, results: Sequence[Result], rows: Sequence[Segment], comparison: Comparison | None
    ) -> dict[str, str]:
        labels = [label for _, label in names_and_labels(self._metrics)]
        material = with_plans(
            gathered(results, rows, comparison=comparison),
            dict(zip(labels, self._metrics, strict=True)),
            find_plans=self._find_plans,
            progress=self._report_progress,
            remedy="",
        )
        self._job.phase = WRITING
        content = report_content(material, version=VERSION, signed=shortened)
        plans = {"explained": list(material.explained), "plans": material.plans}
        return {
            REPORT_FILE: report_page(material, content),
            CONTENT_FILE: _content(content, browser_of(material)),
            PLANS_FILE: json.dumps(plans, separators=(",", ":")) + "\n",
        }

    def _report_progress(self, done: int, total: int) -> None:
        self._job.explained = done, total

    def _find_plans(
        self,
        metric: api.Metric,
        all_rows: Sequence[Segment],
        rows: Sequence[Segment],
        expect: dict[str, str] | None,
    ) -> Iterable[tuple[int, Transported]]:
        """Return the plans of some segments, encoding their texts in turn with requests."""
        members = [metric.by_transport("plans")]
        encoding = cast("Encoding", SlicedEncoding(self._engine, members, self._job.ticket))
        transported = api.transported_segments(
            [metric], all_rows, [rows], corpora=self._corpora, encoding=encoding
        )
        return ((place, plan) for _, place, plan in transported)


def unpaired_files(results: Sequence[Result]) -> dict[str, str]:
    """Return the files of a job whose systems have different segments: no comparison."""
    by_metric: dict[str, list[Result]] = {}
    for result in results:
        by_metric.setdefault(result.metric, []).append(result)
    systems = list(dict.fromkeys(result.system for result in results))
    short = short_names(systems)
    first = next(iter(by_metric.values()))
    sign = -1 if first[0].higher_is_better else 1
    browser = SegmentBrowser(
        systems=tuple(short[name] or "the system" for name in systems),
        metrics=tuple(
            BrowsedMetric(name, column[0].higher_is_better, 4) for name, column in by_metric.items()
        ),
        order=tuple(
            int(k) for k in np.argsort([sign * result.score for result in first], kind="stable")
        ),
        items=len({name for result in results for name in result.ids}),
        paired=False,
        flagged=any(flags for result in results for flags in result.flags),
    )
    content = f'<p class="lead">{safe(UNPAIRED)}</p>\n{results_content(results)}\n{browser.html()}'
    return {REPORT_FILE: results_html(results), CONTENT_FILE: _content(content, browser)}


def _content(html: str, browser: SegmentBrowser) -> str:
    return json.dumps({"html": html, **browser.description}, ensure_ascii=False) + "\n"
