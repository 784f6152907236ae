"""A test set in the layout of mt-metrics-eval, with metrics of known quality."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from monge.types import Array


def make_wmt24(
    folder: Path, qualities: dict[str, float], *, seed: int = 0, systems: int = 6, items: int = 40
) -> Path:
    """Write wmt24 with en-de, en-es and ja-zh; a metric is quality * truth + noise.

    Human scores are the truth with a little noise. Outputs of one source share its difficulty.
    """
    root = folder / "wmt24"
    generator = np.random.default_rng(seed)
    for pair, references in (("en-de", ["refA", "refB"]), ("en-es", ["refA"]), ("ja-zh", ["refA"])):
        names = [f"system{k}" for k in range(systems)]
        truth = _make_truth(generator, systems, items)
        _write_texts(root, pair, names, references, items)
        rated = [*names, *(["refA"] if len(references) > 1 else [])]
        if len(rated) > systems:
            truth = np.vstack([truth, truth.mean(axis=0) + 1])
        human = np.round(truth + 0.3 * generator.normal(size=truth.shape), 1)
        _write_scores(root / "human-scores" / f"{pair}.mqm", rated, human)
        documents = [f"{'news' if k % 2 else 'social'} doc{k // 5}" for k in range(items)]
        (root / "documents").mkdir(exist_ok=True)
        (root / "documents" / f"{pair}.docs").write_text("".join(f"{d}\n" for d in documents))
        for metric, quality in qualities.items():
            scores = quality * truth + generator.normal(size=truth.shape)
            _write_scores(
                root / "metric-scores" / pair / f"{metric}-{references[-1]}", rated, scores
            )
    return folder


def _make_truth(generator: np.random.Generator, systems: int, items: int) -> Array:
    difficulty = generator.normal(size=items)
    level = np.linspace(-0.5, 0.5, systems)[:, None]
    return np.asarray(level + difficulty + 0.7 * generator.normal(size=(systems, items)))


def _write_texts(
    root: Path, pair: str, systems: list[str], references: list[str], items: int
) -> None:
    def lines(speaker: str) -> str:
        return "".join(f"{speaker} says sentence {k} of the test\n" for k in range(items))

    files = {root / "sources" / f"{pair}.txt": lines("source")}
    files |= {root / "references" / f"{pair}.{name}.txt": lines(name) for name in references}
    outputs = root / "system-outputs" / pair
    files |= {outputs / f"{name}.txt": lines(name) for name in [*systems, *references]}
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _write_scores(stem: Path, names: list[str], scores: Array) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    rows = zip(names, scores, strict=True)
    segments = [f"{name}\t{float(score)!r}\n" for name, row in rows for score in row]
    stem.with_name(stem.name + ".seg.score").write_text("".join(segments))
    systems = [f"{name}\t{float(row.mean())!r}\n" for name, row in zip(names, scores, strict=True)]
    stem.with_name(stem.name + ".sys.score").write_text("".join(systems))
