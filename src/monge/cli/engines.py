"""Options for where a run is computed, in this process or by workers of Ray; its progress."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from monge.cli import options
from monge.cli.options import option
from monge.cli.printing import bar_wanted, tell
from monge.errors import UsageError

if TYPE_CHECKING:
    from monge.cluster import ClusterProgress, Engine
    from monge.evaluation import Run

ENGINES = LOCAL, RAY = "local", "ray"


@dataclass(frozen=True, kw_only=True)
class EngineOptions:
    """Options for the engine, and for the workers of a cluster."""

    engine: Annotated[
        str,
        option(
            "--engine local|ray",
            options.CLUSTER,
            help="Where it is computed: here (local), or by the workers of Ray, on this machine or "
            "a cluster.",
        ),
    ] = LOCAL
    address: Annotated[
        str | None,
        option(
            "--address auto|HOST:PORT",
            options.CLUSTER,
            help="With --engine ray: a Ray that is running; without it, one is started on this "
            "machine.",
        ),
    ] = None
    workers: Annotated[
        str,
        option(
            "--workers N|auto",
            options.CLUSTER,
            help="With --engine ray: how many workers; auto takes as many as there are processors.",
        ),
    ] = "auto"
    worker_threads: Annotated[
        int,
        option(
            "--worker-threads N",
            options.CLUSTER,
            help="With --engine ray: the threads, and so the processors, of a worker.",
        ),
    ] = 1

    @property
    def on_ray(self) -> bool:
        """Whether workers of Ray compute; raises for an unknown engine or wrong options."""
        if self.engine not in ENGINES:
            raise UsageError(f"--engine takes {', '.join(ENGINES)}, got {self.engine!r}")
        changed_options = {"--address": self.address is not None,
            "--workers": self.workers != "auto",
                 "--worker-threads": self.worker_threads != 1}  # fmt: skip
        wrong = next((name for name, is_changed in changed_options.items() if is_changed), None)
        if self.engine == LOCAL and wrong is not None:
            raise UsageError(f"{wrong} is for workers: give it with --engine ray")
        return self.engine == RAY

    def of_ray(self) -> Engine:
        """Return the engine for `monge.cluster`; raise where Ray is not installed."""
        from monge.cluster import Engine, check_ray

        if self.workers != "auto" and not (self.workers.isdigit() and int(self.workers)):
            raise UsageError(
                f"--workers takes a number of at least 1, or auto; got {self.workers!r}"
            )
        if self.worker_threads < 1:
            raise UsageError(
                f"--worker-threads takes a number of at least 1, got {self.worker_threads}"
            )
        check_ray(self.address)
        return Engine(
            self.address, 0 if self.workers == "auto" else int(self.workers), self.worker_threads
        )

    @contextmanager
    def of_study(self, run: Run) -> Iterator[Run]:
        """Yield the settings of a study's run: unchanged, or with its passes scored by workers."""
        if not self.on_ray:
            yield run
            return
        engine = self.of_ray()
        from monge.cluster import passes_on_ray

        if run.cache is not None:
            tell("--cache is not used by --engine ray")
        with passes_on_ray(engine) as passes:
            yield replace(run, cache=None, elsewhere=passes)


@dataclass(frozen=True, kw_only=True)
class ScaleOptions(EngineOptions):
    """Options for the engine, bad rows, and progress."""

    on_bad_row: Annotated[
        str,
        option(
            "--on-error --on-bad-row fail|count",
            help="A segment that cannot be scored ends the run (fail), or is left out of all "
            "metrics, counted and listed (count). With --engine ray also a row that cannot be "
            "read, or whose worker dies again and again.",
        ),
    ] = "fail"
    log_json: Annotated[
        bool,
        option(
            "--log-json",
            options.CLUSTER,
            help="With --engine ray: tell progress as lines of JSON on standard error, for "
            "machines.",
        ),
    ] = False

    @property
    def tolerant(self) -> bool:
        """Whether bad rows are left out and counted."""
        if self.on_bad_row not in ("fail", "count"):
            raise UsageError(f"--on-error takes fail, count, got {self.on_bad_row!r}")
        return self.on_bad_row == "count"


@contextmanager
def watching(*, quiet: bool, log_json: bool) -> Iterator[ClusterProgress]:
    """Show the progress of workers on standard error: lines of JSON, or a bar at a terminal."""
    from monge.cluster import ClusterProgress

    if log_json:
        yield ClusterProgress(_make_logger("began"), _make_logger("done"))
    elif not bar_wanted(quiet=quiet):
        yield ClusterProgress()
    else:
        with _show_bar() as watch:
            yield watch


def _make_logger(event: str) -> Callable[[str, Any], None]:
    def line(pass_kind: str, about: int | Mapping[str, Any]) -> None:
        more = dict(about) if isinstance(about, Mapping) else {"rows": about}
        entry = {"time": round(time.time(), 3), "event": event, "pass": pass_kind, **more}
        sys.stderr.write(json.dumps(entry) + "\n")
        sys.stderr.flush()

    return line


@contextmanager
def _show_bar() -> Iterator[ClusterProgress]:
    """Show one bar: the pass, its rows, rows per second, the remaining time, and failures."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    from monge.cluster import ClusterProgress

    columns = (
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f} of "
            "{task.total:,.0f} rows"),
        TextColumn("{task.fields[speed]}"), TimeRemainingColumn(),
        TextColumn("{task.fields[failures]}"),
    )  # fmt: skip
    with Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as bar:
        task = bar.add_task("read", total=0, speed="", failures="")
        state = {"began": time.perf_counter(), "failed": 0.0}

        def began(pass_kind: str, rows: int) -> None:
            state.update(began=time.perf_counter())
            bar.reset(task, total=rows, description=pass_kind, speed="")

        def report_block(pass_kind: str, about: Mapping[str, Any]) -> None:
            state["failed"] += bool(about["error"]) + about["bad"]
            done = 0 if about["error"] else about["rows"]
            seconds = max(time.perf_counter() - state["began"], 1e-9)
            speed = f"{(bar.tasks[0].completed + done) / seconds:,.0f} rows/s"
            failures = f"{state['failed']:.0f} failures" if state["failed"] else ""
            bar.update(task, advance=done, speed=speed, failures=failures)

        yield ClusterProgress(began, report_block)
