"""Bundles of options: the command line shows each option in its place, the command gets them as one
value.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from inspect import Parameter, signature
from typing import Annotated, Any

import pytest
import typer

from monge.cli import compare, evaluate, option_groups, score, sensitivity, sweep


@dataclass(frozen=True)
class Pair:
    first: Annotated[str, typer.Option("--first")]
    second: Annotated[int, typer.Option("--second")] = 2


@option_groups.flatten_options
def command(*, name: Annotated[str, typer.Argument()] = "x", pair: Pair, last: bool = False) -> Any:
    """A command."""
    return name, pair, last


def test_the_options_stand_where_the_bundle_stood():
    shown = signature(command).parameters
    assert list(shown) == ["name", "first", "second", "last"]
    assert [one.default for one in shown.values()] == ["x", Parameter.empty, 2, False]
    assert command.__doc__ == "A command."


def test_the_command_gets_the_bundle():
    assert command(name="y", first="a", second=3, last=True) == ("y", Pair("a", 3), True)


def test_typer_parses_it():
    app = typer.Typer()
    app.command()(command)
    found = typer.main.get_command(app).main(["z", "--first", "a"], standalone_mode=False)
    assert found == ("z", Pair("a", 2), False)


@pytest.mark.parametrize(
    "verb", [score.score, compare.compare, evaluate.evaluate, sweep.sweep, sensitivity.sensitivity]
)
def test_verbs_that_score_share_setup_and_cache(verb):
    shown = signature(verb).parameters
    for bundle in (option_groups.SetupOptions, option_groups.CacheOptions):
        assert {one.name for one in fields(bundle)} <= set(shown)
    assert shown["model"].default == "auto"


def test_no_cache_wins_over_a_cache():
    assert option_groups.CacheOptions(cache="here").folder == "here"
    assert option_groups.CacheOptions(cache="here", no_cache=True).folder is None


def test_pairs_are_split_and_trimmed():
    assert option_groups.JudgementOptions("d", pairs=" cs-en, de-en,").groups == ["cs-en", "de-en"]
    assert option_groups.JudgementOptions("d").groups is None
