"""Check names in src/monge: no vague variable or parameter, and no public class name that exists
twice.

    python tools/check_names.py            # part of `make lint`

A variable is named after what it holds; the words in VAGUE leave the noun out.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "monge"
WORDS = """
one ones found mine theirs ours said told heard given known some every each other others here
there where what whole single twice many few much does made kept left taken wanted asked shown seen
named called placed joined counted listed drawn judged looked faced facing gone company elsewhere
thing things stuff tmp obj val res ret
"""
VAGUE = frozenset(WORDS.split())
ALLOWED = frozenset(
    {
        "api/metric.py:asked",
        "cli/explain.py:every",
        "cli/signature.py:one",
        "cli/signature.py:other",
        "compat/quality.py:seen",
        "compat/torchmetrics.py:val",
        "datasets/judged.py:each",
        "encoders/packaged.py:whole",
        "evaluation/score_book.py:elsewhere",
        "papers/claims.py:ours",
        "papers/tables.py:listed",
        "papers/tables.py:ours",
        "recommendation/recommend.py:every",
        "render/explanation.py:every",
        "render/explanations.py:every",
        "report/sections.py:said",
        "server/browse.py:other",
        "server/schemas.py:one",
        "server/schemas.py:other",
        "server/schemas.py:whole",
        "types/table.py:said",
    }
)
"""Fields and options that are part of an interface or a file format, as `ROOM/FILE.py:NAME`."""
COORDINATES = frozenset({"left"})
"""Words that name a place in a drawing."""
TWICE_ALLOWED = frozenset({"MongeScore", "BERTScore"})
"""Classes of `compat` that are called as those of the libraries they stand for."""


def vague_bindings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and name of every vague variable or parameter; `other` is usual in `__add__`
    and the like.
    """
    tree = ast.parse(path.read_text("utf-8"))
    operators = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("__")
        for argument in node.args.args
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Name)
            and isinstance(node.ctx, ast.Store)
            and node.id.strip("_") in VAGUE
        ):
            yield node.lineno, node.id
        elif (
            isinstance(node, ast.arg) and node.arg.strip("_") in VAGUE and id(node) not in operators
        ):
            yield node.lineno, node.arg


def public_classes() -> dict[str, list[str]]:
    """Return the places of every public class."""
    places = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{path.relative_to(SOURCE)}:{node.lineno}")
    return places


def main() -> int:
    """Print what is wrong; return 1 where there is anything."""
    problems = []
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        problems += [
            f"{file}:{line}: {name!r} says nothing about what it holds"
            for line, name in vague_bindings(path)
            if f"{file}:{name}" not in ALLOWED
            and not (name in COORDINATES and file.startswith(("render/", "report/")))
        ]
    twice = {
        name: places
        for name, places in public_classes().items()
        if len(places) > 1 and name not in TWICE_ALLOWED
    }
    problems += [
        f"class {name} exists {len(places)} times: {', '.join(places)}"
        for name, places in twice.items()
    ]
    sys.stdout.write("".join(f"{problem}\n" for problem in problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
