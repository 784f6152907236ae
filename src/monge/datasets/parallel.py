"""Line-aligned text files: hypotheses of one or more systems, their references and source."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, zip_longest
from pathlib import Path

from monge.datasets.lines import STDIN, StrPath, TextFile, check_text, is_there
from monge.errors import Misaligned, Unreadable, UsageError
from monge.types import Segment
from monge.types.system_names import short_names
from monge.types.text import scan_input


class Parallel:
    """Segments of line-aligned files, by line then by system; can be iterated again and again.

    `systems` are the names in the order given; `lines` is the number of lines of every file;
    `summary` is the result of the first reading.
    """

    def __init__(
        self,
        hypotheses: Sequence[TextFile],
        references: Sequence[TextFile],
        source: TextFile | None,
        systems: Sequence[str] = (),
    ) -> None:
        """Reads every file once; raises where they are not aligned."""
        self._hypotheses = tuple(hypotheses)
        self._references = tuple(references)
        self._source = source
        self.systems = systems or system_names([file.path for file in self._hypotheses])
        self.lines = 0
        self.summary = scan_input(self)

    def __len__(self) -> int:
        """The number of segments."""
        return self.lines * len(self.systems)

    def __iter__(self) -> Iterator[Segment]:
        """The segments, by line then by system."""
        return (segment for _, segment in self.numbered())

    def numbered(
        self, bad: Callable[[int, str], None] | None = None
    ) -> Iterator[tuple[int, Segment]]:
        """Yield each segment with its line; raise where a file has more lines than another.

        `bad` gets the line and the reason of a text that is not UTF-8.
        """
        width = len(self._hypotheses)
        files = [*self._hypotheses, *self._references, *([self._source] if self._source else [])]
        for number, texts in enumerate(zip_longest(*files), 1):
            if None in texts:
                raise Misaligned(_describe_mismatch(files))
            self.lines = max(self.lines, number)
            references = texts[width : width + len(self._references)]
            source = texts[-1] if self._source else None
            for k, (system, hypothesis) in enumerate(zip(self.systems, texts, strict=False)):
                if bad is not None:
                    try:
                        for i in (k, *range(width, len(files))):
                            check_text(texts[i], f"{files[i].name}:{number}")
                    except Unreadable as error:
                        bad(number, str(error))
                        continue
                yield number, Segment(str(number), hypothesis, references, source, system)


def read_parallel(
    hypotheses: Sequence[StrPath],
    references: Sequence[StrPath] = (),
    source: StrPath | None = None,
    *,
    errors: str = "strict",
) -> Parallel:
    """Read line-aligned text files; ids are line numbers from 1, systems file names without ending.

    A directory of hypotheses stands for the files in it; NAME=FILE names a system. Every file is
    read once here, so that a bad line or an unequal count is known before any scoring. `errors` is
    for `TextFile`.

    Raises:
        Misaligned: if the files do not have the same number of lines.
        Unreadable: if a file cannot be read.
        UsageError: if there is nothing to compare, or one file is asked to be two.
    """
    if not hypotheses:
        raise UsageError("no hypotheses were given; expected at least one file")
    if not references and source is None:
        raise UsageError(
            "neither references nor a source were given; expected at least one of them"
        )
    paths, chosen_names = _split_names(hypotheses)
    _check_paths(paths, references, source)
    names = tuple(chosen_names.get(k, name) for k, name in enumerate(system_names(paths)))
    duplicate = next((name for name, times in Counter(names).items() if times > 1), None)
    if duplicate is not None:
        raise UsageError(f"two systems have the name {duplicate}: give each its own, -t NAME=FILE")
    return Parallel(
        [TextFile(path, errors=errors) for path in paths],
        [TextFile(path, errors=errors) for path in references],
        None if source is None else TextFile(source, errors=errors),
        names,
    )


def _split_names(entries: Sequence[StrPath]) -> tuple[list[StrPath], dict[int, str]]:
    """Return the files of hypotheses, and the names that were given to some of them by index.

    An entry is FILE, DIRECTORY or NAME=FILE; a file whose name has an equals sign stays a file.
    """
    paths: list[StrPath] = []
    chosen_names: dict[int, str] = {}
    for entry in entries:
        name, equals, path = os.fspath(entry).partition("=")
        if not equals or not name or not path or is_there(entry):
            paths += _expand_directory(entry)
            continue
        chosen_names[len(paths)] = name
        paths.append(path)
    return paths, chosen_names


def _expand_directory(path: StrPath) -> list[StrPath]:
    """Return the file, or the visible files of a directory by name."""
    if os.fspath(path) in ("", STDIN) or not is_there(path, folder=True):
        return [path]
    try:
        files = sorted(
            file
            for file in Path(path).iterdir()
            if file.is_file() and not file.name.startswith(".")
        )
    except OSError as error:
        raise Unreadable(f"{path}: the directory cannot be read ({error.strerror})") from None
    if not files:
        raise Unreadable(
            f"{path} is a directory without a file in it; expected the outputs of systems, a file "
            "each"
        )
    return [os.fspath(file) for file in files]


def system_names(paths: Sequence[StrPath]) -> tuple[str, ...]:
    """Return file names without their endings; `stdin` for standard input.

    Files that share such a name keep their endings, and where that does not help their paths.
    """
    full = ["stdin" if os.fspath(path) == STDIN else os.fspath(path) for path in paths]
    names = [Path(path).name or path for path in full]
    counts = Counter(names)
    names = [name if counts[name] == 1 else path for name, path in zip(names, full, strict=True)]
    short = short_names(names)
    return tuple(short[name] for name in names)


def _check_paths(
    hypotheses: Sequence[StrPath], references: Sequence[StrPath], source: StrPath | None
) -> None:
    everything = [
        os.fspath(path)
        for path in (*hypotheses, *references, *([] if source is None else [source]))
    ]
    if "" in everything:
        raise UsageError(
            "an empty file name was given (is a variable unset?); expected a file, or - (standard "
            "input)"
        )
    if everything.count(STDIN) > 1:
        raise UsageError(
            "standard input (-) was given more than once; it can be read for one file only"
        )
    counts = Counter(os.fspath(path) for path in hypotheses)
    duplicate = next((path for path, times in counts.items() if times > 1), None)
    if duplicate is not None:
        raise UsageError(f"hypotheses {duplicate} were given twice; each file is one system")


def _describe_mismatch(files: Sequence[TextFile]) -> str:
    """Describe the first file that has more or fewer lines than the first file of all."""
    counts = [sum(1 for _ in file) for file in files]
    k = next(k for k, count in enumerate(counts) if count != counts[0])
    line = min(counts[0], counts[k]) + 1
    longer = files[0] if counts[0] > counts[k] else files[k]
    text = next(islice(longer, line - 1, None))
    excerpt = (
        "a blank line" if not text.strip() else repr(text if len(text) <= 60 else text[:57] + "...")
    )
    return (
        f"{files[0].name} has {counts[0]} line{'s' * (counts[0] != 1)} but {files[k].name} has "
        f"{counts[k]}: the first unmatched is line {line} of {longer.name}, {excerpt}"
    )
