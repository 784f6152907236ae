"""What `--help` of every verb shows at 80 and at 120 columns, kept in tests/cli/help; run to write
it anew.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path

from monge.cli.app import VERBS, command_of, run

FOLDER = Path(__file__).with_name("help")
WIDTHS = (80, 120)


def verbs() -> Iterator[tuple[str, ...]]:
    """Every verb, those inside of verbs too; the command itself is the empty one."""
    yield ()
    for verb in VERBS:
        yield (verb,)
        yield from ((verb, inner) for inner in getattr(command_of(verb), "commands", ()))


def screens() -> Iterator[tuple[Path, str]]:
    """Every file, and what should be in it."""
    kept = os.environ.get("COLUMNS")
    try:
        for verb in verbs():
            for width in WIDTHS:
                os.environ["COLUMNS"] = str(width)
                shown = io.StringIO()
                with contextlib.redirect_stdout(shown):
                    run([*verb, "--help"])
                yield FOLDER / f"{'-'.join(verb) or 'monge'}.{width}.txt", shown.getvalue()
    finally:
        os.environ.pop("COLUMNS")
        if kept is not None:
            os.environ["COLUMNS"] = kept


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for path, text in screens():
        path.write_text(text, "utf-8")
