"""Distil the static vectors of `--model static` from the embedded model with the adapter `people`.

    MONGE_DATA=DIR python tools/make_static.py         # read, train and write; a quarter of an hour

1. Sample 20,000 judged outputs of WMT18 into English with their references. A teacher, `twmd` on
   the embedded model with `people` at layer 4, scores them: its vectors are averaged per piece, and
   a rare piece leans on its vector in a text of its own. The result is kept in build/static.
2. Leave out the common component, keep the 128 principal directions.
3. Train the vectors so that `twmd` on them gives the teacher's scores, three passes.
4. Write int8 rows with a scale each, in the layout of model2vec, into src/monge/encoders/distilled.

WMT15 and WMT16 chose the settings; WMT17 took no part. The human judgements of WMT18 were tried as
a second target and are not used: see docs/speed.md.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from repository import PACKAGE, ROOT
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from monge.encoders.digests import of_file
from monge.encoders.opening import open_model
from monge.encoders.packaged import EMBEDDED, STATIC
from monge.tuning.examples import judged_examples

KEPT = ROOT / "build" / "static" / "teacher.safetensors"
TARGET = PACKAGE / "encoders" / "distilled" / STATIC
TEACHER, LAYER, SAMPLE, LONGEST = "people", 4, 20_000, 100
DIMENSION, ALONE, TEMPERATURE = 128, 0.5, 0.1
PASSES, BATCH, RATE, SEED = 3, 256, 3e-3, 1
FRAME = 101, 102
"""The ids of the pieces around a text: [CLS] and [SEP]."""
Pair = tuple[tuple[int, ...], tuple[int, ...]]


class Taught(NamedTuple):
    """What the teacher gives: a vector per piece, how often it was seen, a score per pair."""

    vectors: Tensor
    counts: Tensor
    scores: Tensor


def read_pairs(data: str, tokenizer: Tokenizer) -> list[Pair]:
    """Return the pieces of a sample of outputs of WMT18 and of their references."""
    rows = judged_examples("wmt18", data, ["*-en"], human="da").rows
    sides = [
        [tuple(cut.ids) for cut in tokenizer.encode_batch(texts, add_special_tokens=False)]
        for texts in ([row.hypothesis for row in rows], [row.references[0] for row in rows])
    ]
    pairs = list(zip(*sides, strict=True))
    fitting = [k for k, (a, b) in enumerate(pairs) if a and len(a) + len(b) <= LONGEST]
    chosen = np.random.default_rng(SEED).choice(fitting, SAMPLE, replace=False)
    return [pairs[k] for k in np.sort(chosen)]


def score(x: Tensor, y: Tensor, lengths: tuple[Tensor, Tensor]) -> Tensor:
    """Return the scores [b] of `twmd` for unit vectors [b, n, d] and [b, m, d], 0 where padded."""
    a, b = (
        (torch.arange(side.shape[1]) < size[:, None]) / size[:, None]
        for side, size in zip((x, y), lengths, strict=True)
    )
    values, own_x, own_y = (
        torch.stack(_plan_values(rows @ columns.transpose(1, 2), p, q))
        for rows, columns, p, q in ((x, y, a, b), (x, x, a, a), (y, y, b, b))
    )
    precision, recall = values / (own_x * own_y).clamp_min(1e-9).sqrt()
    is_positive = (precision > 0) & (recall > 0)
    total = torch.where(is_positive, precision + recall, 1.0)
    harmonic = 2 * precision * recall / total
    return torch.where(is_positive, harmonic, torch.minimum(precision, recall))


def _plan_values(similarity: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return the similarity that the plans of one sweep carry, a side fitted last each."""
    kernel = ((similarity - 1) / TEMPERATURE).exp()
    by_columns = kernel * (b / (kernel * a.unsqueeze(2)).sum(1).clamp_min(1e-30)).unsqueeze(1)
    rows_last = by_columns * (a / by_columns.sum(2).clamp_min(1e-30)).unsqueeze(2)
    by_rows = kernel * (a / (kernel * b.unsqueeze(1)).sum(2).clamp_min(1e-30)).unsqueeze(2)
    columns_last = by_rows * (b / by_rows.sum(1).clamp_min(1e-30)).unsqueeze(1)
    return (rows_last * similarity).sum((1, 2)), (columns_last * similarity).sum((1, 2))


