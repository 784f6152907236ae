"""Adapters: tuned weights beside a base model, merged into it when it is opened.

A directory with `adapter.safetensors` and `card.json`. A tensor `NAME.low_rank_out` [o, r] and its
partner `NAME.low_rank_in` [r, i] add their product to the base's parameter NAME [o, i]; a tensor
NAME replaces it; a tensor `mix` [k + 1] says how layers 0 to k are summed to what is read as layer
k. The card names the base by the digests of its weights, tokenizer and configuration: another base
is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from torch import Tensor

from monge.encoders import digests
from monge.encoders.body import MIX
from monge.encoders.model_files import check_content, check_directory
from monge.encoders.models import ModelFiles, find_directory, find_model
from monge.encoders.packaged import SHIPPED
from monge.encoders.protocol import Tuning
from monge.errors import ModelError
from monge.metrics.axes import EncoderSettings
from monge.metrics.codec import read_choice

WEIGHTS, CARD = "adapter.safetensors", "card.json"
FORMAT = 1
OUT, IN = ".low_rank_out", ".low_rank_in"
_IDENTITY = ("weights", "tokenizer", "config")


@dataclass(frozen=True)
class Adapter:
    """An adapter on disk: its card, its tensors by name, and the sha256 of their file."""

    name: str
    directory: Path
    card: Mapping[str, Any]
    tensors: Mapping[str, Tensor]
    digest: str

    def merge_files(self, base: ModelFiles) -> ModelFiles:
        """Return the base model's files under the joint name and the joint digest of the
        weights.
        """
        self.check_base(base)
        weights = digests.of_facts(base.weights_digest, self.digest)
        return replace(base, name=f"{base.name}+{self.name}", weights_digest=weights)

    @property
    def base(self) -> str:
        """The name or directory of the base model, as it was given when the adapter was made."""
        return str(self.card["base"]["model"])

    @property
    def tuning(self) -> Tuning:
        """The tuning that the card describes: layer, settings and calibration."""
        layers, affine = self.card.get("layers") or [], self.card.get("affine") or {}
        layer = int(layers[0]) if len(layers) == 1 else None
        settings = dict(self.card.get("settings") or {})
        read = (
            read_choice("encoder", settings["encoder"])
            if "encoder" in settings
            else EncoderSettings()
        )
        assert isinstance(read, EncoderSettings)
        return Tuning(layer, settings, read.prefix, **affine, card=self.card)

    def serves(self, files: ModelFiles) -> bool:
        """Return whether a model is the one that the adapter was made for."""
        base = self.card["base"]
        return all(base[part] == getattr(files, f"{part}_digest") for part in _IDENTITY)

    def check_base(self, files: ModelFiles) -> None:
        """Raise where a model is not the one that the adapter was made for."""
        for part in _IDENTITY:
            was, now = self.card["base"][part], getattr(files, f"{part}_digest")
            if was != now:
                raise ModelError(
                    f"{self.directory}: made for {self.card['base']['name']} ({part} {was[:8]}), "
                    f"{files.name} has {now[:8]}: an adapter serves its own base only"
                )

    def change_tensors(self, parameters: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the new values of the base parameters that the adapter changes, by name."""
        changed = {}
        for name, tensor in self.tensors.items():
            if name.endswith(IN):
                continue
            target = name.removesuffix(OUT)
            if target == MIX:
                changed[target] = tensor.float()
                continue
            if target not in parameters:
                raise ModelError(
                    f"{self.directory}: it changes {target!r}, which the base model does not have"
                )
            was = parameters[target]
            now = (
                tensor.float() @ self.tensors[target + IN].float()
                if name.endswith(OUT)
                else tensor.float()
            )
            if now.shape != was.shape:
                raise ModelError(
                    f"{self.directory}: {target} is {list(was.shape)} in the base, "
                    f"{list(now.shape)} here"
                )
            changed[target] = was + now if name.endswith(OUT) else now
        return changed


def is_adapter(path: Path) -> bool:
    """Return whether a directory holds an adapter."""
    return (path / WEIGHTS).is_file() or (
        (path / CARD).is_file() and not (path / digests.CONFIG).is_file()
    )


