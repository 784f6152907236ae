"""The convergence of Sinkhorn's scaling on the transport problems of pairs of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from monge.encoders.numerics import own_numerics
from monge.errors import DataError
from monge.scoring.bound import BoundMetric
from monge.scoring.clouds import STEP, Pair, WindowTexts, batch_pairs, pad_texts
from monge.scoring.encoding import Encoding
from monge.scoring.fit import fit
from monge.scoring.windows import Window
from monge.transport.convergence import trace_misses
from monge.types import Array, CorpusStats, Segment

WINDOW = 256
LEAST = 100
"""Sweeps that are done even if all pairs have settled, so that misses can be compared."""


@dataclass(frozen=True)
class ConvergenceTrace:
    """At one temperature: the sweeps [n] that each pair takes, and what it misses [sweeps, n] after
    each; `most` + 1 sweeps stand for a pair that has not settled.
    """

    temperature: float
    sweeps: Array
    misses: Array


def trace_convergence(
    metric: BoundMetric,
    rows: Sequence[Segment],
    temperatures: Sequence[float],
    *,
    tolerance: float,
    most: int,
) -> list[ConvergenceTrace]:
    """Trace the problems of all pairs with words on both sides, against their first references.

    Statistics that the metric needs are fitted on the same texts.
    """
    stats = _fit_on(metric, rows)
    encoding = Encoding([metric])
    traces: list[tuple[list[Array], list[Array]]] = [([], []) for _ in temperatures]
    with own_numerics(), torch.no_grad():
        for start in range(0, len(rows), WINDOW):
            window = Window(rows[start : start + WINDOW], encoding)
            texts = WindowTexts(window, metric, {"": stats})
            for batch in batch_pairs(_pairs_with_words(texts)):
                hypotheses, references = (
                    pad_texts([pair[side] for pair in batch], metric.spec, STEP) for side in (0, 1)
                )
                problem = metric.spec.ground.problem(hypotheses, references)
                for (sweeps, misses), temperature in zip(traces, temperatures, strict=True):
                    settled, missed = trace_misses(
                        problem,
                        temperature=temperature,
                        tolerance=tolerance,
                        most=most,
                        least=LEAST,
                    )
                    sweeps.append(settled.numpy())
                    misses.append(missed.numpy())
    if not traces[0][0]:
        raise DataError("there is nothing to trace: no pair has words on both sides")
    return [
        ConvergenceTrace(temperature, np.concatenate(sweeps), _join(misses))
        for (sweeps, misses), temperature in zip(traces, temperatures, strict=True)
    ]


def _fit_on(metric: BoundMetric, rows: Sequence[Segment]) -> CorpusStats:
    """Return the statistics that the metric needs, from the texts themselves."""
    if not metric.fits:
        return CorpusStats(metric.reader.key)
    references = [row.references[0] for row in rows]
    return fit(metric, references=references, hypotheses=[row.hypothesis for row in rows])


def _pairs_with_words(texts: WindowTexts) -> list[Pair]:
    pairs = [(text, references[0]) for text, references in
             zip(texts.hypotheses, texts.references, strict=True)]  # fmt: skip
    return [pair for pair in pairs if not pair[0].text.empty and not pair[1].text.empty]


def _join(misses: Sequence[Array]) -> Array:
    """Join the misses of batches, each as long as the longest: a settled one keeps its last."""
    longest = max(map(len, misses))
    return np.concatenate(
        [np.pad(array, ((0, longest - len(array)), (0, 0)), mode="edge") for array in misses], 1
    )
