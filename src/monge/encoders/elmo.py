"""ELMo: words to vectors through characters, from the published `options.json` and `weights.hdf5`.

    layer 0      characters -> convolutions -> maximum -> highways -> projection, written twice side
                 by side
    layer k      [forward ;
                 backward] outputs of the k-th pair of LSTM layers (clipped cells, clipped
                 projections)

The original implementation carries the LSTM states of a batch over to the next one, so there a
sentence's vectors depend on what was encoded before it. `hidden` starts every sentence from zero;
`run` takes and returns the states, which reproduces the original (`tests/parity/test_elmo.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from monge.encoders import digests
from monge.encoders.elmo_files import ElmoOptions, ElmoWeights, find_elmo_files
from monge.errors import InvalidSetting

if TYPE_CHECKING:
    from typing import Self

# Characters are UTF-8 bytes; these stand for the ends of a sentence, the ends of a word, and
# padding.
BEGIN_SENTENCE, END_SENTENCE, BEGIN_WORD, END_WORD, PADDING = 256, 257, 258, 259, 260

State = tuple[Tensor, Tensor]  # projected output [b, p], cell [b, c]


def _freeze(values: Tensor) -> nn.Parameter:
    return nn.Parameter(values, requires_grad=False)


class CharacterEncoder(nn.Module):
    """Token representations [u, p] of words given as characters [u, length]."""

    def __init__(self, options: ElmoOptions, weights: ElmoWeights) -> None:
        """Take the weights of the convolutions, the highways and the projection."""
        super().__init__()
        width, total = options.character_dimension, options.n_filters
        self.activation = torch.relu if options.activation == "relu" else torch.tanh
        self.embedding = _freeze(weights.take("char_embed", (PADDING + 1, width)))
        self.kernels, self.biases = nn.ParameterList(), nn.ParameterList()
        for i, (span, count) in enumerate(options.filters):
            kernel = weights.take(f"CNN/W_cnn_{i}", (1, span, width, count))
            self.kernels.append(_freeze(kernel[0].permute(2, 1, 0).contiguous()))
            self.biases.append(_freeze(weights.take(f"CNN/b_cnn_{i}", (count,))))
        self.highways = nn.ModuleList(
            Highway(weights, f"CNN_high_{i}", total) for i in range(options.n_highway)
        )
        self.projection: nn.Parameter | None = None
        self.projection_bias: nn.Parameter | None = None
        if weights.has("CNN_proj") or total != options.projection:
            self.projection = _freeze(weights.take("CNN_proj/W_proj", (total, options.projection)))
            self.projection_bias = _freeze(weights.take("CNN_proj/b_proj", (options.projection,)))

    def forward(self, characters: Tensor) -> Tensor:
        """Embed words; padding characters take part in the convolutions, as in the original."""
        embedded = self.embedding[characters].transpose(1, 2)
        pooled = [
            self.activation(F.conv1d(embedded, kernel, bias).amax(dim=2))
            for kernel, bias in zip(self.kernels, self.biases, strict=True)
        ]
        tokens = torch.cat(pooled, dim=1)
        for highway in self.highways:
            tokens = highway(tokens)
        if self.projection is None or self.projection_bias is None:
            return tokens
        return tokens @ self.projection + self.projection_bias


class Highway(nn.Module):
    """carry * relu(x W + b) + (1 - carry) * x  with  carry = sigmoid(x W' + b')."""

    def __init__(self, weights: ElmoWeights, group: str, size: int) -> None:
        """Take the weights of one layer, a group of the file."""
        super().__init__()
        self.carry = _freeze(weights.take(f"{group}/W_carry", (size, size)))
        self.carry_bias = _freeze(weights.take(f"{group}/b_carry", (size,)))
        self.transform = _freeze(weights.take(f"{group}/W_transform", (size, size)))
        self.transform_bias = _freeze(weights.take(f"{group}/b_transform", (size,)))

    def forward(self, x: Tensor) -> Tensor:
        """Map [u, f] to [u, f]."""
        carry = torch.sigmoid(x @ self.carry + self.carry_bias)
        return carry * torch.relu(x @ self.transform + self.transform_bias) + (1 - carry) * x


class ClippedLstm(nn.Module):
    """One direction of one layer: LSTM with projection, cell and projection clipped; forget
    bias 1.
    """

    def __init__(
        self, options: ElmoOptions, weights: ElmoWeights, direction: int, layer: int
    ) -> None:
        """Take the weights of one cell: direction 0 reads forwards, 1 backwards."""
        super().__init__()
        group, size, cells = (
            f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell",
            options.projection,
            options.cells,
        )
        joint = weights.take(f"{group}/W_0", (2 * size, 4 * cells))
        self.from_input, self.from_output = (
            _freeze(joint[:size].clone()),
            _freeze(joint[size:].clone()),
        )
        self.bias = _freeze(weights.take(f"{group}/B", (4 * cells,)))
        self.projection = _freeze(weights.take(f"{group}/W_P_0", (cells, size)))
        self.cell_clip, self.projection_clip = options.cell_clip, options.projection_clip

    def forward(self, inputs: Tensor, present: Tensor, state: State | None) -> tuple[Tensor, State]:
        """Run over inputs [b, t, p]; where not present [b, t], the state is unchanged and the
        output is zero.
        """
        output, cell = state if state is not None else self.zero_state(len(inputs))
        driven = inputs @ self.from_input + self.bias
        outputs = []
        for step in range(inputs.shape[1]):
            is_present = present[:, step, None]
            enter, candidate, forget, leave = (driven[:, step] + output @ self.from_output).chunk(
                4, dim=1
            )
            moved = torch.sigmoid(forget + 1) * cell + torch.sigmoid(enter) * torch.tanh(candidate)
            moved = _clip(moved, self.cell_clip)
            spoken = _clip(
                (torch.sigmoid(leave) * torch.tanh(moved)) @ self.projection, self.projection_clip
            )
            cell, output = (
                torch.where(is_present, moved, cell),
                torch.where(is_present, spoken, output),
            )
            outputs.append(spoken * is_present)
        return torch.stack(outputs, dim=1), (output, cell)

    def zero_state(self, batch: int) -> State:
        """Return the zero state."""
        cells, size = self.projection.shape
        return self.bias.new_zeros(batch, size), self.bias.new_zeros(batch, cells)


def _clip(values: Tensor, bound: float | None) -> Tensor:
    return values if bound is None else values.clamp(-bound, bound)


class Elmo(nn.Module):
    """The bidirectional language model; `dimension` is the width of every layer, `layers` their
    number.
    """

    def __init__(self, options: ElmoOptions, weights: ElmoWeights) -> None:
        """Build from settings and an open weights file; `open` does both."""
        super().__init__()
        self.options = options
        self.dimension, self.layers = 2 * options.projection, options.n_layers + 1
        self.digest = self.options_digest = ""
        self.characters = CharacterEncoder(options, weights)
        self.forwards = nn.ModuleList(
            ClippedLstm(options, weights, 0, k) for k in range(options.n_layers)
        )
        self.backwards = nn.ModuleList(
            ClippedLstm(options, weights, 1, k) for k in range(options.n_layers)
        )

    @classmethod
    def open(cls, path: str | Path, weights: str | Path | None = None) -> Self:
        """Open a directory with one `*options.json` and one `*weights.hdf5`, or the two files."""
        options_file, weights_file = find_elmo_files(
            Path(path), None if weights is None else Path(weights)
        )
        options = ElmoOptions.read(options_file)
        with ElmoWeights(weights_file) as stored:
            model = cls(options, stored)
        model.digest, model.options_digest = (
            digests.of_file(weights_file),
            digests.of_json(options_file),
        )
        return model.eval()

    def hidden(self, sentences: Sequence[Sequence[str]], *, batch_size: int = 32) -> list[Tensor]:
        """Return all layers of each sentence, [layers, t, dimension], every sentence from the zero
        state.
        """
        if batch_size < 1:
            raise InvalidSetting(f"batch_size must be at least 1, got {batch_size}")
        order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]), reverse=True)
        layers_of: dict[int, Tensor] = {}
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            layers_of.update(zip(rows, self.run([sentences[i] for i in rows])[0], strict=True))
        return [layers_of[i] for i in range(len(sentences))]

    @torch.no_grad()
    def run(
        self, sentences: Sequence[Sequence[str]], states: list[tuple[State, State]] | None = None
    ) -> tuple[list[Tensor], list[tuple[State, State]]]:
        """Run one batch from the given states (one forward, one backward per layer); also return
        the new states.
        """
        if not sentences:
            return [], states or []
        tokens, lengths = self._tokens(sentences)
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        present = positions < lengths[:, None]
        turned = torch.where(present, lengths[:, None] - 1 - positions, positions)[
            :, :, None
        ].expand_as(tokens)
        ahead, behind = tokens, tokens.gather(1, turned)
        layers, final_states = [torch.cat([tokens, tokens], dim=2)], []
        for k in range(self.layers - 1):
            before = states[k] if states is not None else (None, None)
            forward, first = self.forwards[k](ahead, present, before[0])
            backward, second = self.backwards[k](behind, present, before[1])
            skip = self.options.skip_connections and k > 0
            ahead, behind = (forward + ahead, backward + behind) if skip else (forward, backward)
            layers.append(torch.cat([ahead, behind.gather(1, turned)], dim=2))
            final_states.append((first, second))
        stacked = torch.stack(layers, dim=1)
        return [
            stacked[i, :, 1 : 1 + len(words)].clone() for i, words in enumerate(sentences)
        ], final_states

    def _tokens(self, sentences: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor]:
        """Return token vectors [b, t, p] with sentence ends, and lengths [b]; each distinct word is
        computed once.
        """
        device = self.characters.embedding.device
        word_index: dict[tuple[int, ...], int] = {}
        rows = [
            [word_index.setdefault(spelled, len(word_index)) for spelled in self._spell(sentence)]
            for sentence in sentences
        ]
        vectors = self.characters(torch.tensor(list(word_index), device=device))
        index = nn.utils.rnn.pad_sequence(
            [torch.tensor(row, device=device) for row in rows], batch_first=True
        )
        return vectors[index], torch.tensor([len(row) for row in rows], device=device)

    def _spell(self, sentence: Sequence[str]) -> list[tuple[int, ...]]:
        room = self.options.max_characters
        words = [
            [BEGIN_SENTENCE],
            *(list(word.encode("utf-8", "replace")) for word in sentence),
            [END_SENTENCE],
        ]
        spelled = [[BEGIN_WORD, *word[: room - 2], END_WORD] for word in words]
        return [tuple(word + [PADDING] * (room - len(word))) for word in spelled]
