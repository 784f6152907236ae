"""What is said about an adapter: a card for people, and the curve of its training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from monge.render.curve import Line, curve

KINDS = ("wmt", "sts", "summeval", "tac", "bagel", "sfhotel", "sfrest", "flickr8k", "mlqe-pe")
"""Kinds of data that there are judgements of, by the beginning of a data set's name."""


def card_text(card: Mapping[str, Any]) -> str:
    """The card as Markdown."""
    base, plan, held = card["base"], card["plan"], card["held_out"]
    learned = "\n".join(
        f"| {one['data']} | {one['judgements']:,} | {one['licence'] or 'not stated'} |" for one in card["learned_from"]
    )
    before = next((one["agreement"] for one in card["curve"] if one["step"] == 0), None)
    method = plan["method"]
    how = {"lora": f"low rank {method['rank']}", "last": f"last {method['blocks'] or 2} blocks", "all": "all weights"}
    how["mix"] = "a mix of layers"
    affine = card.get("affine")
    units = (
        f"`{affine['slope']:.4f} * score {affine['intercept']:+.4f}` gives human z scores, "
        f"off by {affine['error']:.3f} (root mean square) on the held-out part.\n\n"
        if affine
        else ""
    )
    tried = {kind for kind in KINDS for one in [*card["learned_from"], held] if kind in one["data"]}
    return (
        f"# An adapter for {base['name']}\n\n"
        f"Tuned through `{card['metric']}` at layer(s) {', '.join(map(str, card['layers']))}: "
        f"{how[method['name']]}, {card['parameters']:,} parameters, {card['seconds']:.0f} s on {card['threads']} "
        f"thread(s), {card['memory'] / 2**30:.1f} GB. "
        f"Base weights sha256 `{base['weights']}`.\n\n"
        f"| learned from | judgements | licence |\n|---|---:|---|\n{learned}\n\n"
        f"Held out: {held['data']}, {held['judgements']:,} judgements: agreement "
        f"{'' if before is None else f'{before:.4f} before, '}{held['agreement']:.4f} after. {_apart(card)}\n\n{units}"
        f"Signature: `{card['signature']}`\n\n"
        f"Not tried on: {', '.join(kind for kind in KINDS if kind not in tried)}.\n\n"
        f"Command: `{command(plan)}`\n\n"
        f"Made with {', '.join(f'{name} {value}' for name, value in card['made_with'].items())}; "
        f"the plan with every setting, and the curve, stand in `card.json`.\n"
    )


def _apart(card: Mapping[str, Any]) -> str:
    """How many texts of the held-out part were learned from too, and what was left out for it."""
    if "texts_also_learned" not in card["held_out"]:
        return (
            "Texts of the held-out part may have been learned from: this adapter was made before they were kept apart."
        )
    left_out = ", ".join(f"{one['left_out']:,} of {one['data']}" for one in card["learned_from"] if one["left_out"])
    return f"Of its sources, references and outputs, {card['held_out']['texts_also_learned']:,} were learned from" + (
        f"; judgements that share one were left out: {left_out}." if left_out else "."
    )


def command(plan: Mapping[str, Any]) -> str:
    """The command line of a plan; where the data lies is left open."""
    lessons = []
    for one in plan["lessons"]:
        kind = "" if one["objective"] == "auto" else f"{one['objective']}:"
        more = ",".join("=".join(option) for option in one["options"])
        times = "" if one["weight"] == 1 else f"*{one['weight']:g}"
        lessons.append(f"--train '{kind}{one['data']}{f'({more})' if more else ''}{times}'")
    method, schedule, teacher = plan["method"], plan["schedule"], plan["teacher"]
    said = {
        "--pairs": ",".join(plan["pairs"] or ()), "--dev": plan["dev"], "--model": plan["model"],
        "--human": plan["human"], "--grades": plan["grades"],
        "--teacher": teacher and teacher["metric"], "--teacher-model": teacher and teacher["model"],
        "--method": method["name"], "--rank": method["rank"], "--blocks": method["blocks"],
        "--precision": method["precision"],
        "--epochs": schedule["epochs"], "--batch": schedule["batch"], "--rate": schedule["rate"],
        "--seed": schedule["seed"],
    }  # fmt: skip
    given = [f"{name} '{value}'" for name, value in said.items() if value not in (None, "")]
    settings = [f"--set '{one}'" for one in plan["settings"]]
    return " ".join(["monge tune", plan["metric"], *lessons, "--data DIR", *given, *settings, "-o ADAPTER"])


def curve_svg(points: Sequence[Mapping[str, Any]]) -> str:
    """Loss and held-out agreement over steps."""
    lines = [
        Line(name, [(one["step"], one[key]) for one in points if one[key] is not None])
        for name, key in (("loss", "loss"), ("agreement with held-out people", "agreement"))
    ]
    return curve([one for one in lines if one.points], across="steps")