def ask_teacher(pairs: Sequence[Pair], pieces: int) -> Taught:
    """Return what the teacher says of the pairs, and of every piece alone."""
    encoder = open_model(TEACHER, precision="bf16", device="cpu", online=False, unknown="drop")
    sums, counts = None, torch.zeros(pieces)
    vectors: dict[tuple[int, ...], Tensor] = {}
    texts = sorted({text for pair in pairs for text in pair}, key=len)
    for at in range(0, len(texts), 64):
        framed = [(FRAME[0], *text, FRAME[1]) for text in texts[at : at + 64]]
        hidden = functional.normalize(encoder.hidden(framed, [LAYER])[0].float(), dim=1)
        sums = torch.zeros(pieces, hidden.shape[1]) if sums is None else sums
        flat = torch.tensor([i for text in framed for i in text])
        sums.index_add_(0, flat, hidden)
        counts.index_add_(0, flat, torch.ones(len(flat)))
        parts = hidden.split([len(text) for text in framed])
        vectors.update(
            {text: part[1:-1].bfloat16() for text, part in zip(texts[at:], parts, strict=False)}
        )
    assert sums is not None
    frames = [(FRAME[0], i, FRAME[1]) for i in range(pieces)]
    alone = [
        encoder.hidden(frames[at : at + BATCH], [LAYER])[0][1::3].float()
        for at in range(0, pieces, BATCH)
    ]
    unframed = torch.cat(alone)
    means = (sums + ALONE * functional.normalize(unframed, dim=1)) / (counts + ALONE)[:, None]
    return Taught(means, counts, score_by_vectors(vectors, pairs))


def score_by_vectors(vectors: Mapping[tuple[int, ...], Tensor], pairs: Sequence[Pair]) -> Tensor:
    """Return the scores of pairs by the vectors of their texts."""
    scores = torch.zeros(len(pairs))
    for batch in batch_by_length(pairs):
        sides = zip(*(pairs[k] for k in batch), strict=True)
        padded = [
            torch.nn.utils.rnn.pad_sequence([vectors[t].float() for t in side], batch_first=True)
            for side in sides
        ]
        scores[batch] = score(padded[0], padded[1], _lengths([pairs[k] for k in batch]))
    return scores


def batch_by_length(pairs: Sequence[Pair]) -> list[list[int]]:
    """Return the places of pairs in batches of similar length."""
    order = sorted(range(len(pairs)), key=lambda k: sum(map(len, pairs[k])))
    return [order[at : at + BATCH] for at in range(0, len(order), BATCH)]


def _lengths(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor]:
    first, second = (torch.tensor([len(pair[side]) for pair in pairs]) for side in (0, 1))
    return first, second


def reduce_dimension(taught: Taught) -> Tensor:
    """Return unit vectors [pieces, d]: without the common component, in principal directions.

    A piece counts by the square root of how often it was seen.
    """
    x = functional.normalize(taught.vectors, dim=1)
    weights = ((taught.counts + 0.2) / (taught.counts + 0.2).sum()).sqrt()
    weights /= weights.sum()
    x = x - (weights[:, None] * x).sum(0)
    directions = torch.linalg.svd(x * weights.sqrt()[:, None], full_matrices=False)[2]
    return functional.normalize(x @ directions[:DIMENSION].T, dim=1, eps=1e-6)


