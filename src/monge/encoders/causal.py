"""A causal language model: how likely it finds a text. Safetensors only, no remote code, offline
unless asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from monge.encoders.loading import choose_device, load_causal
from monge.encoders.models import ModelFiles, find_model

BATCH_PIECES = 2048
_models: dict[tuple[str, ...], CausalModel] = {}


class CausalModel:
    """A loaded language model and its tokenizer; `fingerprint` is the full digests of its files."""

    def __init__(self, files: ModelFiles, *, device: str = "cpu") -> None:
        self.name, self.fingerprint = files.name, "/".join(_digests(files))
        self.digest = "".join(digest[:8] for digest in _digests(files))
        self._device = torch.device(device)
        model, tokenizer = load_causal(files)
        self._model, self._tokenizer = model.to(self._device), tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # a literal <|endoftext|> in a text is text
        self.vocabulary = int(self._model.config.vocab_size)
        self.longest = int(getattr(self._model.config, "max_position_embeddings", None) or 1024)

    def mean_log_likelihoods(self, texts: Sequence[str]) -> list[float | None]:
        """Return the mean of ln p(piece | pieces before) per text, without its first piece; None
        for one piece.

        Texts are read as they are, without a start piece, and cut at the positions the model has
        (XMoverScore's way). Batches are of texts of similar length; what is padded comes after a
        text, where nothing looks at it.
        """
        ids_of = self._cut(texts)
        means: list[float | None] = [None] * len(ids_of)
        order = sorted(
            (k for k, ids in enumerate(ids_of) if len(ids) > 1), key=lambda k: len(ids_of[k])
        )
        while order:
            size = max(1, BATCH_PIECES // len(ids_of[order[-1]]))
            batch, order = order[-size:], order[:-size]
            for k, value in zip(
                batch, self._means([ids_of[k] for k in batch]).tolist(), strict=True
            ):
                means[k] = value
        return means

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """Return the number of pieces of each text that the model reads."""
        return [len(ids) for ids in self._cut(texts)]

    def _cut(self, texts: Sequence[str]) -> list[list[int]]:
        return [
            encoding.ids[: self.longest] for encoding in self._tokenizer.encode_batch(list(texts))
        ]

    def _means(self, ids: Sequence[Sequence[int]]) -> Tensor:
        longest = max(map(len, ids))
        padded = torch.tensor(
            [[*text, *[0] * (longest - len(text))] for text in ids], device=self._device
        )
        present = torch.tensor(
            [[1] * len(text) + [0] * (longest - len(text)) for text in ids], device=self._device
        )
        with torch.inference_mode():
            logits = self._model(input_ids=padded, attention_mask=present).logits[:, :-1].float()
        chosen = logits.gather(2, padded[:, 1:].unsqueeze(2)).squeeze(2) - logits.logsumexp(2)
        predicted = present[:, 1:].double()
        means: Tensor = (chosen.double() * predicted).sum(1) / predicted.sum(1)
        return means.cpu()


def open_causal(model: str, *, device: str = "auto", online: bool = False) -> CausalModel:
    """Load a directory or a hub name; the model that was asked for last stays loaded."""
    files, device_name = find_model(model, online=online), choose_device(device)
    key = files.name, *_digests(files), device_name
    if key not in _models:
        _models.clear()
        _models[key] = CausalModel(files, device=device_name)
    return _models[key]


def _digests(files: ModelFiles) -> tuple[str, str, str]:
    return files.weights_digest, files.tokenizer_digest, files.config_digest
