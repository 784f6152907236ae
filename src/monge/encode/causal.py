"""A causal language model: how likely it finds a text. Safetensors only, no remote code, offline unless asked."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from monge.encode.loading import chosen_device, load_causal
from monge.encode.models import ModelFiles, find

BATCH_PIECES = 2048
_loaded: dict[tuple[str, ...], CausalModel] = {}


class CausalModel:
    """A loaded language model and its tokenizer; `fingerprint` is the full digests of its files."""

    def __init__(self, files: ModelFiles, *, device: str = "cpu") -> None:
        self.name, self.fingerprint = files.name, "/".join(_digests(files))
        self.digest = "".join(one[:8] for one in _digests(files))
        self._device = torch.device(device)
        model, tokenizer = load_causal(files)
        self._model, self._tokenizer = model.to(self._device), tokenizer.backend_tokenizer
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # a literal <|endoftext|> in a text is text
        self.vocabulary = int(self._model.config.vocab_size)
        self.longest = int(getattr(self._model.config, "max_position_embeddings", None) or 1024)

    def mean_log_likelihoods(self, texts: Sequence[str]) -> list[float | None]:
        """Mean of ln p(piece | pieces before) over the pieces of a text after its first; None where there is no second.

        Texts are read as they are, without a start piece, and cut at the positions the model has (XMoverScore's way).
        Batches are of texts of similar length; what is padded comes after a text, where nothing looks at it.
        """
        every = self._cut(texts)
        found: list[float | None] = [None] * len(every)
        order = sorted((k for k, ids in enumerate(every) if len(ids) > 1), key=lambda k: len(every[k]))
        while order:
            size = max(1, BATCH_PIECES // len(every[order[-1]]))
            batch, order = order[-size:], order[:-size]
            for k, value in zip(batch, self._means([every[k] for k in batch]).tolist(), strict=True):
                found[k] = value
        return found

    def lengths(self, texts: Sequence[str]) -> list[int]:
        """The number of pieces of each text that the model reads."""
        return [len(ids) for ids in self._cut(texts)]

    def _cut(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids[: self.longest] for encoding in self._tokenizer.encode_batch(list(texts))]

    def _means(self, ids: Sequence[Sequence[int]]) -> Tensor:
        longest = max(map(len, ids))
        padded = torch.tensor([[*text, *[0] * (longest - len(text))] for text in ids], device=self._device)
        present = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in ids], device=self._device)
        with torch.inference_mode():
            logits = self._model(input_ids=padded, attention_mask=present).logits[:, :-1].float()
        chosen = logits.gather(2, padded[:, 1:].unsqueeze(2)).squeeze(2) - logits.logsumexp(2)
        there = present[:, 1:].double()
        means: Tensor = (chosen.double() * there).sum(1) / there.sum(1)
        return means.cpu()


def open_causal(model: str, *, device: str = "auto", online: bool = False) -> CausalModel:
    """Load a directory or a hub name; the model that was asked for last stays loaded."""
    files, where = find(model, online=online), chosen_device(device)
    key = files.name, *_digests(files), where
    if key not in _loaded:
        _loaded.clear()
        _loaded[key] = CausalModel(files, device=where)
    return _loaded[key]


def _digests(files: ModelFiles) -> tuple[str, str, str]:
    return files.weights_digest, files.tokenizer_digest, files.config_digest
