"""Pieces into units, for three families of tokenizers: what makes a unit, and what is dropped."""

import pytest

from monge.encoders.transformer import open_encoder
from monge.errors import DataError
from monge.metrics.axes import UnitSettings
from monge.text.ngrams import windows
from monge.text.overlong import fit_length
from monge.text.select import is_punctuation, select
from monge.types.flags import FlagKind

NONE = frozenset()
FAMILIES = ("tiny_bert", "tiny_roberta", "tiny_xlmr")


@pytest.fixture
def encoder(request):
    return open_encoder(str(request.getfixturevalue(request.param)))


every_family = pytest.mark.parametrize("encoder", FAMILIES, indirect=True)
wordpiece = pytest.mark.parametrize("encoder", ["tiny_bert"], indirect=True)
sentencepiece = pytest.mark.parametrize("encoder", ["tiny_xlmr"], indirect=True)


def units(encoder, text, stopwords=NONE, **settings):
    (tokens,) = encoder.tokenise([text])
    return tokens, select(tokens, UnitSettings(**settings), frozenset(stopwords))


def labels(encoder, text, stopwords=NONE, **settings):
    return list(units(encoder, text, stopwords, **settings)[1].labels)


@every_family
def test_words_of_every_family(encoder):
    text = "the cat sat unhappily."
    assert labels(encoder, text, subwords="mean") == ["the", "cat", "sat", "unhappily", "."]
    assert labels(encoder, text, subwords="first") == ["the", "cat", "sat", "unhappily", "."]


@every_family
def test_first_piece_and_mean_of_pieces(encoder):
    tokens, first = units(encoder, "the cat unhappily", subwords="first")
    _, mean = units(encoder, "the cat unhappily", subwords="mean")
    _, every = units(encoder, "the cat unhappily", subwords="all")
    word = mean.groups[2]
    assert len(word) > 1
    assert first.groups[2] == word[:1]
    assert [group[0] for group in every.groups] == [
        p for p, special in enumerate(tokens.special) if not special
    ]
    assert "".join(tokens.surface([p]) for p in word) == "unhappily"


@every_family
def test_the_last_word_before_a_full_stop_is_kept(encoder):
    """Another implementation drops it with mean of pieces and punctuation dropped."""
    for text in ("the cat sat .", "the cat sat.", "the cat unhappily ."):
        found = labels(encoder, text, subwords="mean", punctuation="drop")
        assert found == ["the", "cat", text.split()[2].strip(".")]


@pytest.mark.parametrize("encoder", ["tiny_bert", "tiny_xlmr"], indirect=True)
@pytest.mark.parametrize("subwords", ["first", "mean"])
def test_a_text_without_spaces(encoder, subwords):
    """Chinese: every piece its own word, whatever mark the tokenizer puts in front."""
    found = labels(encoder, "猫坐在垫子上。", subwords=subwords, punctuation="drop")
    assert found == ["猫", "坐", "在", "垫", "子", "上"]


@sentencepiece
def test_a_lone_mark_is_no_word(encoder):
    """`▁` before a piece that does not join it, at the start of a text as elsewhere."""
    tokens, found = units(encoder, "猫坐 猫坐", subwords="first")
    assert tokens.pieces.count("▁") == 2
    assert [tokens.pieces[group[0]] for group in found.groups] == ["猫", "坐", "猫", "坐"]
    tokens, mean = units(encoder, "literal words", subwords="mean")
    assert "▁" not in [tokens.pieces[p] for group in mean.groups for p in group]
    assert list(mean.labels) == ["literal", "words"]


@sentencepiece
def test_a_lone_mark_is_a_piece_where_all_are_kept(encoder):
    tokens, found = units(encoder, "猫坐", subwords="all")
    assert len(found.groups) == sum(not special for special in tokens.special) == 3


@sentencepiece
def test_a_text_of_the_mark_itself_keeps_a_unit(encoder):
    for subwords in ("first", "mean", "all"):
        assert len(units(encoder, "▁", subwords=subwords)[1].groups) == 1


@every_family
@pytest.mark.parametrize(
    "literal", ["[SEP]", "[CLS]", "[MASK]", "[PAD]", "<s>", "</s>", "<pad>", "<mask>"]
)
def test_literal_specials_are_text(encoder, literal):
    """Special tokens that a user typed are words like any others."""
    (tokens,) = encoder.tokenise([f"the {literal} cat"])
    assert sum(tokens.special) == 2
    assert tokens.special[0] and tokens.special[-1]
    specials = set(encoder.frame[0] + encoder.frame[1])
    assert not specials & set(tokens.ids[1:-1])
    covered = [text for start, end in tokens.spans[1:-1] for text in tokens.text[start:end].strip()]
    assert "".join(covered) == f"the{literal}cat"


@wordpiece
def test_unicode_and_ascii_punctuation(encoder):
    text = "the cat “ sat ” , and … slept –"
    everywhere = labels(encoder, text, punctuation="drop")
    assert everywhere == ["the", "cat", "sat", "and", "slept"]
    ascii_only = labels(encoder, text, punctuation="drop-ascii")
    assert ascii_only == ["the", "cat", "“", "sat", "”", "and", "…", "slept", "–"]
    assert labels(encoder, text) == text.split()


@pytest.mark.parametrize(("text", "answer"), [
    (".", True), ("...", True), ("“", True), ("。", True), ("$", True), ("+", True), ("~", True), ("?!", True),
    ("a.", False), ("", False), ("€", False), ("1", False), ("不", False),
])  # fmt: skip
def test_what_punctuation_is(text, answer):
    assert is_punctuation(text) is answer


