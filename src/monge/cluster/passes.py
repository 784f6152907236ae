"""Run the passes of a study on Ray; a pass scores rows with metrics sharing an encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from monge import api
from monge.cluster.engine import Engine, connect, map_on_ray
from monge.cluster.job import identity
from monge.errors import DataError, ModelError, MongeError
from monge.metrics.presets import Spec
from monge.types import Result, Segment

ATTEMPTS = 3
Pass = tuple[Sequence[api.Metric], Sequence[Segment], Mapping[str, Iterable[str]]]
"""Metrics, the rows that they score in one encoding pass, and the idf texts by name."""
Passes = Callable[[Sequence[Pass]], Iterator[tuple[int, list[Result]]]]
"""A function that scores passes and yields the number and results of each as it finishes."""


@dataclass(frozen=True)
class _Task:
    """A pass as a worker receives it: how its metrics are made, and their expected identities."""

    metrics: Sequence[tuple[str, Spec, Mapping[str, Any]]]
    identities: Sequence[str]
    rows: Sequence[Segment]
    corpora: Mapping[str, Sequence[str]]
    threads: int

    def results(self) -> list[Result]:
        """Score the pass in this process."""
        import torch

        torch.set_num_threads(self.threads)
        metrics = [api.bind(name, spec, **home) for name, spec, home in self.metrics]
        if [identity(metric.scorer) for metric in metrics] != list(self.identities):
            raise ModelError("this worker has another model, library or version than the driver")
        return api.score_segments(metrics, self.rows, corpora=api.Corpora(files=self.corpora))


def _run_task(task: _Task) -> dict[str, Any]:
    """Run a task; return its results or its error."""
    try:
        results = task.results()
    except Exception as error:  # noqa: BLE001 - whatever it is, the driver must hear of it
        data = isinstance(error, MongeError)
        return {"error": str(error) if data else f"{type(error).__name__}: {error}", "data": data}
    return {
        "error": "",
        "data": False,
        "results": [{**result.to_dict(), "work": dict(result.work)} for result in results],
    }


@contextmanager
def passes_on_ray(engine: Engine) -> Iterator[Passes]:
    """Yield a function that scores passes on Ray, with the results of this process."""
    with connect(engine) as workers:

        def score_passes(passes: Sequence[Pass]) -> Iterator[tuple[int, list[Result]]]:
            import ray

            tasks = [ray.put(_task(study_pass, engine.threads)) for study_pass in passes]
            missing, why = set(range(len(tasks))), dict[int, str]()
            for _ in range(ATTEMPTS):
                numbers = sorted(missing)
                calls = [(tasks[number],) for number in numbers]
                with closing(
                    map_on_ray(_run_task, calls, workers=workers, threads=engine.threads)
                ) as reports:
                    for place, report in reports:
                        number = numbers[place]
                        if isinstance(report, Exception):
                            why[number] = str(report)
                        elif report["data"]:
                            raise DataError(report["error"])
                        elif report["error"]:
                            why[number] = report["error"]
                        else:
                            missing.remove(number)
                            yield number, [_result(result) for result in report["results"]]
                if not missing:
                    return
            raise MongeError(
                f"{len(missing)} of {len(tasks)} passes failed {ATTEMPTS} times "
                f"({why[min(missing)]})"
            )

        yield score_passes


def _task(study_pass: Pass, threads: int) -> _Task:
    metrics, rows, corpora = study_pass
    recipes = [(metric.name, metric.asked, metric.home) for metric in metrics]
    identities = [identity(metric.scorer) for metric in metrics]
    return _Task(
        recipes,
        identities,
        tuple(rows),
        {name: list(texts) for name, texts in corpora.items()},
        threads,
    )


def _result(data: Mapping[str, Any]) -> Result:
    return replace(Result.from_dict(data), work=data["work"])