def score_by_table(table: Tensor, pairs: Sequence[Pair]) -> Tensor:
    """Return the scores [b] of pairs by a table of vectors."""
    sides = []
    for side in (0, 1):
        rows = [torch.tensor(pair[side]) for pair in pairs]
        ids = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-1)
        vectors = functional.normalize(
            functional.embedding(ids.clamp(min=0), table), dim=2, eps=1e-6
        )
        sides.append(vectors * (ids >= 0)[:, :, None])
    x, y = sides
    return score(x, y, _lengths(pairs))


def train(table: Tensor, pairs: Sequence[Pair], scores: Tensor) -> Tensor:
    """Return the table after learning the teacher's scores, up to an affine map of them."""
    targets = (scores - scores.mean()) / scores.std()
    learned = torch.nn.Parameter(table.clone())
    slope, intercept = (torch.nn.Parameter(torch.tensor(value)) for value in (6.0, -4.0))
    optimizer = torch.optim.Adam(
        [{"params": [learned]}, {"params": [slope, intercept], "lr": 0.02}], betas=(0.9, 0.99)
    )
    batches = list(shuffle_batches(pairs))
    for step, batch in enumerate(batches):
        warm_up = min(1.0, (step + 1) / 50)
        optimizer.param_groups[0]["lr"] = RATE * warm_up * max(0.02, 1 - step / len(batches))
        predicted = score_by_table(learned, [pairs[k] for k in batch]) * slope + intercept
        loss = functional.mse_loss(predicted, targets[batch])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step % 20 == 0:
            print(f"step {step} of {len(batches)}: squared error {loss.item():.3f}", flush=True)
    return learned.detach()


def shuffle_batches(pairs: Sequence[Pair]) -> Iterator[list[int]]:
    """Yield the batches of all passes in random order."""
    draw = np.random.default_rng(SEED)
    batches = batch_by_length(pairs)
    for _ in range(PASSES):
        for k in draw.permutation(len(batches)):
            yield batches[k]


def write(table: Tensor, tokenizer: Path) -> None:
    """Write table, tokenizer, configuration and card in the layout of model2vec."""
    TARGET.mkdir(parents=True, exist_ok=True)
    table = functional.normalize(table, dim=1, eps=1e-6)
    scale = table.abs().amax(1, keepdim=True).clamp_min(1e-6) / 127
    tensors = {
        "embeddings": (table / scale).round().to(torch.int8),
        "weights": scale[:, 0].contiguous(),
    }
    save_file(tensors, TARGET / "model.safetensors")
    shutil.copyfile(tokenizer, TARGET / "tokenizer.json")
    config = {"model_type": "model2vec", "hidden_dim": DIMENSION, "normalize": False}
    (TARGET / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    card = {
        "model": STATIC,
        "base": EMBEDDED.name,
        "base_licence": EMBEDDED.licence,
        "teacher": f"twmd on {EMBEDDED.name}+{TEACHER}, layer {LAYER}",
        "learned_from": f"{SAMPLE:,} outputs of WMT18 with references, scored by the teacher; "
        "texts released by the WMT organisers for research purposes, none of which is contained",
        "chosen_on": "wmt15+wmt16",
        "licence": "Apache-2.0",
        "sha256": of_file(TARGET / "model.safetensors"),
        "command": "python tools/make_static.py",
    }
    (TARGET / "card.json").write_text(json.dumps(card, indent=1) + "\n")


def main() -> None:
    """Distil the vectors and write them into the package."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"), required=False)
    options = parser.parse_args()
    if options.data is None or EMBEDDED.path is None:
        raise SystemExit("needs --data or MONGE_DATA, and the embedded model")
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    path = EMBEDDED.path.parent / "tokenizer.json"
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    pairs = read_pairs(options.data, tokenizer)
    if not KEPT.is_file():
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        save_file(ask_teacher(pairs, tokenizer.get_vocab_size())._asdict(), KEPT)
    taught = Taught(**load_file(KEPT))
    write(train(reduce_dimension(taught), pairs, taught.scores), path)


if __name__ == "__main__":
    main()
