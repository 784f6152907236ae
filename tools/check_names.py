"""Check names and sizes: vague variables, repeated class names, functions that are too long.

    python tools/check_names.py            # part of `make lint`

A variable is named after what it holds; the words in VAGUE leave the noun out. Variables are
checked in src/monge, tools, benchmarks and examples; class names and the length of functions in
src/monge.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "monge"
SCRIPTS = (ROOT / "tools", ROOT / "benchmarks", ROOT / "examples")
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
        "benchmarks/timing.py:ours",
        "benchmarks/timing.py:what",
    }
)
"""Fields and options that are part of an interface or a file format, as `FILE.py:NAME`."""
COORDINATES = frozenset({"left"})
"""Words that name a place in a drawing."""
REPEATED_CLASSES = frozenset({"MongeScore", "BERTScore"})
"""Classes of `compat` that are called as those of the libraries they stand for."""


LONGEST = 40
"""Lines that a function of src/monge may have."""


def find_vague_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of every vague variable or parameter; `other` is usual in `__add__`."""
    operators = {
        id(argument)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("__")
        for argument in node.args.args
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
        elif isinstance(node, ast.arg) and id(node) not in operators:
            name = node.arg
        else:
            continue
        if name.strip("_") in VAGUE:
            yield node.lineno, name


def measure_functions(node: ast.AST, owner: str = "") -> Iterator[tuple[str, int, int]]:
    """Yield qualified name, first line and number of lines of every function."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            continue  # functions stand in statements only
        inner = owner
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inner = f"{owner}{child.name}."
            if not isinstance(child, ast.ClassDef):
                lines = (child.end_lineno or child.lineno) - child.lineno + 1
                if ast.get_docstring(child) is not None:  # examples may be long
                    docstring = child.body[0]
                    lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
                yield inner.rstrip("."), child.lineno, lines
        yield from measure_functions(child, inner)


def find_vague(trees: dict[str, ast.Module]) -> Iterator[str]:
    """Yield a complaint per vague name that is not allowed."""
    for file, tree in trees.items():
        for line, name in find_vague_names(tree):
            is_coordinate = name in COORDINATES and file.startswith(("render/", "report/"))
            if f"{file}:{name}" not in ALLOWED and not is_coordinate:
                yield f"{file}:{line}: {name!r} says nothing about what it holds"


def find_repeated_classes(trees: dict[str, ast.Module]) -> Iterator[str]:
    """Yield a complaint per public class name that exists more than once."""
    places = defaultdict(list)
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(f"{file}:{node.lineno}")
    for name, lines in places.items():
        if len(lines) > 1 and name not in REPEATED_CLASSES:
            yield f"class {name} exists {len(lines)} times: {', '.join(lines)}"


def find_long_functions(trees: dict[str, ast.Module]) -> Iterator[str]:
    """Yield a complaint per function that is too long."""
    for file, tree in trees.items():
        for name, line, lines in measure_functions(tree):
            if lines > LONGEST:
                yield f"{file}:{line}: {name} has {lines} lines, more than {LONGEST}"


def parse(folder: Path) -> dict[str, ast.Module]:
    """Return the parsed modules of a folder by path: below src/monge, else below the root."""
    base = SOURCE if folder == SOURCE else ROOT
    return {
        path.relative_to(base).as_posix(): ast.parse(path.read_text("utf-8"))
        for path in sorted(folder.rglob("*.py"))
    }


def main() -> int:
    """Print what is wrong; return 1 where there is anything."""
    package = parse(SOURCE)
    everything = package | {
        file: tree for folder in SCRIPTS for file, tree in parse(folder).items()
    }
    problems = [
        *find_vague(everything),
        *find_repeated_classes(package),
        *find_long_functions(package),
    ]
    sys.stdout.write("".join(f"{problem}\n" for problem in problems))
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
