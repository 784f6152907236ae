"""Runs every script of this directory before and after its import is changed, and says how long
both took.

    python examples/peers/run.py --keep                          # all, three times, on the 36 pairs of the example
    python examples/peers/run.py --data DIR --pairs 500 --keep   # on 500 pairs of WMT17 into English
    python examples/peers/run.py --only bert_score

What is kept stands in examples/peers/times.json and docs/migration.md. A script is a process of its
own, imports included; a process of 36 pairs is mostly imports. A peer that cannot be run here is
named with the reason: MoverScore's package does not import, and evaluate fetches its module from
the hub (EVALUATE_MODULE names a copy of it).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

HERE = Path(__file__).parent
TIMES, PAGE = HERE / "times.json", HERE.parents[1] / "docs" / "migration.md"
OF_EXAMPLE = 36
"""Pairs of the example."""
MARKS = "<!-- times of examples/peers/run.py -->\n", "<!-- end of times -->\n"


@dataclass(frozen=True)
class Script:
    """A script of a peer: what is replaced in it, and what is replaced so that the peer's own side
    runs here.
    """

    changes: tuple[tuple[str, str], ...]
    before: tuple[tuple[str, str], ...] = ()


SCRIPTS = {
    "bert_score": Script((("from bert_score import", "from monge.compat.bert_score import"),)),
    "torchmetrics": Script(
        (
            (
                "from torchmetrics.functional.text.bert import",
                "from monge.compat.torchmetrics import",
            ),
            ("from torchmetrics.text.bert import", "from monge.compat.torchmetrics import"),
        )
    ),
    "evaluate": Script(
        (
            ("import evaluate\n", "import evaluate\nfrom monge.compat.evaluate import directory\n"),
            ('evaluate.load("bertscore")', 'evaluate.load(directory("bertscore"))'),
        ),
        before=(
            (
                'evaluate.load("bertscore")',
                'evaluate.load(__import__("os").environ["EVALUATE_MODULE"])',
            ),
        ),
    ),
    "moverscore": Script(
        (("from moverscore_v2 import", "from monge.compat.moverscore_v2 import"),)
    ),
    "sacrebleu": Script((("from sacrebleu.metrics import", "from monge.compat.sacrebleu import"),)),
    "sentence_transformers": Script(
        (
            (
                "from sentence_transformers.evaluation import EmbeddingSimilarityEvaluator",
                "from monge.compat.sentence_transformers import MetricEvaluator",
            ),
            (
                'EmbeddingSimilarityEvaluator(first, second, gold, name="dev")',
                'MetricEvaluator(first, second, gold, metric="sbert", name="dev")',
            ),
        )
    ),
}


EXAMPLE = 'EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"'


def sources(name: str, texts: Path | None = None) -> tuple[str, str]:
    """A script as the peer has it, and with our import; `texts` is a directory in the place of the
    example's.
    """
    text, script = (HERE / f"{name}_script.py").read_text("utf-8"), SCRIPTS[name]
    if EXAMPLE not in text:
        raise ValueError(f"{name}: the script does not read the example")
    text = text if texts is None else text.replace(EXAMPLE, f"EXAMPLE = Path({str(texts)!r})")
    found = []
    for changes in (script.before, script.changes):
        changed = text
        for old, new in changes:
            if changed.count(old) != 1:
                raise ValueError(
                    f"{name}: {old!r} stands {changed.count(old)} times in the script, not once"
                )
            changed = changed.replace(old, new)
        found.append(changed)
    return found[0], found[1]


def write_pairs(data: Path, pairs: int, folder: Path) -> None:
    """Pairs of WMT17 into English as the example has them; system-b is system-a without the last
    third of its words.
    """
    from monge.datasets import open_dataset

    groups = [
        group for pair, group in open_dataset("wmt17", data).groups.items() if pair.endswith("-en")
    ]
    rows = [group.segments[k] for k in range(-(-pairs // len(groups))) for group in groups][:pairs]
    words = [row.hypothesis.split() for row in rows]
    for name, lines in {
        "system-a": [" ".join(one) for one in words],
        "system-b": [" ".join(one[: max(1, 2 * len(one) // 3)]) for one in words],
        "reference": [" ".join(row.references[0].split()) for row in rows],
    }.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def ran(name: str, source: str) -> tuple[str, float]:
    """What a script printed, and how long its process took; a RuntimeError with its last line where
    it failed.
    """
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        f"__file__ = {str(HERE / f'{name}_script.py')!r}\n{source}",
    ]
    start = time.perf_counter()
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    took = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError((done.stderr.strip() or "no message").splitlines()[-1])
    return done.stdout, took


def shape(printed: str) -> str:
    """What was printed, with a letter for every fraction."""
    return re.sub(r"-?\d+\.\d+", "N", printed)


def measured(name: str, repeat: int, texts: Path | None = None) -> dict[str, object]:
    """What both sides of a script printed and took: medians of `repeat` processes, in turn."""
    sides = dict(zip(("before", "after"), sources(name, texts), strict=True))
    printed: dict[str, str] = {}
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    why = ""
    for _ in range(repeat):
        for side, source in sides.items():
            if side == "before" and why:
                continue
            try:
                printed[side], took = ran(name, source)
            except RuntimeError as error:
                if side == "after":
                    raise
                why = str(error)
            else:
                seconds[side].append(took)
    found: dict[str, object] = {
        "after": {"seconds": median(seconds["after"]), "printed": printed["after"]}
    }
    if why:
        return {**found, "before": None, "why": why}
    ratios = sorted(
        one / other for one, other in zip(seconds["before"], seconds["after"], strict=True)
    )
    return {
        **found,
        "before": {"seconds": median(seconds["before"]), "printed": printed["before"]},
        "same_shape": shape(printed["before"]) == shape(printed["after"]),
        "times_faster": [ratios[0], median(ratios), ratios[-1]],
    }


def line(name: str, found: dict[str, object]) -> str:
    """A line about a script."""
    after = found["after"]["seconds"]  # type: ignore[index]
    if found["before"] is None:
        return f"{name}: with monge {after:.2f} s; the peer cannot be run here: {found['why']}"
    low, middle, high = found["times_faster"]  # type: ignore[misc]
    before = found["before"]["seconds"]  # type: ignore[index]
    same = "same" if found["same_shape"] else "another"
    return (
        f"{name}: {before:.2f} s, with monge {after:.2f} s: {middle:.2f} [{low:.2f}, "
        f"{high:.2f}] x; {same} shape"
    )


def table(kept: dict[str, dict[str, object]]) -> str:
    """What was seen as a table of the page, between its marks."""
    rows = ["| script | pairs | the peer, s | monge, s | times faster |", "|---|---|---|---|---|"]
    for name in SCRIPTS:
        for pairs, seen in kept.items():
            found = seen["scripts"].get(name)  # type: ignore[attr-defined]
            if found is None:
                continue
            after = f"{found['after']['seconds']:.2f}"
            if found["before"] is None:
                rows.append(f"| {name} | {pairs} | cannot be run: {found['why']} | {after} | |")
            else:
                low, middle, high = found["times_faster"]
                before = f"{found['before']['seconds']:.2f}"
                rows.append(
                    f"| {name} | {pairs} | {before} | {after} | {middle:.2f} [{low:.2f}, "
                    f"{high:.2f}] |"
                )
    return "\n".join(rows) + "\n"


def written(page: str, kept: dict[str, dict[str, object]]) -> str:
    """The page with the table of what was seen."""
    head, _, rest = page.partition(MARKS[0])
    return f"{head}{MARKS[0]}{table(kept)}{MARKS[1]}{rest.partition(MARKS[1])[2]}"


def keep(pairs: int, found: dict[str, object]) -> None:
    """Keep what was seen of so many pairs beside what is kept of others, and write the page."""
    kept = json.loads(TIMES.read_text("utf-8")) if TIMES.exists() else {}
    before = kept.get(str(pairs), {"scripts": {}})["scripts"]
    command = " ".join(["python", "examples/peers/run.py", *_without_places(sys.argv[1:])])
    kept[str(pairs)] = {"command": command, "scripts": {**before, **found}}
    kept = dict(sorted(kept.items(), key=lambda one: int(one[0])))
    TIMES.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
    PAGE.write_text(written(PAGE.read_text("utf-8"), kept), "utf-8")


def _without_places(arguments: list[str]) -> list[str]:
    """Arguments as they are kept: --data of this machine is DIR."""
    return [
        "DIR" if before == "--data" else one
        for before, one in zip(["", *arguments], arguments, strict=False)
    ]


def main() -> int:
    """Run the scripts, print a line each, keep what was seen."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only", action="append", choices=list(SCRIPTS), help="a script; repeatable"
    )
    parser.add_argument("--repeat", type=int, default=3, help="how often each side is run")
    parser.add_argument(
        "--data",
        type=Path,
        help="the directory of WMT17's judgements; without it the example is read",
    )
    parser.add_argument("--pairs", type=int, default=500, help="how many pairs of WMT17")
    parser.add_argument(
        "--keep", action="store_true", help="keep what was seen, and write it into the page"
    )
    args = parser.parse_args()
    found = {}
    with TemporaryDirectory() as folder:
        texts = None if args.data is None else Path(folder)
        if texts is not None:
            write_pairs(args.data, args.pairs, texts)
        for name in args.only or SCRIPTS:
            found[name] = measured(name, args.repeat, texts)
            print(line(name, found[name]), flush=True)
    if args.keep:
        keep(OF_EXAMPLE if args.data is None else args.pairs, found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
