"""Passes of a study as tasks of Ray: some rows, scored by metrics that share an encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from monge import api
from monge.cluster.engine import Engine, connected, mapped
from monge.cluster.job import identity
from monge.errors import DataError, ModelError, MongeError
from monge.spec.presets import Spec
from monge.types import Result, Segment

ATTEMPTS = 3
Pass = tuple[Sequence[api.Metric], Sequence[Segment], Mapping[str, Iterable[str]]]
"""Metrics, the rows that they score in one encoding pass, and the texts that idf comes from by name."""
Passes = Callable[[Sequence[Pass]], Iterator[tuple[int, list[Result]]]]
"""What scores passes, wherever: gives the number of each, as it is done, with its results."""


@dataclass(frozen=True)
class _Task:
    """A pass as a worker gets it: how its metrics are made, and what they must turn out to be."""

    metrics: Sequence[tuple[str, Spec, Mapping[str, Any]]]
    identities: Sequence[str]
    rows: Sequence[Segment]
    corpora: Mapping[str, Sequence[str]]
    threads: int

    def results(self) -> list[Result]:
        """Score the pass, here."""
        import torch

        torch.set_num_threads(self.threads)
        metrics = [api.bind(name, spec, **home) for name, spec, home in self.metrics]
        if [identity(one.scorer) for one in metrics] != list(self.identities):
            raise ModelError("this worker has another model, library or version than the driver")
        return api.score_segments(metrics, self.rows, corpora=api.Corpora(files=self.corpora))


def _told(task: _Task) -> dict[str, Any]:
    """The results of a task, or what went wrong."""
    try:
        results = task.results()
    except Exception as error:  # noqa: BLE001 - whatever it is, the driver must hear of it
        data = isinstance(error, MongeError)
        return {"error": str(error) if data else f"{type(error).__name__}: {error}", "data": data}
    return {"error": "", "data": False, "results": [{**one.to_dict(), "work": dict(one.work)} for one in results]}


@contextmanager
def passes_on_ray(engine: Engine) -> Iterator[Passes]:
    """What scores passes by the workers of Ray; the results are those of this process."""
    with connected(engine) as workers:

        def scored(passes: Sequence[Pass]) -> Iterator[tuple[int, list[Result]]]:
            import ray

            tasks = [ray.put(_task(one, engine.threads)) for one in passes]
            missing, why = set(range(len(tasks))), dict[int, str]()
            for _ in range(ATTEMPTS):
                numbers = sorted(missing)
                calls = [(tasks[number],) for number in numbers]
                with closing(mapped(_told, calls, workers=workers, threads=engine.threads)) as each:
                    for place, told in each:
                        number = numbers[place]
                        if isinstance(told, Exception):
                            why[number] = str(told)
                        elif told["data"]:
                            raise DataError(told["error"])
                        elif told["error"]:
                            why[number] = told["error"]
                        else:
                            missing.remove(number)
                            yield number, [_result(one) for one in told["results"]]
                if not missing:
                    return
            raise MongeError(f"{len(missing)} of {len(tasks)} passes failed {ATTEMPTS} times ({why[min(missing)]})")

        yield scored


def _task(one: Pass, threads: int) -> _Task:
    metrics, rows, corpora = one
    made = [(metric.name, metric.asked, metric.home) for metric in metrics]
    identities = [identity(metric.scorer) for metric in metrics]
    return _Task(made, identities, tuple(rows), {name: list(texts) for name, texts in corpora.items()}, threads)


def _result(data: Mapping[str, Any]) -> Result:
    return replace(Result.from_dict(data), work=data["work"])
