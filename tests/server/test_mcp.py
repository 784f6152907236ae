"""`monge mcp`, driven by the client of the package mcp over stdin and stdout."""

from __future__ import annotations

import json
import os
import sys
import threading
from types import SimpleNamespace

import anyio
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.server.mcpserver.exceptions import ToolError

import monge
from monge.server.limits import Limits
from monge.server.mcp_tools import Tools

PAIR = {"hypothesis": "The cat slept on the mat.", "reference": "A cat was sleeping on the mat."}


def call_tools(*calls, limits=()):
    """The tools of a server that was started for this, and the answer to every call."""
    options = [word for limit in limits for word in ("--limit", limit)]
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "monge", "mcp", *options], env=_environment()
    )

    async def talk():
        async with Client(stdio_client(server)) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    return anyio.run(talk)


def _environment():
    return {
        name: value for name, value in os.environ.items() if "PYTHON" in name or "MONGE" in name
    }


@pytest.fixture(scope="module")
def answers():
    texts = [PAIR["hypothesis"], "It rains."]
    references = [PAIR["reference"], "Rain falls."]
    systems = {"a": texts, "b": ["A dog.", "It rains."]}
    long = ["x" * 301]
    calls = {
        "score": ("score", {"hypotheses": texts, "references": references, "metrics": ["monge", "chrf"]}),
        "compare": ("compare", {"systems": systems, "references": references, "resamples": 100}),
        "explain": ("explain", PAIR),
        "recommend": ("recommend", {"task": "translation"}),
        "many": ("score", {"hypotheses": ["a"] * 5, "references": ["a"] * 5}),
        "long": ("score", {"hypotheses": long, "references": long}),
        "metric": ("score", {"hypotheses": ["a"], "references": ["a"], "metrics": ["twmdd"]}),
        "misaligned": ("score", {"hypotheses": ["a", "b"], "references": ["a"]}),
        "task": ("recommend", {"task": "poems"}),
        "schema": ("score", {"hypotheses": 3}),
        "file": ("score", {"hypotheses": ["a"], "references": ["a"], "settings": ["encoder.model=/etc"]}),
    }  # fmt: skip
    tools, results = call_tools(*calls.values(), limits=("pairs=4", "characters=300"))
    return tools, dict(zip(calls, results, strict=True))


def test_the_tools_are_described(answers):
    tools = {tool.name: tool for tool in answers[0]}
    assert list(tools) == ["score", "compare", "explain", "recommend"]
    assert tools["score"].input_schema["required"] == ["hypotheses"]
    assert all(tool.description and tool.annotations.read_only_hint for tool in tools.values())


def test_scores_are_those_of_the_library(answers):
    content = answers[1]["score"].structured_content
    expected = monge.score([PAIR["hypothesis"], "It rains."], [PAIR["reference"], "Rain falls."])
    text = json.dumps(content)
    assert str(expected.signature) in text and "chrf" in text
    (scores,) = [row["score"] for row in content["results"] if row["metric"] == "monge"]
    assert scores == pytest.approx(expected.score)


def test_systems_pairs_and_advice(answers):
    results = answers[1]
    assert not any(results[name].is_error for name in ("compare", "explain", "recommend"))
    assert '"a"' in results["compare"].content[0].text
    assert "mat" in results["explain"].content[0].text
    assert results["recommend"].structured_content["choice"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("many", "5, at most 4; send less, or start with --limit pairs=N"),
        ("long", "301, at most 300"),
        ("metric", "did you mean twmd"),
        ("misaligned", "2 hypotheses"),
        ("task", "poems"),
        ("schema", "hypotheses"),
        ("file", "encoder.model"),
    ],
)
def test_refusals_are_one_line(answers, name, message):
    result = answers[1][name]
    assert result.is_error and message in result.content[0].text
    assert "Traceback" not in result.content[0].text


def test_time_and_size_are_limited():
    """A request that takes too long is given up, and its work is told to stop."""
    stopped, tickets = threading.Event(), []

    def score(request, ticket):
        tickets.append(ticket)
        stopped.wait(20)
        return b"{}"

    service = SimpleNamespace(limits=Limits(seconds=1, body=300), score=score)

    async def ask(text):
        await Tools(service).score([text], [text])

    try:
        with pytest.raises(ToolError, match="no answer within 1 seconds"):
            anyio.run(ask, "a")
        assert tickets[0].cancelled
    finally:
        stopped.set()
    with pytest.raises(ToolError, match="at most 300 are taken"):
        anyio.run(ask, "a" * 300)
