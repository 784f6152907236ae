"""Static vectors: every published layout, every fault named, the words of a text."""

import gzip
import hashlib
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import monge
from monge.cache import Store
from monge.encoders import static, vectorarrays
from monge.encoders.static import StaticVectors, word_spans
from monge.encoders.vectorfile import recognise
from monge.errors import DataError, InvalidSetting, ModelError, NotKept
from monge.scoring.run import ScoringRun

WORDS = ["the", "Cat", "n't", "do", "3.14", "日", "well", "café", "'s", "don"]
VECTORS = np.random.default_rng(3).normal(size=(len(WORDS), 4)).astype(np.float32)


def text_lines(words=WORDS, vectors=VECTORS, tail=""):
    rows = zip(words, vectors, strict=True)
    return "".join(f"{word} {' '.join(repr(float(x)) for x in row)}{tail}\n" for word, row in rows)


def binary(words=WORDS, vectors=VECTORS, newline=b"\n", header=None):
    rows = zip(words, vectors, strict=True)
    names = ((word if isinstance(word, bytes) else word.encode(), row) for word, row in rows)
    body = b"".join(name + b" " + row.astype("<f4").tobytes() + newline for name, row in names)
    return (header or f"{len(words)} {vectors.shape[1]}\n").encode() + body


LAYOUTS = {
    "glove": text_lines().encode(),
    "glove-crlf": text_lines().replace("\n", "\r\n").encode(),
    "glove-no-final-newline": text_lines()[:-1].encode(),
    "word2vec-text": f"{len(WORDS)} 4\n{text_lines()}".encode(),
    "fasttext": f"{len(WORDS)} 4\n{text_lines(tail=' ')}".encode(),
    "word2vec-binary": binary(),
    "word2vec-binary-without-newlines": binary(newline=b""),
}


