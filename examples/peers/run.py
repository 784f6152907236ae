"""Time every script of this directory before and after its import is changed.

    python examples/peers/run.py --keep        # all, three times, on the 36 pairs of the example
    python examples/peers/run.py --data DIR --pairs 500 --keep   # on 500 pairs of WMT17
    python examples/peers/run.py --only bert_score

Times are kept in results/peers/times.json; tools/make_measured_pages.py shows them in
docs/migration.md. Each script runs in a process of its own, imports included; a process of 36 pairs
is mostly imports. A peer that cannot be run here is named with the reason: MoverScore's package
does not import; evaluate downloads its module from the hub (EVALUATE_MODULE names a copy of it).
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
TIMES = HERE.parents[1] / "results" / "peers" / "times.json"
EXAMPLE_PAIRS = 36
"""Pairs of the example."""


@dataclass(frozen=True)
class Script:
    """A script of another library, with its replacements on our side and on its own."""

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


def make_sources(name: str, texts: Path | None = None) -> tuple[str, str]:
    """Return a script as the peer has it, and with our import.

    `texts` is a directory to read instead of the example.
    """
    text, script = (HERE / f"{name}_script.py").read_text("utf-8"), SCRIPTS[name]
    if EXAMPLE not in text:
        raise ValueError(f"{name}: the script does not read the example")
    text = text if texts is None else text.replace(EXAMPLE, f"EXAMPLE = Path({str(texts)!r})")
    versions = []
    for changes in (script.before, script.changes):
        changed = text
        for old, new in changes:
            if changed.count(old) != 1:
                raise ValueError(
                    f"{name}: {old!r} stands {changed.count(old)} times in the script, not once"
                )
            changed = changed.replace(old, new)
        versions.append(changed)
    return versions[0], versions[1]


def write_pairs(data: Path, pairs: int, folder: Path) -> None:
    """Write pairs of WMT17 into English under the names of the example's files.

    system-b is system-a without the last third of its words.
    """
    from monge.datasets import open_dataset

    groups = [
        group for pair, group in open_dataset("wmt17", data).groups.items() if pair.endswith("-en")
    ]
    rows = [group.segments[k] for k in range(-(-pairs // len(groups))) for group in groups][:pairs]
    words = [row.hypothesis.split() for row in rows]
    for name, lines in {
        "system-a": [" ".join(sentence) for sentence in words],
        "system-b": [" ".join(sentence[: max(1, 2 * len(sentence) // 3)]) for sentence in words],
        "reference": [" ".join(row.references[0].split()) for row in rows],
    }.items():
        (folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines), "utf-8")


def run_script(name: str, source: str) -> tuple[str, float]:
    """Run a script; return what it printed and its seconds. RuntimeError where it fails."""
    command = [
        sys.executable,
        "-W",
        "ignore",
        "-c",
        f"__file__ = {str(HERE / f'{name}_script.py')!r}\n{source}",
    ]
    start = time.perf_counter()
    process = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
    )
    took = time.perf_counter() - start
    if process.returncode:
        raise RuntimeError((process.stderr.strip() or "no message").splitlines()[-1])
    return process.stdout, took


def hide_numbers(printed: str) -> str:
    """Replace every fraction in a printed text by a letter."""
    return re.sub(r"-?\d+\.\d+", "N", printed)


def measure_script(name: str, repeat: int, texts: Path | None = None) -> dict[str, object]:
    """Run both sides of a script in turn; return outputs and medians of `repeat` processes."""
    sides = dict(zip(("before", "after"), make_sources(name, texts), strict=True))
    printed: dict[str, str] = {}
    seconds: dict[str, list[float]] = {side: [] for side in sides}
    reason = ""
    for _ in range(repeat):
        for side, source in sides.items():
            if side == "before" and reason:
                continue
            try:
                printed[side], took = run_script(name, source)
            except RuntimeError as error:
                if side == "after":
                    raise
                reason = str(error)
            else:
                seconds[side].append(took)
    figures: dict[str, object] = {
        "after": {"seconds": median(seconds["after"]), "printed": printed["after"]}
    }
    if reason:
        return {**figures, "before": None, "why": reason}
    ratios = sorted(
        peer_time / our_time
        for peer_time, our_time in zip(seconds["before"], seconds["after"], strict=True)
    )
    return {
        **figures,
        "before": {"seconds": median(seconds["before"]), "printed": printed["before"]},
        "same_shape": hide_numbers(printed["before"]) == hide_numbers(printed["after"]),
        "times_faster": [ratios[0], median(ratios), ratios[-1]],
    }


def describe_times(name: str, figures: dict[str, object]) -> str:
    """Return a line about a script."""
    after = figures["after"]["seconds"]  # type: ignore[index]
    if figures["before"] is None:
        return f"{name}: with monge {after:.2f} s; the peer cannot be run here: {figures['why']}"
    low, middle, high = figures["times_faster"]  # type: ignore[misc]
    before = figures["before"]["seconds"]  # type: ignore[index]
    same = "same" if figures["same_shape"] else "another"
    return (
        f"{name}: {before:.2f} s, with monge {after:.2f} s: {middle:.2f} [{low:.2f}, "
        f"{high:.2f}] x; {same} shape"
    )


def keep_times(pairs: int, figures: dict[str, object]) -> None:
    """Keep the times of this many pairs beside those of others."""
    times = json.loads(TIMES.read_text("utf-8")) if TIMES.exists() else {}
    old = times.get(str(pairs), {"scripts": {}})["scripts"]
    command = " ".join(["python", "examples/peers/run.py", *_hide_directories(sys.argv[1:])])
    times[str(pairs)] = {"command": command, "scripts": {**old, **figures}}
    times = dict(sorted(times.items(), key=lambda entry: int(entry[0])))
    TIMES.write_text(json.dumps(times, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _hide_directories(arguments: list[str]) -> list[str]:
    """Return the arguments with `DIR` for the directory of --data."""
    return [
        "DIR" if previous == "--data" else argument
        for previous, argument in zip(["", *arguments], arguments, strict=False)
    ]


def main() -> int:
    """Run the scripts, print a line per script, and keep the times if asked."""
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
    figures = {}
    with TemporaryDirectory() as folder:
        texts = None if args.data is None else Path(folder)
        if texts is not None:
            write_pairs(args.data, args.pairs, texts)
        for name in args.only or SCRIPTS:
            figures[name] = measure_script(name, args.repeat, texts)
            print(describe_times(name, figures[name]), flush=True)
    if args.keep:
        keep_times(EXAMPLE_PAIRS if args.data is None else args.pairs, figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
