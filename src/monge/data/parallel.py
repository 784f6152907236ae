"""Line-aligned text files: hypotheses of one or more systems, their references and source."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from monge.data.lines import STDIN, StrPath, TextFile, check_text, is_there
from monge.errors import Misaligned, Unreadable, UsageError
from monge.types import Segment


class Parallel:
    """Segments of line-aligned files, by line then by system; can be iterated again and again.

    `systems` are the names in the order given; `lines` is the number of lines of every file.
    """

    def __init__(self, hypotheses: Sequence[TextFile], references: Sequence[TextFile], source: TextFile | None) -> None:
        """Reads every file once to check that they are aligned."""
        self._hypotheses = tuple(hypotheses)
        self._references = tuple(references)
        self._source = source
        self.systems = system_names([file.path for file in self._hypotheses])
        self.lines = _aligned([*self._hypotheses, *self._references, *([source] if source else [])])

    def __len__(self) -> int:
        """The number of segments."""
        return self.lines * len(self.systems)

    def __iter__(self) -> Iterator[Segment]:
        """The segments, by line then by system."""
        return (segment for _, segment in self.numbered())

    def numbered(self, bad: Callable[[int, str], None] | None = None) -> Iterator[tuple[int, Segment]]:
        """Each segment with its line; `bad` is told the line of one with a text that is not UTF-8, and why."""
        width = len(self._hypotheses)
        files = [*self._hypotheses, *self._references, *([self._source] if self._source else [])]
        for number, texts in enumerate(zip(*files, strict=True), 1):
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
    """The segments of line-aligned text files; ids are line numbers from 1, systems are file names.

    A directory of hypotheses stands for the files in it. Every file is read once here, so that a bad line or an
    unequal count is known before any scoring. `errors` is for `TextFile`.

    Raises:
        Misaligned: if the files do not have the same number of lines.
        Unreadable: if a file cannot be read.
        UsageError: if there is nothing to compare, or one file is asked to be two.
    """
    if not hypotheses:
        raise UsageError("no hypotheses were given; expected at least one file")
    if not references and source is None:
        raise UsageError("neither references nor a source were given; expected at least one of them")
    hypotheses = [path for one in hypotheses for path in _outputs(one)]
    _refuse_twice(hypotheses, references, source)
    return Parallel(
        [TextFile(path, errors=errors) for path in hypotheses],
        [TextFile(path, errors=errors) for path in references],
        None if source is None else TextFile(source, errors=errors),
    )


def _outputs(path: StrPath) -> list[StrPath]:
    """The file given, or the files of the directory given, by name; hidden ones and directories are passed over."""
    if os.fspath(path) in ("", STDIN) or not is_there(path, folder=True):
        return [path]
    try:
        found = sorted(one for one in Path(path).iterdir() if one.is_file() and not one.name.startswith("."))
    except OSError as error:
        raise Unreadable(f"{path}: the directory cannot be read ({error.strerror})") from None
    if not found:
        raise Unreadable(f"{path} is a directory without a file in it; expected the outputs of systems, a file each")
    return [os.fspath(one) for one in found]


def system_names(paths: Sequence[StrPath]) -> tuple[str, ...]:
    """File names, or the paths as given where two files share a name; standard input is `stdin`."""
    names = ["stdin" if os.fspath(path) == STDIN else Path(path).name or os.fspath(path) for path in paths]
    often = Counter(names)
    return tuple(name if often[name] == 1 else os.fspath(path) for name, path in zip(names, paths, strict=True))


def _refuse_twice(hypotheses: Sequence[StrPath], references: Sequence[StrPath], source: StrPath | None) -> None:
    everything = [os.fspath(path) for path in (*hypotheses, *references, *([] if source is None else [source]))]
    if "" in everything:
        raise UsageError("an empty file name was given (is a variable unset?); expected a file, or - (standard input)")
    if everything.count(STDIN) > 1:
        raise UsageError("standard input (-) was given more than once; it can be read for one file only")
    given = Counter(os.fspath(path) for path in hypotheses)
    twice = next((path for path, times in given.items() if times > 1), None)
    if twice is not None:
        raise UsageError(f"hypotheses {twice} were given twice; each file is one system")


def _aligned(files: Sequence[TextFile]) -> int:
    """The number of lines that all files have."""
    first = files[0]
    for other in files[1:]:
        if first.count() != other.count():
            raise Misaligned(_unmatched(first, other))
    return first.count()


def _unmatched(one: TextFile, other: TextFile) -> str:
    shorter, longer = sorted((one, other), key=TextFile.count)
    line = shorter.count() + 1
    text = next(islice(longer, line - 1, None))
    excerpt = "a blank line" if not text.strip() else repr(text if len(text) <= 60 else text[:57] + "...")
    return (
        f"{one.name} has {one.count()} line{'s' * (one.count() != 1)} but {other.name} has {other.count()}: "
        f"the first unmatched is line {line} of {longer.name}, {excerpt}"
    )
