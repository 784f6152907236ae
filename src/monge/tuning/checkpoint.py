"""Checkpoints of a training run: safetensors and JSON, written atomically."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from monge.errors import UsageError
from monge.tuning.loop import Loop, State

if TYPE_CHECKING:
    from collections.abc import Sequence

_FILE = "checkpoint.safetensors"
CONTENT = "content of the data"
"""The key of the digest of the training data, which does not depend on file names."""
MADE = "made"
"""The directory of a finished adapter while it is written."""
_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def check_output(output: str | Path) -> tuple[Path, Path]:
    """Return the paths of the adapter and its unfinished run; raise if not writable."""
    folder = Path(output).resolve()
    if folder.exists() or folder.is_symlink():
        raise UsageError(f"{output} exists already: choose another -o, or remove it")
    above = next(parent for parent in folder.parents if parent.exists())
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        reason = "is no directory" if not above.is_dir() else "cannot be written to"
        raise UsageError(f"-o {output}: {above} {reason}: choose another -o")
    return folder, folder.with_name(f"{folder.name}.partial")


def clear(folder: Path) -> None:
    """Remove the files of an unfinished run, and its directory unless it has other files."""
    for path in (folder / _FILE, folder / f"{_FILE}.part"):
        path.unlink(missing_ok=True)
    if (folder / MADE).is_dir():
        shutil.rmtree(folder / MADE)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def save(folder: Path, loop: Loop, plan: Mapping[str, Any]) -> None:
    """Write what resuming needs: weights, best weights, optimizer moments, curve, plan."""
    from safetensors.torch import save_file

    state, tensors = loop.state, {}
    for k, parameter in enumerate(loop.learned_parameters):
        tensors[f"now.{k}"] = parameter.detach().contiguous()
        tensors |= {f"{name}.{k}": value for name, value in _moments(loop, k).items()}
    tensors |= {f"best.{k}": value.contiguous() for k, value in state.best.items()}
    facts = {
        "plan": dict(plan),
        "step": state.step,
        "curve": state.curve,
        "best_value": state.best_value,
        "since_best": state.since_best,
    }
    folder.mkdir(parents=True, exist_ok=True)
    part = folder / f"{_FILE}.part"
    save_file(tensors, part, metadata={"monge": json.dumps(facts)})
    part.replace(folder / _FILE)


def _moments(loop: Loop, k: int) -> dict[str, Tensor]:
    moments: dict[str, Tensor] = loop.optimizer.state.get(loop.learned_parameters[k], {})
    return {
        name: torch.as_tensor(moments[name]).contiguous() for name in _MOMENTS if name in moments
    }


def restore(folder: Path, loop: Loop, plan: Mapping[str, Any]) -> bool:
    """Load a checkpoint into a run; return False if there is none, raise if not this plan's."""
    from safetensors import SafetensorError, safe_open

    path = folder / _FILE
    if not path.is_file():
        return False
    try:
        with safe_open(path, "pt") as file:
            facts = json.loads((file.metadata() or {})["monge"])
            # no mapping
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError) as error:
        raise UsageError(
            f"{path}: the run cannot be resumed from this checkpoint ({error}); remove it"
        ) from None
    changed = next((name for name, value in plan.items() if facts["plan"].get(name) != value), None)
    if changed == CONTENT:
        raise UsageError(
            f"{folder}: an unfinished run that learned from other data: give the same data, "
            "--fresh, or another -o"
        )
    if changed is not None:
        raise UsageError(
            f"{folder}: an unfinished run with {changed} = {facts['plan'].get(changed)!r}, this "
            f"one has {plan[changed]!r}: give the same settings, --fresh, or another -o"
        )
    _load_tensors(loop, tensors)
    loop.state = State(
        step=facts["step"],
        curve=facts["curve"],
        best={
            name.removeprefix("best."): value
            for name, value in tensors.items()
            if name.startswith("best.")
        },
        best_value=facts["best_value"],
        since_best=facts["since_best"],
    )
    return True


def _load_tensors(loop: Loop, tensors: Mapping[str, Tensor]) -> None:
    parameters: Sequence[torch.nn.Parameter] = loop.learned_parameters
    with torch.no_grad():
        for k, parameter in enumerate(parameters):
            parameter.copy_(tensors[f"now.{k}"])
            moments = {
                name: tensors[f"{name}.{k}"] for name in _MOMENTS if f"{name}.{k}" in tensors
            }
            if moments:
                loop.optimizer.state[parameter] = moments
