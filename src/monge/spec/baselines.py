"""Published baselines of BERTScore: the mean of each part over random pairs, by language, model and layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from monge.spec.axes import Baseline, Encoder, Layers, References, Scale
from monge.spec.metric import MetricSpec
from monge.spec.rows import CORE

_PARTS = ("precision", "recall", "f1")


@cache
def _table() -> Mapping[tuple[str, str, int], tuple[float, ...]]:
    lines = (files("monge.spec") / "baselines.tsv").read_text("utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith(("#", "language\t"))]
    return {(lang, model.lower(), int(layer)): tuple(map(float, values)) for lang, model, layer, *values in rows}


def published(spec: MetricSpec, model: str) -> dict[str, float] | None:
    """The published baseline of each part, where the spec is what the package bert-score computes and knows."""
    ours = replace(spec, encoder=Encoder(), layers=Layers(), references=References("max-each"), scale=Scale("raw"))
    if ours != CORE["bertscore@release"].spec or not isinstance(spec.scale, Baseline):
        return None
    layer = spec.layers.at if isinstance(spec.layers.at, int) else -1
    names = (model.lower(), model.lower().rpartition("/")[2])
    found = next((row for name in names if (row := _table().get((spec.scale.lang, name, layer)))), None)
    return {**dict(zip(_PARTS, found, strict=True)), "score": found[2]} if found else None
