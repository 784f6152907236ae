"""The pytest plugin `monge`: the fixture `assert_quality`, and the option `--monge-update`.

Importing it imports nothing of monge: it is loaded in every pytest run of an environment that has
monge.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from monge.compat.quality import Check
    from monge.types import Result

_CHECKS = pytest.StashKey[list[str]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--monge-update`."""
    group = parser.getgroup("monge", "quality of generated text")
    group.addoption(
        "--monge-update",
        action="store_true",
        help="write the baseline files of assert_quality(not_worse_than=...) instead of comparing "
        "with them",
    )


@pytest.fixture(name="assert_quality")
def _assert_quality(request: pytest.FixtureRequest) -> Callable[..., Result]:
    """Provide `assert_quality`, which fails with a report if texts are worse than required."""
    from monge.compat.quality import assert_quality

    lines = request.config.stash.setdefault(_CHECKS, [])

    def note_check(check: Check) -> None:
        lines.append(f"{request.node.name}: {check.line}")

    return partial(
        assert_quality, update=request.config.getoption("--monge-update"), seen=note_check
    )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print one line per check, passed or not."""
    lines = config.stash.get(_CHECKS, [])
    if lines:
        terminalreporter.section("quality of texts (monge)")
        for line in lines:
            terminalreporter.write_line(line)