def list_shipped_adapters(name: str) -> list[Adapter]:
    """Return the shipped adapters of a name, one per base model."""
    directories = sorted(
        (files("monge.encoders") / "adapters" / name).iterdir(),
        key=lambda directory: directory.name,
    )
    return [read_adapter(Path(str(directory)), name) for directory in directories]


def describe_bases(name: str) -> str:
    """Return the names of the base models that have a shipped adapter of a name."""
    return ", ".join(adapter.card["base"]["name"] for adapter in list_shipped_adapters(name))


def has_shipped_adapter(name: str, model: str, *, online: bool = False) -> bool | None:
    """Return whether there is a shipped adapter of a name for a model.

    None for a model that cannot be found or is no transformer: opening it says what is wrong.
    """
    try:
        base = find_model(model, online=online)
        return any(adapter.serves(base) for adapter in list_shipped_adapters(name))
    except (ModelError, OSError):
        return None


def find_shipped_adapter(name: str, base: ModelFiles) -> Adapter:
    """Return the shipped adapter of that name that was made for a base model, by the digest of its
    weights.
    """
    read = list_shipped_adapters(name)
    serving = [
        adapter for adapter in read if adapter.card["base"]["weights"] == base.weights_digest
    ]
    if not serving:
        bases = ", ".join(adapter.card["base"]["name"] for adapter in read)
        raise ModelError(
            f"no adapter {name} for {base.name} (weights {base.weights_digest[:8]}): there is one "
            f"for {bases}"
        )
    return serving[0]


def find_adapter(name: str, base: ModelFiles, *, online: bool = False) -> Adapter:
    """Return an adapter for a base model: a shipped one by name, one in a directory, or one of a
    hub name.
    """
    if name in SHIPPED:
        return find_shipped_adapter(name, base)
    path = Path(name).expanduser()
    if not path.is_dir() and "/" in name and not path.exists():
        directory = find_directory(name, online=online)
        assert directory is not None
        return read_adapter(directory, name)
    if not path.is_dir():
        raise ModelError(
            f"{name!r} is no adapter: neither a directory nor one of {', '.join(SHIPPED)} nor "
            f"a hub name (owner/name[@revision])"
        )
    return read_adapter(path)


def read_adapter(directory: Path, name: str | None = None) -> Adapter:
    """Read the adapter in a directory and check what can be checked without its base; its name is
    the directory's.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load

    weights = directory / WEIGHTS
    check_directory(directory)
    if not weights.is_file():
        raise ModelError(f"{directory}: an adapter has {WEIGHTS} beside {CARD}, this one has none")
    check_content(weights)
    card = digests.read_json(directory / CARD)
    base = card.get("base") if isinstance(card, dict) else None
    if (
        not isinstance(card, dict)
        or not isinstance(base, dict)
        or not {"name", "model", *_IDENTITY} <= base.keys()
    ):
        raise ModelError(
            f"{directory / CARD}: not the card of an adapter, it does not name its base model"
        )
    if card.get("format") != FORMAT:
        raise ModelError(
            f"{directory / CARD}: format {card.get('format')!r}, this version reads {FORMAT}"
        )
    try:
        tensors = load(weights.read_bytes())
    except (SafetensorError, OSError) as error:
        raise ModelError(f"{weights}: cannot be read as safetensors ({error})") from None
    digest = digests.of_file(weights)
    if card.get("sha256") != digest:
        raise ModelError(
            f"{weights}: its sha256 is {digest[:8]}, its card says {str(card.get('sha256'))[:8]}"
        )
    _check_pairs(weights, tensors)
    return Adapter(name or directory.resolve().name, directory, card, tensors, digest)


def _check_pairs(weights: Path, tensors: Mapping[str, Tensor]) -> None:
    """Raise where one of the two tensors of a low-rank change is missing."""
    for name in tensors:
        partner = name.removesuffix(OUT) + IN
        if name.endswith(OUT) and partner not in tensors:
            raise ModelError(f"{weights}: {name} has no partner {partner}")
