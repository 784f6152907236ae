"""Lines: what ends one, what is refused, and that the message names file and line."""

import gzip
import io
import lzma
import os
import sys
import threading

import pytest

from monge.datasets import TextFile, check_text, read_lines
from monge.errors import Unreadable


@pytest.fixture
def write(tmp_path):
    def _write(content, name="a.txt"):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return _write


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("one\ntwo\n", ["one", "two"]),
        ("one\ntwo", ["one", "two"]),
        ("one\r\ntwo\r\n", ["one", "two"]),
        ("one\n\n", ["one", ""]),
        ("\n", [""]),
        ("a\u2028b\u2029c\x85d\x0ce\x1cf\n", ["a\u2028b\u2029c\x85d\x0ce\x1cf"]),
        ("a\rb\n", ["a\rb"]),
        ("\ufeffone\n\ufefftwo\n", ["one", "\ufefftwo"]),
        ("nul\x00inside\n", ["nul\x00inside"]),
        (" kept \n", [" kept "]),
    ],
)
def test_only_newline_ends_a_line(write, content, lines):
    assert read_lines(write(content)) == lines


def test_compressed_files_are_read_as_they_are(write):
    assert read_lines(write(gzip.compress("é\n2\n".encode()), "a.txt.gz")) == ["é", "2"]
    assert read_lines(write(lzma.compress("é\n2\n".encode()), "a.txt.xz")) == ["é", "2"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("bad.txt", b"good\nb\xe9d\n", r"bad\.txt:2: not UTF-8: byte 0xe9 at position 2"),
        ("u.txt", "hello\nthere".encode("utf-16"), r"u\.txt looks like UTF-16.*iconv"),
        ("u.txt", "hello\nthere".encode("utf-16-le"), r"u\.txt looks like UTF-16"),
        ("u.txt", "hello\nthere".encode("utf-16-be"), r"u\.txt looks like UTF-16"),
        (
            "u.txt",
            b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\x00\x3e\x00\n",
            r"u\.txt is not text: it has NUL bytes",
        ),
        ("empty.txt", b"", r"empty\.txt is empty"),
        ("empty.txt.gz", gzip.compress(b"", mtime=0), r"is empty"),
        (
            "cut.txt.gz",
            gzip.compress(os.urandom(5000).hex().encode())[:-20],
            r"cut\.txt\.gz: truncated or damaged gzip",
        ),
        ("flip.txt.gz", b"not gzip at all", r"flip\.txt\.gz: truncated or damaged gzip"),
        ("cut.txt.xz", lzma.compress(b"abc\n" * 99)[:-9], r"cut\.txt\.xz: truncated or damaged xz"),
        ("hidden.txt", gzip.compress(b"abc\n", mtime=0), r"looks like gzip data.*\*\.gz"),
        (
            "hidden.txt",
            b"PK\x03\x04...",
            r"looks like zip data.*unpack.*save a spreadsheet as CSV or TSV",
        ),
        (
            "hidden.txt",
            b"\xd0\xcf\x11\xe0...",
            r"looks like an old office file.*save a spreadsheet as CSV or TSV",
        ),
        ("hidden.txt", b"%PDF-1.7\n...", r"looks like PDF, not text; save .* as plain text"),
        ("hidden.tsv", b"PAR1...", r"looks like Parquet, not text; name it \*\.parquet"),
    ],
)
def test_what_cannot_be_read_is_named(write, name, content, says):
    with pytest.raises(Unreadable, match=says) as caught:
        read_lines(write(content, name))
    assert "\n" not in str(caught.value)


def test_a_missing_file_offers_the_nearest(write, tmp_path):
    write("x\n", "hypotheses.txt")
    with pytest.raises(
        Unreadable, match=r"hypothesis\.txt: no such file; did you mean .*hypotheses\.txt\?"
    ):
        read_lines(tmp_path / "hypothesis.txt")
    with pytest.raises(Unreadable, match="nor is there a directory"):
        read_lines(tmp_path / "nowhere" / "a.txt")


def test_a_directory_is_refused(tmp_path):
    with pytest.raises(Unreadable, match="is a directory; expected a file"):
        read_lines(tmp_path)


def test_no_permission(write, monkeypatch):
    path = write("x\n")

    def refuse(*_args, **_kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("monge.datasets.lines._open_file", refuse)
    with pytest.raises(Unreadable, match="no permission to read it"):
        read_lines(path)


def test_a_file_is_reopened_at_every_iteration(write):
    path = write("one\ntwo\n")
    lines = TextFile(path)
    assert list(lines) == list(lines) == ["one", "two"]
    path.write_text("three\n")
    assert list(lines) == ["three"]


def test_opening_reads_nothing(tmp_path):
    TextFile(tmp_path / "missing")  # the error comes when it is read


def test_standard_input_is_read_once_and_kept(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    lines = TextFile("-")
    assert list(lines) == list(lines) == ["one", "two"]


def test_closed_or_empty_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(Unreadable, match="standard input is closed"):
        read_lines("-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(Unreadable, match="standard input is empty"):
        read_lines("-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a\n\xff\n")))
    with pytest.raises(Unreadable, match="standard input:2: not UTF-8"):
        read_lines("-")


def test_a_pipe_is_kept_after_the_first_reading(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=("one\ntwo\n",))
    writer.start()
    lines = TextFile(fifo)
    assert list(lines) == list(lines) == ["one", "two"]
    writer.join()


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "got None"),
        (b"bytes", "got bytes b'bytes'"),
        (float("nan"), "got float nan"),
        (3, "got int 3"),
        (["a"], r"got list \['a'\]"),
        ("a\ud800b", r"lone surrogate U\+D800 at character 2"),
        ("\udc00\ud800", r"lone surrogate U\+DC00 at character 1"),
    ],
)
def test_check_text_names_the_place(value, says):
    with pytest.raises(Unreadable, match=rf"^hypotheses\[3\]: .*{says}"):
        check_text(value, "hypotheses[3]")


def test_check_text_gives_the_text_back():
    assert check_text("👩‍👧 é", "x") == "👩‍👧 é"
