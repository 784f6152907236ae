"""Average adapters of one base model: the mean of their changes, as one adapter.

Adapters that were trained apart, on other lessons or with other seeds, err apart, so the mean of
their changes often agrees better with people than each of them (Wortsman et al. 2022, model soups).
The changes of low rank are added, weighted, and brought back to a rank by singular values:

    W + sum over adapters of weight * B A    ->    W + B' A',   B' A' the nearest of that rank
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from monge import api
from monge.encoders import digests
from monge.encoders.adapter import CARD, IN, OUT, WEIGHTS, Adapter, read_adapter
from monge.errors import InvalidSetting
from monge.metrics.presets import resolve
from monge.tuning.card import card_text
from monge.tuning.examples import Examples
from monge.tuning.judge import group_agreement
from monge.tuning.lessons import DataLocation
from monge.tuning.seen_rows import draw_held_out, list_rows
from monge.types import Array

_ALIKE = ("metric", "layers", "base")
"""Entries of cards that averaged adapters must share."""


@dataclass(frozen=True)
class WeightedAdapter:
    """An adapter and its weight in an average."""

    adapter: Adapter
    weight: float

    @classmethod
    def parse(cls, text: str, count: int) -> WeightedAdapter:
        """Parse DIR or DIR*WEIGHT; without a weight, each of `count` adapters weighs the same."""
        path, star, written = text.rpartition("*")
        try:
            weight = float(written) if star else 1 / count
        except ValueError:
            raise InvalidSetting(f"an adapter is DIR or DIR*WEIGHT, got {text!r}") from None
        if not 0 < weight <= 1:
            raise InvalidSetting(f"{text}: a weight is above 0 and at most 1, got {weight:g}")
        return cls(read_adapter(Path(path if star else text)), weight)


def average_adapters(
    texts: Sequence[str], output: Path, *, data: str | Path, rank: int | None = None
) -> dict[str, Any]:
    """Write the average of adapters, given as DIR or DIR*WEIGHT, and return its card.

    `data` is the directory of the judgements that they learned from: agreement and the line to
    human z scores are measured on the judgements that all of them held out. Without `rank`, the
    average has the ranks of all of them together, and nothing is cut off.
    """
    if len(texts) < 2:
        raise InvalidSetting("an average takes two adapters or more")
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise InvalidSetting(f"{output} exists and is not an empty directory: choose another -o")
    weighted = [WeightedAdapter.parse(text, len(texts)) for text in texts]
    check_alike([part.adapter for part in weighted])
    held = find_common_held_out([part.adapter for part in weighted], data)
    tensors = average_changes(weighted, rank)
    content = save(tensors)
    card = make_card(weighted, tensors)
    card["sha256"] = digests.of_bytes(content)
    output.mkdir(parents=True, exist_ok=True)
    (output / WEIGHTS).write_bytes(content)
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder) / output.name
        trial.mkdir()
        (trial / WEIGHTS).write_bytes(content)
        _write_card(trial, card)
        card |= measure_agreement(card, trial, held)
    _write_card(output, card)
    (output / "README.md").write_text(card_text(card), "utf-8")
    return card


def check_alike(adapters: Sequence[Adapter]) -> None:
    """Raise where adapters have another base, metric or layer, or are not of low rank."""
    first = adapters[0]
    for adapter in adapters:
        replaced = next((name for name in adapter.tensors if not name.endswith((OUT, IN))), None)
        if replaced is not None:
            raise InvalidSetting(
                f"{adapter.directory}: it replaces {replaced}; adapters of method lora are averaged"
            )
        for key in _ALIKE:
            was, now = first.card[key], adapter.card[key]
            if key == "base":
                was, now = was["weights"][:8], now["weights"][:8]
            if was != now:
                raise InvalidSetting(
                    f"{adapter.directory}: its {key} is {now}, that of {first.directory} is {was}: "
                    "only adapters of one base, metric and layer are averaged"
                )
        if adapter.tensors.keys() != first.tensors.keys():
            raise InvalidSetting(
                f"{adapter.directory}: it changes other weights than {first.directory}"
            )


def find_common_held_out(adapters: Sequence[Adapter], data: str | Path) -> Examples:
    """Return the judgements that all adapters held out; raise where these differ."""
    location = DataLocation(data)
    first, *rest = [
        draw_held_out(str(adapter.directory), adapter.card, location) for adapter in adapters
    ]
    for adapter, held in zip(adapters[1:], rest, strict=True):
        if list_rows(held) != list_rows(first):
            raise InvalidSetting(
                f"{adapter.directory} held out other judgements than {adapters[0].directory}, so "
                "nothing is left to measure the average with: train both with the same first "
                "--train, --dev and --seed"
            )
    return first


def average_changes(weighted: Sequence[WeightedAdapter], rank: int | None) -> dict[str, Tensor]:
    """Return the weighted sum of low-rank changes, each brought to a rank."""
    if rank is not None and rank < 1:
        raise InvalidSetting(f"rank {rank} must be 1 or more")
    tensors: dict[str, Tensor] = {}
    for name in weighted[0].adapter.tensors:
        if not name.endswith(OUT):
            continue
        target = name.removesuffix(OUT)
        change = sum(
            part.weight
            * part.adapter.tensors[name].double()
            @ part.adapter.tensors[target + IN].double()
            for part in weighted
        )
        assert isinstance(change, Tensor)
        left_vectors, values, right_vectors = torch.linalg.svd(change, full_matrices=False)
        total = sum(part.adapter.tensors[target + IN].shape[0] for part in weighted)
        size = min(rank or total, len(values))
        root = values[:size].sqrt()
        tensors[name] = (left_vectors[:, :size] * root).half().contiguous()
        tensors[target + IN] = (root[:, None] * right_vectors[:size]).half().contiguous()
    return tensors


def make_card(weighted: Sequence[WeightedAdapter], tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the card of an average: that of its first adapter, with what all of them learned."""
    cards = [dict(part.adapter.card) for part in weighted]
    lessons = {
        json.dumps(lesson, sort_keys=True): lesson
        for card in cards
        for lesson in card["learned_from"]
    }
    averaged = [
        {"weight": part.weight, "sha256": card["sha256"], "plan": card["plan"]}
        for part, card in zip(weighted, cards, strict=True)
    ]
    return {
        **cards[0],
        "parameters": sum(tensor.numel() for tensor in tensors.values()),
        "learned_from": list(lessons.values()),
        "averaged": averaged,
        "rank": max(tensor.shape[0] for name, tensor in tensors.items() if name.endswith(IN)),
        "curve": [],
    }


def measure_agreement(card: Mapping[str, Any], folder: Path, held: Examples) -> dict[str, Any]:
    """Return agreement with held-out judgements, the line to human z scores, and the signature."""
    settings = tuple(card["plan"]["settings"])
    name, spec = resolve(card["metric"], settings)
    metric = api.bind(name, spec, model=f"{card['base']['model']}+{folder}")
    (result,) = api.score_segments([metric], held.rows)
    scores = np.asarray(result.segments, dtype=np.float64)
    assert held.targets is not None
    sign = 1.0 if result.higher_is_better else -1.0
    slope, intercept = np.polyfit(sign * scores, held.targets, 1)
    off: Array = slope * sign * scores + intercept - held.targets
    return {
        "held_out": {
            **card["held_out"],
            "agreement": group_agreement(sign * scores, held),
        },
        "affine": {
            "slope": float(slope),
            "intercept": float(intercept),
            "error": float(np.sqrt((off**2).mean())),
        },
        "signature": str(result.signature),
    }


def _write_card(folder: Path, card: Mapping[str, Any]) -> None:
    text = json.dumps(card, indent=1, allow_nan=False)
    (folder / CARD).write_text(f"{text}\n", "utf-8")
