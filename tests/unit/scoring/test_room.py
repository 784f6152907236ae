"""A limit of pieces that leaves nothing of a text is refused, instead of scoring all texts as
equally empty.
"""

import pytest

import monge
from monge.errors import InvalidSetting


@pytest.mark.parametrize("limit", [1, 2])
@pytest.mark.parametrize("overlong", ["truncate", "window", "error"])
def test_a_limit_that_leaves_no_piece_is_refused(tiny_bert, limit, overlong):
    settings = [f"encoder.max_length={limit}", f"encoder.overlong={overlong}"]
    for metric in ("twmd", "bertscore", "moverscore@v2"):
        with pytest.raises(
            InvalidSetting,
            match=rf"max_length={limit} leaves no piece .* take 2 with .*; give 3 or more",
        ):
            monge.score(
                ["the cat sat"],
                ["a dog ran"],
                metric=metric,
                model=str(tiny_bert),
                settings=settings,
            )


def test_one_piece_is_enough(tiny_bert):
    scores = monge.score(
        ["the cat sat", "the cat"],
        ["a dog ran", "the dog"],
        model=str(tiny_bert),
        settings=["encoder.max_length=3"],
    ).segments
    assert scores[0] < 0.999  # "the" against "a"
    assert scores[1] == pytest.approx(1, abs=1e-6)  # "the" against "the"


def test_a_prefix_takes_room_too(tiny_bert):
    settings = ["encoder.max_length=5", "encoder.prefix=the cat sat "]
    with pytest.raises(InvalidSetting, match="special pieces and the prefix take 5"):
        monge.score(["the cat sat"], ["a dog ran"], model=str(tiny_bert), settings=settings)


def test_words_without_special_pieces_need_none(tmp_path):
    vectors = tmp_path / "words.vec"
    vectors.write_text("3 2\nthe 1 0\ncat 0 1\ndog 1 1\n")
    scores = monge.score(
        ["the cat"],
        ["the dog"],
        metric="wmd",
        model=str(vectors),
        settings=["encoder.max_length=1"],
    )
    assert scores.segments[0] == pytest.approx(0, abs=1e-9)  # the first word of both
