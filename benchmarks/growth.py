"""Measure time and peak memory as a corpus grows, with a tiny encoder to measure the pipeline.

    python benchmarks/growth.py [--pairs 1000 10000 100000] [--distinct 100000] [--json FILE]

Every size runs in a process of its own; resident memory is read while it runs. With --pairs 1000000
this is the million-pair run (100,000 distinct texts).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path


def tiny_model(folder: Path) -> None:
    """Write a random BERT of 2 layers x 32 with a small vocabulary."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = [f"w{i}" for i in range(2000)]
    vocabulary = {
        word: i for i, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    }
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=128,
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=128,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    fast.save_pretrained(folder)


def write_texts(path: Path, count: int, distinct: int, seed: int) -> None:
    """Write `count` lines drawn from `distinct` random sentences of 6 to 14 words."""
    rng = random.Random(seed)
    pool = [
        " ".join(f"w{rng.randrange(2000)}" for _ in range(rng.randrange(6, 15)))
        for _ in range(min(distinct, count))
    ]
    with path.open("w") as file:
        for _ in range(count):
            file.write(rng.choice(pool) + "\n")


def measure_run(count: int, distinct: int, model: Path | str, metric: str) -> dict[str, float]:
    """Return seconds and memory of one `monge score` of `count` pairs with all scores written."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_texts(folder / "h", count, distinct // 2, 1)
        write_texts(folder / "r", count, distinct // 2, 2)
        command = [
            str(Path(sys.executable).parent / "monge"),
            "score",
            "-t",
            "h",
            "-r",
            "r",
            "-m",
            metric,
            "-q",
        ]
        start = time.perf_counter()
        process = subprocess.Popen(
            [*command, "--model", str(model), "-f", "json", "--segments", "-o", "out.json"],
            cwd=folder,
        )
        samples: list[tuple[float, float]] = []

        def watch() -> None:
            while process.poll() is None:
                try:
                    status = Path(f"/proc/{process.pid}/status").read_text()
                except OSError:
                    break
                line = next(
                    (x for x in status.splitlines() if x.startswith("VmRSS")), "VmRSS: 0 kB"
                )
                samples.append((time.perf_counter() - start, int(line.split()[1]) / 1024))
                time.sleep(0.1)

        watcher = threading.Thread(target=watch)
        watcher.start()
        code = process.wait()
        watcher.join()
        seconds = time.perf_counter() - start
        if code:
            sys.exit(f"monge score of {count} pairs failed with {code}")
    parts = {
        f"to_{int(share * 100)}_percent_mb": peak_until(samples, seconds * share)
        for share in (0.1, 0.2, 0.5, 0.9)
    }
    return {"pairs": count, "seconds": seconds, "peak_mb": max(mb for _, mb in samples), **parts}


def peak_until(samples: list[tuple[float, float]], until: float) -> float:
    """Return the largest resident memory up to a time."""
    return max(mb for second, mb in samples if second <= max(until, samples[0][0]))


def measure_growth(
    sizes: list[int],
    distinct: int = 100_000,
    metric: str = "bertscore",
    model: str | None = None,
) -> list[dict[str, float]]:
    """Measure time and memory at each size, and print them with the growth per pair.

    Without a `model` a tiny random one is made.
    """
    rows: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name:
        if model is None:
            tiny_model(Path(name))
        model = model or name
        start = min(measure_run(10, 10, model, metric)["seconds"] for _ in range(3))
        print(f"start-up {start:.1f} s")
        for count in sizes:
            row = measure_run(count, distinct, model, metric)
            row["ms_per_pair"] = (row["seconds"] - start) / count * 1e3
            row["slope"] = row["ms_per_pair"] / rows[-1]["ms_per_pair"] - 1 if rows else 0.0
            rows.append(row)
            print(
                f"{count:>8} pairs {row['seconds']:8.1f} s  {row['ms_per_pair']:.3f} ms a pair "
                f"after start-up "
                f"({row['slope']:+.1%})  peak {row['peak_mb']:.0f} MB (until 10 %, 20 %, 50 %, 90 "
                f"% of the time: "
                + ", ".join(f"{row[f'to_{k}_percent_mb']:.0f}" for k in (10, 20, 50, 90))
                + ")",
                flush=True,
            )
    return rows


def main() -> None:
    """Measure growth, and keep the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, nargs="+", default=[1000, 10000, 100000])
    parser.add_argument("--distinct", type=int, default=100000)
    parser.add_argument("--metric", default="bertscore")
    parser.add_argument("--model", help="auto: the embedded model; a tiny random one by default")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = measure_growth(options.pairs, options.distinct, options.metric, options.model)
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