@pytest.fixture
def write(tmp_path):
    def write(content, name="v.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def vectors(write):
    return StaticVectors.open(write(LAYOUTS["glove"]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("packed", [False, True])
def test_layouts_give_the_same_vectors(write, layout, packed):
    content = gzip.compress(LAYOUTS[layout]) if packed else LAYOUTS[layout]
    path = write(content)
    found = StaticVectors.open(path)
    kind = "binary" if "binary" in layout else "glove" if "glove" in layout else "text"
    assert (len(found), found.dimension, recognise(path).kind) == (len(WORDS), 4, kind)
    assert found.lookup(WORDS) == list(range(len(WORDS)))
    assert np.array_equal(found.vector(range(len(WORDS))), VECTORS)
    assert found.vector([0]).dtype == np.float32


def test_many_words_cross_chunks(write, monkeypatch):
    monkeypatch.setattr("monge.encoders.vectorfile.CHUNK", 1000)
    words = [f"w{i}" for i in range(500)]
    values = np.random.default_rng(0).normal(size=(500, 7)).astype(np.float32)
    for name, content in (("a", text_lines(words, values).encode()), ("b", binary(words, values))):
        found = StaticVectors.open(write(content, name))
        assert np.array_equal(found.vector(found.lookup(words)), values)


def test_lookup_forms(vectors):
    assert vectors.lookup(["THE", "cat", "Cat", "Café", "cafe\u0301", "n’t", "co", ""]) == [
        0,
        -1,
        1,
        7,
        7,
        2,
        -1,
        -1,
    ]
    assert np.array_equal(vectors.vector([-1]), np.zeros((1, 4)))
    assert vectors.vector([]).shape == (0, 4)
    with pytest.raises(InvalidSetting, match="within -1"):
        vectors.vector([len(WORDS)])
    with pytest.raises(InvalidSetting, match="within -1"):
        vectors.vector([-2])


def test_the_first_of_repeated_words_counts(write):
    found = StaticVectors.open(write("a 1 2\nb 3 4\na 5 6\n"))
    assert found.vector(found.lookup(["a"])).tolist() == [[1, 2]]


def test_words_that_hash_alike_are_told_apart(write, monkeypatch):
    monkeypatch.setattr(vectorarrays, "word_hash", lambda word: 7)
    monkeypatch.setattr("monge.encoders.static.word_hash", lambda word: 7)
    found = StaticVectors.open(write(LAYOUTS["glove"]))
    assert found.lookup([*WORDS, "absent"]) == [*range(len(WORDS)), -1]


def test_words_with_spaces(write):
    found = StaticVectors.open(write("a 1 2\nat name@domain.com 3 4\n. . . 5 6\nb 7 8\n"))
    assert found.lookup(["at name@domain.com", ". . .", "b"]) == [1, 2, 3]


@pytest.mark.parametrize(
    "content", [b"a 1 2\n\xff\xfe 3 4\n 9 9\nb 5 6\n", b"4 2\na 1 2\n\xff\xfe 3 4\n 9 9\nb 5 6\n"]
)
def test_words_that_are_not_utf8_are_skipped(write, content):
    found = StaticVectors.open(write(content))
    assert len(found) == 2
    assert found.vector(found.lookup(["b"])).tolist() == [[5, 6]]


def test_binary_words_that_are_not_utf8(write):
    found = StaticVectors.open(write(binary([b"a", b"\xc3", b"b"], VECTORS[:3])))
    assert (len(found), found.lookup(["a", "b"])) == (2, [0, 1])
    assert np.array_equal(found.vector([1]), VECTORS[2:3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty file"),
        (b"hello world\nthis is prose\n", "not word vectors"),
        (b"\x80\x04\x95pickled", "not word vectors"),
        (b"0 0\n", "holds nothing"),
        (b"a 1 2\nb 3\nc 4 5\n", "line 2: 1 numbers, expected 2"),
        (b"a 1 2\nb 3 4\nc 4 5 6\n", "line 3: more than the expected 2 numbers"),
        (b"3 2\na 1 2\nb 3 4\nc 4 5 6\n", "line 4: more than the expected 2 numbers"),
        (b"a 1 2\nb x 4\n", "line 2: 'x' is not a number"),
        (b"a 1 2\nb nan 4\n", "line 2: NaN or infinite"),
        (b"2 2\na 1 2\nb 4 1e99\n", "line 3: NaN or infinite"),
        (b"a 1 2\nb 3 4\nc 5", "line 3: truncated: 1 numbers, expected 2"),
        (b"3 2\na 1 2\nb 3 4\n", "truncated: the header promises 3 words, the file holds 2"),
        (b"1 2\na 1 2\nb 3 4\n", "the header promises 1 words, the file holds 2"),
        (b"1 2\n\xff 1 2\n", "no word with a vector"),
        (binary()[:-9], "header promises 10 words, word 10 is cut"),
        (binary(header="12 4\n"), "header promises 12 words, word 11 is cut"),
        (binary(header="9 4\n"), "more data than the 9 words"),
        (binary(WORDS[:2], np.array([[1, 2], [1, np.nan]])), "word 2: NaN"),
        (gzip.compress(LAYOUTS["glove"], mtime=0)[:-12], "truncated"),
        (gzip.compress(LAYOUTS["glove"], mtime=0)[:-8] + bytes(8), "damaged gzip"),
    ],
)
def test_faults_are_named_in_one_line(write, content, message):
    path = write(content)
    with pytest.raises(ModelError, match=message) as caught:
        StaticVectors.open(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
    assert list(path.parent.iterdir()) == [path], "a failed conversion leaves nothing behind"


def test_missing_file_and_directories(tmp_path, write):
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        StaticVectors.open(tmp_path / "absent.txt")
    with pytest.raises(ModelError, match=r"exactly one vector file .* found none"):
        StaticVectors.open(tmp_path)
    write(LAYOUTS["glove"], "one.vec")
    assert len(StaticVectors.open(tmp_path)) == len(WORDS)
    assert len(StaticVectors.open(tmp_path)) == len(WORDS)
    write(LAYOUTS["glove"], "two.vec")
    with pytest.raises(ModelError, match=r"found one\.vec, two\.vec"):
        StaticVectors.open(tmp_path)


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


def conversions(cache):
    return sorted(cache.glob("vectors/*/*"))


def test_nothing_is_written_unasked(write, tmp_path, monkeypatch):
    """Before: the arrays went beside the file, or to ~/.cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    path = write(LAYOUTS["glove"])
    assert StaticVectors.open(path).lookup(["the"]) == [0]
    assert list(tmp_path.iterdir()) == [path]


def test_converted_once_and_again_when_the_file_changes(write, cache, monkeypatch):
    path = write(LAYOUTS["glove"])
    first = StaticVectors.open(path, cache=cache)
    [kept] = conversions(cache)
    with monkeypatch.context() as patch:
        patch.setattr(vectorarrays, "_convert", None)
        second = StaticVectors.open(path, cache=cache)
    assert second.digest == first.digest == hashlib.sha256(LAYOUTS["glove"]).hexdigest()
    assert isinstance(second._stored.vectors, np.memmap)
    assert np.array_equal(
        second.vector(range(len(WORDS))), StaticVectors.open(path).vector(range(len(WORDS)))
    )
    write("x 1 2\n")
    assert StaticVectors.open(path, cache=cache).lookup(["x", "the"]) == [0, -1]
    [new] = conversions(cache)
    assert new != kept
    assert first.lookup(["the"]) == [0], "an open map outlives the conversion of a newer file"
    assert path.parent == cache.parent and len(list(path.parent.iterdir())) == 2


@pytest.mark.parametrize("damage", ["facts.json", "vectors.npy", "starts.npy"])
def test_a_damaged_conversion_is_made_again(write, cache, damage):
    path = write(LAYOUTS["glove"])
    StaticVectors.open(path, cache=cache)
    [kept] = conversions(cache)
    target = kept / damage
    target.write_bytes(target.read_bytes()[:-8] if damage != "facts.json" else b"{}")
    assert StaticVectors.open(path, cache=cache).lookup(["the"]) == [0]
    assert json.loads((kept / "facts.json").read_text())["words"] == len(WORDS)


def test_no_array_is_a_pickle(write, cache):
    path = write(LAYOUTS["glove"])
    StaticVectors.open(path, cache=cache)
    [kept] = conversions(cache)
    np.save(kept / "words.npy", np.array([{}], dtype=object), allow_pickle=True)
    assert StaticVectors.open(path, cache=cache).lookup(["the"]) == [0]


def test_a_cache_that_cannot_be_written_costs_time_alone(write, cache):
    cache.write_text("in the way")
    with pytest.warns(NotKept, match=r"cache: the vectors of \S*v.txt are not kept \("):
        found = StaticVectors.open(write(LAYOUTS["glove"]), cache=cache)
    assert found.lookup(["the"]) == [0]


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" \n\t\u3000", []),
        ("Hello, world!", ["Hello", ",", "world", "!"]),
        ("don't mother-in-law’s 'tis rock-", ["don't", "mother-in-law’s", "'", "tis", "rock", "-"]),
        ("3.14 1,000.5 v2.x 5. a,b", ["3.14", "1,000.5", "v2", ".", "x", "5", ".", "a", ",", "b"]),
        ("日本語 テスト한국어", ["日", "本", "語", "テスト한국어"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("e\u0301te\u0301 na\u00efve", ["e\u0301te\u0301", "na\u00efve"]),
        ("\ufeffa\u200bb می‌خواهم", ["a", "b", "می‌خواهم"]),
        ("…“quoted” – $5 😀😀", ["…", "“", "quoted", "”", "–", "$", "5", "😀", "😀"]),
    ],
)
def test_word_spans(text, pieces):
    assert [text[a:b] for a, b in word_spans(text)] == pieces


def test_tokens_and_their_places(vectors):
    text = "The CAT don't; Cat's 3.14 well-zzz"
    tokens = vectors.tokenise(text)
    assert tokens.pieces == ("The", "do", "n't", "Cat", "'s", "3.14", "well")
    assert [text[a:b] for a, b in tokens.spans] == list(tokens.pieces)
    assert tokens.ids == (0, 3, 2, 1, 8, 4, 6)
    assert tokens.special == tokens.continues == (False,) * 7
    assert (tokens.words, tokens.unknown) == (11, 4)
    assert vectors.tokenise(text) == tokens, "a text's counts are its own, however often it is met"


@pytest.mark.parametrize("unknown", ["drop", "zero"])
def test_counts_of_words_do_not_depend_on_windows_or_caches(write, tmp_path, unknown):
    """Before: words were counted where a window met them, and not at all where a score was
    remembered.
    """
    metric = monge.load(
        "wmd", model=str(write(LAYOUTS["glove"])), settings={"encoder.unknown": unknown}
    )
    rows = monge.api.segments_of(
        ["the cat zzz", "well well", "the cat zzz"], ["the zzz", "the Cat", "the zzz"]
    )
    wanted = {"words": 5 + 4 + 5, "unknown": 3 + 0 + 3}  # "cat" has no vector, "Cat" has
    for window in (1, 2, 1024):
        for store in (None, Store(tmp_path / "kept"), Store(tmp_path / "kept")):
            (found,) = ScoringRun([metric.scorer], rows, window=window, store=store).results()
            assert {name: found.run[name] for name in wanted} == wanted
            if store is not None:
                store.close()


class Forgetful(dict):
    """What is put in is gone at once: the worst that another thread can do."""

    def __setitem__(self, word, index):
        super().__setitem__(word, index)
        self.clear()


def test_words_are_found_while_another_thread_forgets_them(vectors):
    """Before: KeyError where the memory of words was emptied between a look and a read."""
    vectors._ids = Forgetful()
    assert vectors.lookup(WORDS) == list(range(len(WORDS)))


def test_threads_share_vectors(write, monkeypatch):
    monkeypatch.setattr(static, "REMEMBERED", 3)
    vectors = StaticVectors.open(write(LAYOUTS["glove"]))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: vectors.lookup(WORDS), range(2000)))
    assert all(one == list(range(len(WORDS))) for one in found)


def test_policies_for_unknown_words(write):
    path = write(LAYOUTS["glove"])
    zero = StaticVectors.open(path, unknown="zero").tokenise("the zzz well")
    assert (zero.ids, zero.pieces) == ((0, -1, 6), ("the", "zzz", "well"))
    with pytest.raises(DataError, match=r"no vector for 'zzz' \(character 5\)"):
        StaticVectors.open(path, unknown="error").tokenise("the zzz")
    with pytest.raises(InvalidSetting, match="drop, zero, error"):
        StaticVectors.open(path, unknown="maybe")
    assert StaticVectors.open(path).tokenise("zzz").ids == ()


OPEN = """
import sys, time
from monge.encoders.static import StaticVectors
def resident():
    return int(next(l for l in open("/proc/self/status") if l.startswith("VmRSS")).split()[1]) / 1024
before, start = resident(), time.perf_counter()
vectors = StaticVectors.open(sys.argv[1], cache=sys.argv[2])
ids = vectors.lookup(["the", "king", "zzzqqq"])
print(time.perf_counter() - start, resident() - before, len(vectors), vectors.dimension, ids[2])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_glove_opens_at_once_the_second_time(tmp_path, models_dir):
    source = models_dir / "glove-6b-50d" / "glove.6B.50d.txt"
    link = tmp_path / "glove.txt"
    link.symlink_to(source)
    StaticVectors.open(link, cache=tmp_path / "cache")
    command = [sys.executable, "-c", OPEN, str(link), str(tmp_path / "cache")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    seconds, megabytes, words, dimension, absent = map(float, out.split())
    assert (words, dimension, absent) == (400_000, 50, -1)
    assert seconds < 1 and megabytes < 400
