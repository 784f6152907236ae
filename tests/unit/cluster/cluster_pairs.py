"""Pairs to score on a cluster, the metrics, and how one machine scores them."""

from __future__ import annotations

import json
import random

from monge import api
from monge.cluster import Recipe
from monge.metrics.presets import resolve
from monge.render import render_results

METRICS = ("twmd", "bertscore[weights=idf]", "twmd[centre=corpus]", "bleu")
WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "dog",
    "ran",
    "to",
    "house",
    "and",
    "slept",
    "a",
    "in",
    "it",
    "he",
    "she",
    "said",
    "hello",
    "world",
    "not",
    "new",
    "wall",
    "river",
]


def write_pairs(path, rows: int = 700, systems=("A", "B"), seed: int = 1):
    """A table of two systems whose items share their references, system after system; texts come
    again.
    """
    drawn = random.Random(seed)
    pool = [" ".join(drawn.choices(WORDS, k=drawn.randint(4, 18))) for _ in range(rows)]
    with path.open("w", encoding="utf-8") as file:
        for system in systems:
            for item in range(rows):
                row = {
                    "id": f"i{item}",
                    "system": system,
                    "hypothesis": drawn.choice(pool),
                    "reference": pool[item],
                }
                file.write(json.dumps(row) + "\n")
    return path


def recipe(model, *names: str) -> Recipe:
    return Recipe([resolve(name, (), None) for name in names or METRICS], model=str(model))


def plain(rows, model, *names: str) -> str:
    """The JSON of one machine."""
    results = api.score_segments([api.load(name, model=model) for name in names or METRICS], rows)
    return "".join(render_results(api.with_intervals(results), "json", version="0.1.0"))


def parts(folder) -> dict[str, bytes]:
    """The parts of a run."""
    return {path.name: path.read_bytes() for path in sorted((folder / "parts").iterdir())}
