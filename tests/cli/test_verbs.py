"""The other verbs: explain, metrics, show, selfcheck, help."""

from __future__ import annotations

import json
from html import unescape

import pytest
import typer

from monge.cli.app import VERBS, app
from monge.metrics.presets import PRESETS

PAIR = ("explain", "A dog jumps after a red ball.", "A dog is jumping for a red ball.")


@pytest.mark.parametrize(
    "metric", ["twmd", "moverscore", "bertscore", "emd", "lazy-emd", "sbert", "wordset-cka"]
)
def test_explanation_adds_up(monge, metric):
    found = monge(*PAIR, "-m", metric, "-f", "json")
    assert found.code == 0, found.err
    said = json.loads(found.out)
    assert said["metric"].partition("[")[0] == metric
    for side in ("hypothesis", "reference"):
        assert all({"text", "weight", "share"} <= set(unit) for unit in said[side]["units"])
    for plan in said["plans"].values():
        assert len(plan) == len(said["hypothesis"]["units"])
        assert len(plan[0]) == len(said["reference"]["units"])
    for name, plan in said["plans"].items():
        mass = sum(move["mass"] for move in said["moves"] if move["plan"] == name)
        assert mass == pytest.approx(sum(map(sum, plan)), abs=1e-3)


@pytest.mark.parametrize(
    ("kind", "holds"), [("text", "dog"), ("json", '"moves"'), ("html", "</html>"), ("svg", "<svg")]
)
def test_explanation_formats(monge, workplace, kind, holds):
    found = monge(*PAIR, "-f", kind)
    assert found.code == 0
    assert holds in found.out
    assert monge(*PAIR, "-f", kind, "-o", "out").out == ""
    assert (workplace / "out").read_text("utf-8") == found.out


def test_explanation_escapes_markup(monge):
    for kind in ("html", "svg"):
        found = monge("explain", "<script>alert(1)</script> & dog", "a 'dog' \" <b>", "-f", kind)
        assert found.code == 0
        assert "<script>alert" not in found.out
        assert "<b>" not in found.out


def test_explanation_of_nothing_is_refused(monge):
    found = monge("explain", " ", "a dog")
    assert (found.code, found.out) == (1, "")
    assert "hypothesis" in found.err


@pytest.mark.parametrize("kind", ["text", "json", "html"])
def test_explanation_without_statistics_says_what_was_changed(monge, tiny_bert, kind):
    found = monge(*PAIR, "-m", "moverscore", "--model", tiny_bert, "-f", kind)
    shown = " ".join(unescape(found.out).split())
    called = "moverscore[weights=uniform,units.specials=drop]"
    assert shown.count(called) >= 2  # over the score, and in the sentence
    assert f"This is {called}, not moverscore: no corpus statistics were given" in shown
    assert (
        "every word weighs the same instead of by its idf and special pieces such as [CLS] are "
        "left out" in shown
    )
    assert (
        monge(
            "fit",
            "-r",
            "reference.txt",
            "-m",
            "moverscore",
            "--model",
            tiny_bert,
            "-o",
            "stats.json",
        ).code
        == 0
    )
    fitted = monge(
        *PAIR, "-m", "moverscore", "--model", tiny_bert, "--stats", "stats.json", "-f", kind
    )
    assert fitted.code == 0
    assert "This is" not in fitted.out
    assert "weights=uniform" not in fitted.out


def test_metrics_lists_every_row(monge):
    found = monge("metrics")
    assert found.code == 0
    assert set(PRESETS) <= {line.split()[0] for line in found.out.splitlines() if line.strip()}
    listed = json.loads(monge("metrics", "-f", "json").out)
    assert set(PRESETS) <= set(listed)


@pytest.mark.parametrize("name", PRESETS)
def test_show(monge, name):
    found = monge("show", name)
    assert found.code == 0
    assert name in found.out
    said = json.loads(monge("show", name, "-f", "json").out)
    assert said["metric"] == name


def test_show_follows_settings(monge):
    assert "temperature=0.5" in monge("show", "twmd[transport.temperature=0.5]").out
    assert "temperature=0.5" in monge("show", "twmd", "--set", "transport.temperature=0.5").out
    assert (
        json.loads(monge("show", "bertscore", "--set", "readout=cost", "-f", "json").out)[
            "higher_is_better"
        ]
        is False
    )


def test_fit_says_when_there_is_nothing_to_fit(monge):
    found = monge("fit", "-r", "reference.txt", "-m", "bertscore", "-o", "stats.json")
    assert (found.code, found.out) == (2, "")
    assert "bertscore" in found.err


def test_selfcheck(outside):
    found = outside("selfcheck")
    assert found.code == 0, found.err
    assert found.out.startswith("ok:")


SCORING = ["score", "explain", "fit", "data", "metrics", "show", "selfcheck", "signature", "cache"]
STUDIES = ["compare", "evaluate", "sweep", "sensitivity", "reproduce", "analyse"]


@pytest.mark.parametrize("verb", [*SCORING, *STUDIES])
def test_every_verb_has_help(monge, verb):
    found = monge(verb, "--help")
    assert found.code == 0
    assert found.out.startswith("Usage: monge")
    assert found.err == ""


def test_help_says_what_every_verb_does_in_whole_sentences(monge):
    shown = " ".join(monge("--help").out.split())
    assert "..." not in shown.partition("Commands:")[2]
    assert all(does in shown for does in VERBS.values())


def test_no_verb_is_help(monge):
    found = monge()
    assert found.code == 2
    assert "Usage: monge" in found.err + found.out


def test_the_table_of_verbs_says_what_the_verbs_say():
    """The help of `monge` imports no verb, so its lines stand in a table."""
    context = typer.main.get_command(app)
    for name, does in VERBS.items():
        command = context.get_command(None, name)
        assert does == " ".join(command.help.split("\n\n")[0].split()), name


def test_show_prints_the_card_of_a_model(monge):
    card = monge("show", "mt")
    assert card.code == 0 and "mt for e5-small" in card.out
    assert "terms of the data" in card.out and "research purposes" in card.out
    (adapter,) = json.loads(monge("show", "auto+fast", "-f", "json").out)["adapters"]
    assert adapter["licence"] == "Apache-2.0" and adapter["teacher"] == "twmd of e5"
    packaged = json.loads(monge("show", "auto", "-f", "json").out)
    assert packaged["licence"] == "Apache-2.0" and packaged["languages"] == ["en"]
    assert monge("show", "s+wms").code == 0, "a metric whose name has a plus is no adapter"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("mtt",), "did you mean the model mt"),
        (("movrscore",), "did you mean moverscore"),
        (("mt", "--lang", "de"), "mt is a model: --set and --lang belong to metrics"),
        (("auto+fst",), "'fst' is no adapter: neither a directory"),
        (("e5-small+broad",), "no adapter broad for e5-small: there is one for all-MiniLM-L6-v2"),
    ],
)
def test_show_refuses_what_is_neither_metric_nor_model(monge, arguments, message):
    shown = monge("show", *arguments)
    assert shown.code in (2, 3) and message in shown.err and "Traceback" not in shown.err
