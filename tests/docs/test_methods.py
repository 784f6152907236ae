"""Everything that docs/methods.md names exists: metrics, settings, data sets, tables, commands."""

import re
import shlex

import pytest
from make_methods import PAGE, describe_place, read_methods, rows

from monge.cli.app import command_of
from monge.datasets import dataset_names
from monge.errors import MongeError
from monge.evaluation.question import named as named_statistic
from monge.metrics.metric import MetricSpec
from monge.metrics.presets import resolve
from monge.papers import table_named
from monge.papers.tables import LOG
from monge.text.stopwords import load as load_stopwords
from monge.tuning import Lesson
from monge.tuning.lessons import _check_objective

ROWS = list(rows())
DATA_VERBS = ("evaluate", "sweep", "sensitivity")
PLACES = ("metrics", "commands", "data", "tables", "page", "note", "missing")


def named(kind):
    return sorted({name for _, row in ROWS for name in row.get(kind, ())})


@pytest.mark.parametrize("metric", named("metrics"))
def test_every_metric_and_setting_resolves(metric):
    _, spec = resolve(metric)
    if isinstance(spec, MetricSpec):
        load_stopwords(spec.units.stopwords)


@pytest.mark.parametrize("name", named("data"))
def test_every_data_set_is_known(name):
    assert name in dataset_names()


@pytest.mark.parametrize("name", named("tables"))
def test_every_table_is_known(name):
    assert table_named(name).name == name


def check_command(command):
    """Raise for a verb, option, metric, data set, table or lesson that does not exist."""
    program, verb, *words = shlex.split(command)
    assert program == "monge", command
    click_command = command_of(verb)
    flags = {
        option: parameter.is_flag
        for parameter in click_command.params
        for option in (*parameter.opts, *parameter.secondary_opts)
        if option.startswith("-")
        for parameter in [parameter]
    }
    values, plain = {}, []
    words = iter(words)
    for word in words:
        if word.startswith("-"):
            assert word in flags, f"{command}: no option {word}"
            if not flags[word]:
                values.setdefault(word, []).append(next(words))
        else:
            plain.append(word)
    for metric in values.get("-m", []):
        resolve(metric)
    for setting in values.get("--vary", []):
        axis, _, choices = setting.partition("=")
        for choice in choices.split(","):
            resolve(values["-m"][0], (f"{axis}={choice}",))
    for lesson in values.get("--train", []):
        _check_objective(Lesson.parse(lesson))
    for statistic in values.get("--statistic", []):
        named_statistic(statistic, "scores", errors=True)
    if verb in DATA_VERBS:
        assert plain[0] in dataset_names(), command
    assert all(name in dataset_names() for name in values.get("--test", [])), command
    if verb == "reproduce" and plain[0] != LOG:
        table_named(plain[0])
    if verb == "tune":
        resolve(plain[0])


@pytest.mark.parametrize("command", named("commands"))
def test_every_command_has_its_verb_options_and_names(command):
    check_command(command)


@pytest.mark.parametrize(
    "command",
    [
        "monge score -t H -r R -m moverscor",
        "monge score --no-such-option",
        "monge evaluate wmt71 --data DIR -m twmd",
        "monge sweep wmt17 -m twmd --vary transport.temperatur=1",
        "monge reproduce moverscore-99 --data DIR",
        "monge tune twmd --train clasify:FILE --data DIR -o A",
    ],
)
def test_a_name_that_does_not_exist_is_found(command):
    with pytest.raises((AssertionError, MongeError)):
        check_command(command)


def test_every_page_and_anchor_exists():
    for _, row in ROWS:
        if "page" in row:
            page, _, anchor = row["page"].partition("#")
            text = (PAGE.parent / page).read_text("utf-8")
            headings = [
                re.sub(r"[^a-z0-9 -]", "", line.lstrip("# ").lower()).strip().replace(" ", "-")
                for line in text.splitlines()
                if line.startswith("#")
            ]
            assert not anchor or anchor in headings, row["page"]


def test_every_row_says_where_or_why_not():
    for paper, row in ROWS:
        assert set(row) <= {"what", "where", *PLACES}, (paper, row)
        assert describe_place(row), (paper, row)
        assert any(key in row for key in PLACES if key != "note") or "note" in row


def test_five_papers_with_methods_baselines_data_and_protocols():
    papers = read_methods()
    assert len(papers) == 5
    for paper in papers:
        kinds = [group["name"] for group in paper["groups"]]
        assert kinds == ["Methods and settings", "Baselines", "Data and protocol"]


def test_every_reproduced_table_is_on_the_page():
    from monge.papers import tables

    assert set(tables()) == set(named("tables"))
