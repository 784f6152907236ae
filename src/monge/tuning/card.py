"""The card of an adapter as Markdown, its command line, and the curve of its training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import digits
from typing import Any

from monge.datasets import dataset_names
from monge.render.curve import Line, curve


def card_text(card: Mapping[str, Any]) -> str:
    """Return the card as Markdown."""
    base, plan, held = card["base"], card["plan"], card["held_out"]
    learned = "\n".join(
        f"| {lesson['data']} | {lesson['judgements']:,} | {lesson['licence'] or 'not stated'} |"
        for lesson in card["learned_from"]
    )
    before = next((point["agreement"] for point in card["curve"] if point["step"] == 0), None)
    method = plan["method"]
    methods = {
        "lora": f"low rank {method['rank']}",
        "last": f"last {method['blocks'] or 2} blocks",
        "all": "all weights",
        "mix": "a mix of layers",
    }
    layers = ", ".join(map(str, card["layers"]))
    changed = "" if before is None else f"{before:.4f} before, "
    made_with = ", ".join(f"{name} {value}" for name, value in card["made_with"].items())
    return (
        f"# An adapter for {base['name']}\n\nTuned through `{card['metric']}` at layer(s) "
        f"{layers}: {methods[method['name']]}, {card['parameters']:,} parameters, "
        f"{card['seconds']:.0f} s on {card['threads']} thread(s), {card['memory'] / 2**30:.1f} GB. "
        f"Base weights sha256 `{base['weights']}`.\n\n| learned from | judgements | licence "
        f"|\n|---|---:|---|\n{learned}\n\nHeld out: {held['data']}, {held['judgements']:,} "
        f"judgements: {held.get('statistic', 'agreement')} {changed}{held['agreement']:.4f} after. "
        f"{_overlap(card)}\n\n{_describe_average(card)}{_describe_units(card)}"
        f"Signature: `{card['signature']}`\n\nNot tried on: {', '.join(_untried(card))}.\n\n"
        f"Command: `{_make_command(card)}`\n\nMade with {made_with}; "
        "the plan with every setting, and the curve, stand in `card.json`.\n"
    )


def _make_command(card: Mapping[str, Any]) -> str:
    """Return the command that made an adapter, with placeholders for directories."""
    if "averaged" not in card:
        return command(card["plan"])
    parts = " ".join(
        f"'PART{number}*{part['weight']:g}'" for number, part in enumerate(card["averaged"], 1)
    )
    return f"monge adapter average {parts} --data DIR -o ADAPTER"


def _describe_average(card: Mapping[str, Any]) -> str:
    """Return a paragraph on the adapters that were averaged, empty for one that was trained."""
    if "averaged" not in card:
        return ""
    parts = "\n".join(
        f"- {part['weight']:g} of `{part['sha256'][:8]}`: `{command(part['plan'])}`"
        for part in card["averaged"]
    )
    count = len(card["averaged"])
    return f"The mean of {count} adapters, of rank {card['rank']}:\n\n{parts}\n\n"


def _describe_units(card: Mapping[str, Any]) -> str:
    """Return a paragraph on the map from scores to human scores, where the adapter has one."""
    affine = card.get("affine")
    if not affine:
        return ""
    return (
        f"`{affine['slope']:.4f} * score {affine['intercept']:+.4f}` gives human z scores, "
        f"off by {affine['error']:.3f} (root mean square) on the held-out part.\n\n"
    )


def _untried(card: Mapping[str, Any]) -> list[str]:
    """Return the kinds of data sets that the adapter neither learned from nor was tried on."""
    used = [source["data"] for source in (*card["learned_from"], card["held_out"])]
    kinds = dict.fromkeys(name.rstrip(digits) for name in dataset_names() if name != "table")
    return [kind for kind in kinds if not any(kind in data for data in used)]


def _overlap(card: Mapping[str, Any]) -> str:
    """Return a sentence on texts both held out and learned from, and on those left out."""
    if "texts_also_learned" not in card["held_out"]:
        return (
            "Texts of the held-out part may have been learned from: this adapter was made "
            "before they were kept apart."
        )
    left_out = ", ".join(
        f"{lesson['left_out']:,} of {lesson['data']}"
        for lesson in card["learned_from"]
        if lesson["left_out"]
    )
    return (
        f"Of its sources, references and outputs, {card['held_out']['texts_also_learned']:,} were "
        "learned from"
        + (f"; judgements that share one were left out: {left_out}." if left_out else ".")
    )


def command(plan: Mapping[str, Any]) -> str:
    """Return the command line of a plan, with a placeholder for the directory of the data."""
    lessons = []
    for lesson in plan["lessons"]:
        kind = "" if lesson["objective"] == "auto" else f"{lesson['objective']}:"
        options = ",".join("=".join(option) for option in lesson["options"])
        times = "" if lesson["weight"] == 1 else f"*{lesson['weight']:g}"
        lessons.append(
            f"--train '{kind}{lesson['data']}{f'({options})' if options else ''}{times}'"
        )
    method, schedule, teacher = plan["method"], plan["schedule"], plan["teacher"]
    options_by_name = {
        "--pairs": ",".join(plan["pairs"] or ()), "--dev": plan["dev"], "--model": plan["model"],
        "--human": plan["human"], "--grades": plan["grades"],
        "--teacher": teacher and teacher["metric"], "--teacher-model": teacher and teacher["model"],
        "--method": method["name"], "--rank": method["rank"], "--blocks": method["blocks"],
        "--precision": method["precision"],
        "--epochs": schedule["epochs"], "--batch": schedule["batch"], "--rate": schedule["rate"],
        "--seed": schedule["seed"],
    }  # fmt: skip
    option_texts = [
        f"{name} '{value}'" for name, value in options_by_name.items() if value not in (None, "")
    ]
    settings = [f"--set '{setting}'" for setting in plan["settings"]]
    return " ".join(
        [
            "monge tune",
            plan["metric"],
            *lessons,
            "--data DIR",
            *option_texts,
            *settings,
            "-o ADAPTER",
        ]
    )


def curve_svg(points: Sequence[Mapping[str, Any]]) -> str:
    """Draw loss and held-out agreement over steps as SVG."""
    lines = [
        Line(name, [(point["step"], point[key]) for point in points if point[key] is not None])
        for name, key in (("loss", "loss"), ("agreement with held-out people", "agreement"))
    ]
    return curve([line for line in lines if line.points], across="steps")
