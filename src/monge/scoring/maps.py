"""Maps between languages, fitted from parallel texts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from itertools import islice

import torch

from monge.errors import DataError, UsageError
from monge.metrics.axes import Remap
from monge.scoring.bound import BoundMetric
from monge.scoring.clouds import build_points
from monge.scoring.encoding import Encoding
from monge.text.idf import text_key
from monge.text.select import select
from monge.transport.remap import outer_products
from monge.types import DIGEST_SPACE, CorpusStats, MatrixSum

KINDS = ("clp", "umd")
LINEAR = ("average", "sum", "mean", "first")
BATCH = 512


def fit_maps(metric: BoundMetric, pairs: Iterable[tuple[str, str]]) -> CorpusStats:
    """Fit both maps from pairs of source and target texts, on single words.

    A map is linear, so the map of words is also that of n-grams that are linear in their words.
    """
    units = metric.spec.units
    if metric.needs.counted_sides or (units.ngram != 1 and units.join not in LINEAR):
        raise UsageError(
            f"{metric.name}: maps are fitted on words that weigh the same: set weights=uniform, "
            f"and for n-grams units.join={'|'.join(LINEAR)}"
        )
    words = replace(metric, spec=replace(metric.spec, units=replace(units, ngram=1)))
    totals, count, keys = _sum_products(words, pairs)
    if count < 2:
        raise DataError(f"a map needs aligned words: {count} were found in the parallel texts")
    maps = {}
    for kind, total in totals.items():
        mapped = replace(metric, spec=replace(metric.spec, centre=Remap(kind)))
        maps[str(mapped.needs.map_space)] = MatrixSum(total.numpy(), count, keys % DIGEST_SPACE)
    return CorpusStats(metric.reader.key, maps=maps)


def _sum_products(
    words: BoundMetric, pairs: Iterable[tuple[str, str]]
) -> tuple[dict[str, torch.Tensor], int, int]:
    """Sum outer products of aligned words by kind of map; count the words, and sum text keys."""
    encoding, iterator = Encoding([words]), iter(pairs)
    choose = partial(select, spec=words.spec.units, stopwords=words.stopwords)
    totals: dict[str, torch.Tensor] = {}
    count = keys = 0
    while batch := list(islice(iterator, BATCH)):
        read = encoding.read(
            list(dict.fromkeys(text for pair in batch for text in pair)), words.reader
        )
        for pair in batch:
            source, target = (
                build_points(read[text][0], read[text][1][words.request], words, None, choose)
                for text in pair
            )
            if source.empty or target.empty:
                continue
            keys += text_key("\t".join(pair))
            for kind in KINDS:
                products, number = outer_products(
                    source.vectors.double(), target.vectors.double(), kind
                )
                totals[kind] = totals[kind] + products if kind in totals else products
            count += number
    return totals, count, keys