@every_family
def test_stopwords_match_whole_words(encoder):
    text = "The cat and the dog unhappily ran"
    kept = labels(encoder, text.lower(), {"the", "and", "un"}, subwords="first")
    assert kept == ["cat", "dog", "unhappily", "ran"]


@wordpiece
def test_stopwords_match_pieces(encoder):
    """MoverScore's release looks at the first piece alone; with all pieces `##the` matches too."""
    assert labels(encoder, "unhappily the cat", {"the", "un"}, subwords="first", match="piece") == [
        "cat"
    ]
    found = units(encoder, "cathe the", {"the"}, subwords="all", match="piece")
    tokens = found[0]
    assert "##the" not in [tokens.pieces[g[0]] for g in found[1].groups]
    assert labels(encoder, "The Cat", {"the"}) == ["Cat"]


@wordpiece
@pytest.mark.parametrize(("specials", "wanted"), [
    ("drop", ["the", "cat"]), ("keep", ["[CLS]", "the", "cat", "[SEP]"]),
    ("targets", ["[CLS]", "the", "cat", "[SEP]"]), ("first", ["[CLS]", "the", "cat"]),
])  # fmt: skip
@pytest.mark.parametrize("subwords", ["all", "first", "mean"])
def test_specials(encoder, specials, wanted, subwords):
    _, found = units(encoder, "the cat", specials=specials, subwords=subwords)
    assert list(found.labels) == wanted
    assert list(found.special) == [label.startswith("[") for label in wanted]


@every_family
@pytest.mark.parametrize("subwords", ["all", "first", "mean"])
def test_a_text_that_filters_would_empty_keeps_its_words(encoder, subwords):
    settings = {"subwords": subwords, "punctuation": "drop"}
    _, found = units(encoder, "the . !", {"the"}, **settings)
    assert found.flags == (FlagKind.ALL_FILTERED,)
    assert "the" in found.labels and "." in found.labels
    _, one = units(encoder, "the cat .", {"the"}, **settings)
    assert one.flags == ()
    assert list(one.labels) == ["cat"]


@every_family
def test_groups_cover_each_piece_once(encoder):
    """Whatever the settings, units are disjoint, in order, and inside the text."""
    text = "the cat's un-happily [SEP] 猫坐 ran, “said” he … a/b"
    for subwords in ("all", "first", "mean"):
        for punctuation in ("keep", "drop", "drop-ascii"):
            tokens, found = units(
                encoder, text, subwords=subwords, punctuation=punctuation, specials="keep"
            )
            flat = [p for group in found.groups for p in group]
            assert flat == sorted(set(flat))
            assert flat[-1] < len(tokens.ids)
            if (subwords, punctuation) == ("all", "keep"):
                assert flat == list(range(len(tokens.ids))), "nothing is left out"
            assert len(found.labels) == len(found.groups) == len(found.special)


@pytest.mark.parametrize(("count", "n", "wanted"), [
    (4, 1, [(0, 1), (1, 2), (2, 3), (3, 4)]), (4, 2, [(0, 2), (1, 3), (2, 4)]), (3, 3, [(0, 3)]),
    (2, 5, [(0, 2)]), (4, 0, [(0, 4)]), (0, 2, []), (0, 0, []), (1, 2, [(0, 1)]),
])  # fmt: skip
def test_windows(count, n, wanted):
    assert windows(count, n) == wanted


@every_family
def test_cutting_keeps_the_specials_and_counts_the_rest(encoder):
    text = "the cat sat on the mat and the dog ran"
    (whole,) = encoder.tokenise([text])
    longest = 7
    cut = fit_length(whole, longest, "truncate", "here")
    assert len(cut.ids) == longest
    assert cut.truncated == len(whole.ids) - longest
    assert cut.ids == (*whole.ids[: longest - 1], whole.ids[-1])
    assert [cut.special[0], cut.special[-1]] == [True, True]
    assert {
        len(getattr(cut, name)) for name in ("ids", "pieces", "spans", "special", "continues")
    } == {longest}
    assert fit_length(whole, len(whole.ids), "truncate", "here") is whole
    assert fit_length(whole, longest, "window", "here") is whole
    with pytest.raises(DataError, match=rf"here: {len(whole.ids)} pieces, the limit is {longest}"):
        fit_length(whole, longest, "error", "here")


@wordpiece
def test_pieces_of_a_prefix_are_special(encoder):
    (plain,), (tokens,) = (
        encoder.tokenise(["the cat"]),
        encoder.tokenise(["the cat"], prefix="query: "),
    )
    assert tokens.pieces == ["[CLS]", "query", ":", "the", "cat", "[SEP]"]
    assert list(tokens.special) == [True, True, True, False, False, True]
    assert [tokens.text[a:b] for a, b in tokens.spans[3:5]] == [
        plain.text[a:b] for a, b in plain.spans[1:3]
    ]
    assert list(select(tokens, UnitSettings(), NONE).labels) == ["the", "cat"]
    assert list(select(tokens, UnitSettings(specials="first"), NONE).labels) == [
        "[CLS]",
        "query",
        ":",
        "the",
        "cat",
    ]


@every_family
def test_prefixes_of_every_family(encoder):
    (tokens,) = encoder.tokenise(["the cat sat"], prefix="the dog: ")
    assert list(select(tokens, UnitSettings(subwords="mean"), NONE).labels) == ["the", "cat", "sat"]


@every_family
@pytest.mark.parametrize("text", ["", " ", "\t\n", "\u00a0"])
def test_empty_texts_have_only_specials(encoder, text):
    (tokens,) = encoder.tokenise([text])
    assert all(tokens.special)
