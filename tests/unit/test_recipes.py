"""The recipes of CONTRIBUTING.md, carried out: each is applied to one copy of the tree and used.

A recipe is a set of insertions, (file, line before, new lines), and a program that uses the new
thing. CONTRIBUTING.md must name the files of each recipe, and no others.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]
VECTORS = "left 1 0 0\nright 0 2 0\nup 0 0 4\nnear 1 1 0\n"


@dataclass(frozen=True)
class Recipe:
    """The insertions of a recipe, whole new files, and a program that raises where it failed."""

    insertions: tuple[tuple[str, str, str], ...]
    program: str
    new_files: tuple[tuple[str, str], ...] = ()

    @property
    def files(self) -> set[str]:
        return {file for file, *_ in (*self.insertions, *self.new_files)}


AXES = "metrics/axes.py"
RECIPES = {
    "a metric that is a row of data": Recipe(
        (
            (
                "metrics/rows.py",
                "_CORE: Mapping[str, Preset] = {",
                '    "toy": Preset(replace(EMD, ground=EUCLIDEAN), "a toy", "Toy 2026"),',
            ),
        ),
        """
        toy = monge.score(["left up"], ["right near"], metric="toy", model=VECTORS)
        emd = monge.score(
            ["left up"], ["right near"], metric="emd[ground=euclidean]", model=VECTORS
        )
        assert toy.score == emd.score and "toy" in list_names()
        """,
    ),
    "a ground": Recipe(
        (
            (AXES, "from monge.transport.grounds import (", "    Chebyshev,"),
            (AXES, '        Manhattan("manhattan"),', '        Chebyshev("chebyshev"),'),
        ),
        """
        result = monge.score(["left"], ["near"], metric="wmd[ground=chebyshev]", model=VECTORS)
        assert abs(result.score - 0.5**0.5) < 1e-6, result.score
        """,
    ),
    "a transport": Recipe(
        (
            (
                AXES,
                "from monge.transport.transports import Exact",
                "from monge.transport.transports import Halves",
            ),
            (AXES, '        OneSided("onesided"),', '        Halves("halves"),'),
        ),
        """
        result = monge.score(["left"], ["up"], metric="wmd[transport=halves]", model=VECTORS)
        assert abs(result.score - 0.5**0.5) < 1e-6, result.score
        """,
    ),
    "a readout": Recipe(
        (
            (AXES, "from monge.transport.readouts import (", "    SquareRoot,"),
            (AXES, '        CostReadout("cost"),', '        SquareRoot("root"),'),
        ),
        """
        result = monge.score(["left"], ["up"], metric="wmd[readout=root]", model=VECTORS)
        assert abs(result.score - 2**0.25) < 1e-6, result.score
        """,
    ),
    "a rule over references": Recipe(
        (
            (
                AXES,
                '    "references": _table(',
                '        References("last"),',
            ),
            (
                "scoring/measure.py",
                "    starts = sizes.cumsum(0) - sizes",
                "    if rule == 'last':\n"
                "        places = starts + sizes - 1\n"
                "        return {key: part[places] for key, part in parts.items()}, sizes - 1",
            ),
        ),
        """
        result = monge.score(
            ["left"], [["left", "up"]], metric="wmd[references=last]", model=VECTORS
        )
        assert abs(result.score - 2**0.5) < 1e-6 and result.references.tolist() == [1]
        """,
    ),
    "a lexical metric": Recipe(
        (
            (
                "metrics/lexical.py",
                "LEXICAL: Mapping[str, LexicalPreset] = {",
                '    "overlap": LexicalPreset("share of known words", "Toy 2026", "overlap", {}),',
            ),
            (
                "text/lexical.py",
                "_SCORERS: Mapping[str, Callable[[LexicalSpec, Texts, References], "
                "LexicalScores]] = {",
                '    "overlap": overlap,',
            ),
        ),
        """
        result = monge.score(["a b c d"], ["a b x y"], metric="overlap")
        assert result.score == 0.5 and "overlap" in list_names()
        """,
    ),
    "a data set": Recipe(
        (),
        """
        from monge.datasets import open_dataset

        row = {"key": 1, "sys_summ": "a b", "ref_summs": ["a c"], "src": "", "scores": {"q": 3}}
        (FOLDER / "toy.jsonl").write_text(json.dumps(row) + "\\n")
        (group,) = open_dataset("toy", FOLDER).groups.values()
        assert [row.hypothesis for row in group.segments] == ["a b"]
        """,
        (
            (
                "datasets/published/toy.toml",
                """
                title = "a toy"
                reader = "generated"
                groups = "data set"
                mean = "unweighted"
                references = "max"
                human = "quality"
                licence = "none"
                citation = "Toy 2026"

                [humans.quality]
                column = "q"
                statistic = "spearman"
                range = [1, 6]

                [files]
                outputs = ["toy.jsonl"]

                [switches]
                distinct_references = true
                """,
            ),
        ),
    ),
    "an option of the command line": Recipe(
        (
            (
                "cli/selfcheck.py",
                "def selfcheck(",
                '    brief: Annotated[bool, option("--brief", help="Print ok alone.")] = False,',
            ),
            (
                "cli/selfcheck.py",
                "    count = sum(len(systems) for systems in scores.values())",
                '    if brief:\n        sys.stdout.write("ok\\n")\n        return 0',
            ),
        ),
        """
        from contextlib import redirect_stdout
        from io import StringIO

        from monge.cli.app import run

        with redirect_stdout(StringIO()) as printed:
            assert run(["selfcheck", "--brief", "--only", "chrf"]) == 0
        assert printed.getvalue() == "ok\\n"
        """,
    ),
    "a flag": Recipe(
        (
            (
                "types/flags.py",
                '    EMPTY = ("empty", "is empty")',
                '    LONE = ("lone", "has one word")',
            ),
            (
                "scoring/clouds.py",
                "    flags, unknown = units.flags",
                "    if len(units.groups) == 1:\n        flags = (*flags, FlagKind.LONE)",
            ),
        ),
        """
        from monge.types.flags import describe_flag

        result = monge.score(["left"], ["up near"], metric="wmd", model=VECTORS)
        assert result.flags == (("lone-hypothesis",),)
        assert result.run["flagged"] == {"lone-hypothesis": 1}
        assert describe_flag(result.flags[0][0]) == "The hypothesis has one word."
        """,
    ),
}
CLASSES = {
    "transport/grounds.py": (
        "def _lengths(",
        """
    @dataclass(frozen=True)
    class Chebyshev(Ground):
        '''The largest difference of two vectors in a dimension.'''

        distance: ClassVar[bool] = True
        free_costs: ClassVar[tuple[float, float]] = (0.0, inf)

        def compare(self, x: Tensor, y: Tensor, dtype: torch.dtype) -> Tensor:
            '''Take the largest of the differences.'''
            return (x.to(dtype).unsqueeze(2) - y.to(dtype).unsqueeze(1)).abs().amax(-1)
    """,
    ),
    "transport/transports.py": (
        "@dataclass(frozen=True)\nclass Tempered(",
        """
    @dataclass(frozen=True)
    class Halves(Transport):
        '''Half of the product of the masses.'''

        is_lossy: ClassVar[bool] = True

        def solve(
            self, problem: Problem, excess: Tensor | None = None
        ) -> dict[str, TransportPlan]:
            '''Multiply the masses of both sides, and take half.'''
            masses = problem.hypothesis.unsqueeze(2) * problem.reference.unsqueeze(1)
            return {PLAN: TransportPlan(masses / 2)}
    """,
    ),
    "transport/readouts.py": (
        "@dataclass(frozen=True)\nclass SimilarityReadout(",
        """
    @dataclass(frozen=True)
    class SquareRoot(CostReadout):
        '''The root of the cost.'''

        def transform(self, cost: Any, exponential: Callable[[Any], Any]) -> Any:
            '''Take the root.'''
            return cost**0.5
    """,
    ),
    "text/lexical.py": (
        "_SCORERS: ",
        """
    def overlap(spec: LexicalSpec, hypotheses: Texts, references: References) -> LexicalScores:
        '''Score by the share of words that a reference has.'''
        shares = [
            max(np.isin(text.split(), other.split()).mean() for other in others)
            for text, others in zip(hypotheses, references, strict=True)
        ]
        return LexicalScores(np.array(shares), {"lib": "monge", "version": version("monge")})
    """,
    ),
}
"""The classes and functions of the recipes, by the file, with the line that they stand before."""
OWNERS = {
    "transport/grounds.py": "a ground",
    "transport/transports.py": "a transport",
    "transport/readouts.py": "a readout",
}


def files_of(name: str) -> set[str]:
    return RECIPES[name].files | {file for file, owner in OWNERS.items() if owner == name}


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    """A copy of the package in which every recipe was carried out."""
    source = shutil.copytree(
        ROOT / "src" / "monge",
        tmp_path_factory.mktemp("tree") / "monge",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for recipe in RECIPES.values():
        for file, line, lines in recipe.insertions:
            insert(source / file, line, lines)
        for file, text in recipe.new_files:
            (source / file).write_text(dedent(text), "utf-8")
    for file, (line, text) in CLASSES.items():
        path = source / file
        before, marker, after = path.read_text("utf-8").partition(f"\n{line}")
        assert marker, f"{path}: {line!r} does not stand there"
        path.write_text(f"{before}\n{dedent(text)}\n\n{marker}{after}", "utf-8")
    return source


def insert(path: Path, line: str, lines: str) -> None:
    """Write lines below the only line that begins like this."""
    text = path.read_text("utf-8")
    places = [match.end() for match in re.finditer(rf"(?m)^{re.escape(line)}.*\n", text)]
    assert len(places) == 1, f"{path}: {line!r} stands there {len(places)} times"
    path.write_text(f"{text[: places[0]]}{lines}\n{text[places[0] :]}", "utf-8")


@pytest.fixture(scope="module")
def outcomes(tree, tmp_path_factory) -> dict[str, str]:
    """What came of the program of each recipe: ok, or its error."""
    folder = tmp_path_factory.mktemp("toys")
    (folder / "vectors.txt").write_text(VECTORS)
    programs = {name: dedent(recipe.program) for name, recipe in RECIPES.items()}
    (folder / "programs.json").write_text(json.dumps(programs))
    program = f"""
        import json
        import traceback
        import warnings
        from pathlib import Path

        import monge
        from monge.cli.selfcheck import list_names

        warnings.simplefilter("ignore")
        FOLDER = Path({str(folder)!r})
        outcomes = {{"package": monge.__file__}}
        for name, program in json.loads((FOLDER / "programs.json").read_text()).items():
            names = {{"FOLDER": FOLDER, "VECTORS": str(FOLDER / "vectors.txt"), "json": json,
                      "monge": monge, "list_names": list_names}}
            try:
                exec(program, names)
                outcomes[name] = "ok"
            except Exception:
                outcomes[name] = traceback.format_exc()
        (FOLDER / "outcomes.json").write_text(json.dumps(outcomes))
    """
    environment = {**os.environ, "PYTHONPATH": str(tree.parent)}
    command = [sys.executable, "-c", dedent(program)]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, process.stderr
    return json.loads((folder / "outcomes.json").read_text())


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_works(outcomes, tree, name):
    assert Path(outcomes["package"]).parent == tree
    assert outcomes[name] == "ok", outcomes[name]


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_names_the_files_that_it_touches(name):
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    _, title, files, *_ = (cell.strip() for cell in row.split("|"))
    assert set(re.findall(r"`([\w/-]+/[\w-]+\.\w+)`", files.replace("NAME", "toy"))) == files_of(
        name
    ), title
