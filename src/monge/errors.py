"""The exceptions a user can meet, with the exit code and HTTP status of each.

MongeError
├── DataError             1 / 422   the content of the user's data
│   ├── Misaligned                  line or list lengths that do not match
│   ├── Unreadable                  a file or text that cannot be read
│   ├── BadSegment                  a segment that cannot be scored, by name
│   └── InvalidProblem              NaN, infinite or negative entries, or no mass
├── UsageError            2 / 400   the command line or a call: names, settings, shapes
│   ├── UnknownName                 with the nearest valid name
│   └── InvalidSetting              a value that its field does not take
├── ModelError            3 / 424   a model, its weights or its tokenizer
│   ├── StatisticsMismatch          a signature or statistics file that does not fit
│   └── PluginError                 a user's metric that raises or returns no valid scores
└── MissingExtra          2 / 501   a feature whose optional dependency is not installed

A command that does all it was asked exits with 0, one whose score fails a gate (`--fail-under`)
with 4, one that is interrupted with 130.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches

GATE_FAILED = 4
"""The exit code of a run whose score is worse than what `--fail-under` asks for."""


PARAMETERS = {
    "--cache": "cache", "--columns": "columns", "--common": "common=True", "--device": "device",
    "--human": "human", "--idf-corpus": "idf_corpus", "--lang": "lang", "--layers": "layers",
    "--level": "level", "--model": "model", "--most-sweeps": "most", "--online": "online=True",
    "--pairs": "pairs", "--temperatures": "temperatures", "--tolerance": "tolerance",
    "--precision": "precision", "--sample": "sample", "--scores": "scores", "--set": "settings",
    "--stats": "stats", "--switch": "switches", "-m": "metric", "-r": "references",
    "-s": "sources", "-t": "hypotheses",
}  # fmt: skip
"""Options of the command, and the parameters of Python calls that do the same."""
_COMMAND = r"monge [a-z-]+(?: -{1,2}[a-zA-Z][\w-]*(?: (?!and |or |to )[^ ,;)]+)?)*"
_VALUE = r"[ =]([A-Z][A-Z|.]*|[a-z_.]+=[^ ,;)]+|(?<=--lang )[a-z]{2}\b|(?<=--level )[a-z]+)"
_OPTION = rf"(?<![\w-])(--[a-z][a-z-]*|-[mrst](?= ))(?:{_VALUE})?"
_COMMAND_OR_OPTION = re.compile(f"({_COMMAND})|{_OPTION}")
_commands = 0


@contextmanager
def in_command() -> Iterator[None]:
    """Let messages speak of the command's options in the block, not of Python's parameters."""
    global _commands
    _commands += 1
    try:
        yield
    finally:
        _commands -= 1


def worded(message: str) -> str:
    """Return a message in the words of the caller: options of the command, or parameters.

    Whole commands, such as `monge fit -m NAME`, stay commands.
    """
    return message if _commands else _COMMAND_OR_OPTION.sub(_name_parameter, message)


def _name_parameter(match: re.Match[str]) -> str:
    command, option, value = match.groups()
    parameter = PARAMETERS.get(option or "")
    if command or parameter is None:
        return match[0]
    if value is None or "=" in parameter:
        return f"{parameter} {value}" if value else parameter
    if option == "--set":
        return f"settings=['{value}']"
    if parameter in ("columns", "switches") and "=" in value:
        pairs = (pair.partition("=") for pair in value.split(","))
        choices = {name: chosen for name, _, chosen in pairs}
        return f"{parameter}={choices}"
    return parameter if option.startswith("-") and len(option) == 2 else f"{parameter}={value}"


class MongeError(Exception):
    """Base class of every error that is caused by the user's input, not by a defect of monge.

    Examples:
        >>> try:
        ...     monge.score(["a"], ["b"], "bertscroe")
        ... except monge.MongeError as error:
        ...     print(error)
        unknown metric 'bertscroe'; did you mean bertscore? (monge metrics lists them)
    """

    exit_code: int = 1
    http_status: int = 422

    def __str__(self) -> str:
        """Return the message, which names parameters in Python and options in the command."""
        return worded(super().__str__())


class DataError(MongeError):
    """The content of the user's data is wrong."""


class Misaligned(DataError):
    """Two inputs that must have the same length do not."""


class Unreadable(DataError):
    """A file or a text cannot be read."""


class BadSegment(DataError):
    """A segment cannot be scored; `id` and `system` name it, `why` says the reason."""

    def __init__(self, segment_id: str, system: str, why: str) -> None:
        of = f" of {system}" if system else ""
        super().__init__(f"segment {segment_id}{of}: {why}")
        self.id, self.system, self.why = segment_id, system, why


class InvalidProblem(DataError):
    """A transport problem with NaN, infinite or negative entries, or without mass."""


class UsageError(MongeError):
    """The command line or the call is wrong."""

    exit_code = 2
    http_status = 400


class InvalidSetting(UsageError):
    """A setting has a value that its field does not take."""


class UnknownName(UsageError):
    """A name that does not exist; the message offers the nearest one."""

    def __init__(self, kind: str, name: str, choices: Iterable[str], hint: str = "") -> None:
        choices = sorted(choices)
        cases = {choice.lower(): choice for choice in choices}
        near = [cases[match] for match in get_close_matches(name.lower(), cases, n=1, cutoff=0.5)]
        guess = f"; did you mean {near[0]}?" if near else ""
        several = "axes" if kind == "axis" else f"{kind}s"
        listing = f" ({several}: {', '.join(choices)})" if len(choices) <= 40 and not hint else ""
        super().__init__(f"unknown {kind} {name!r}{guess}{listing}{' ' + hint if hint else ''}")


class ModelError(MongeError):
    """A model directory, its weights or its tokenizer cannot be used."""

    exit_code = 3
    http_status = 424


class StatisticsMismatch(ModelError):
    """A signature or a statistics file does not fit this run."""


class PluginError(ModelError):
    """A user's metric cannot be loaded, raises, or returns no valid scores; `plugin` names it."""

    def __init__(self, plugin: str, why: str) -> None:
        super().__init__(f"plugin {plugin}: {why}")
        self.plugin, self.why = plugin, why

    def __reduce__(self) -> tuple[type[PluginError], tuple[str, str]]:
        """Pickle the two texts that the error was made of."""
        return PluginError, (self.plugin, self.why)


class Notice(UserWarning):
    """A warning for the user, not for developers: one sentence, which the command shows as one
    line.
    """

    def __str__(self) -> str:
        """Return the sentence, which names parameters in Python and options in the command."""
        return worded(super().__str__())


class Unsuited(Notice):
    """The model does not suit the texts; the sentence says which does."""


class Flagged(Notice):
    """Something was unusual about some texts, or some segments could not be scored; the sentence
    says what.
    """


class Unused(Notice):
    """Texts were given that a metric does not use; the sentence says which."""


class LeftOut(Notice):
    """A metric could not score and is left out of the results; the sentence says which and why."""


class NotKept(Notice):
    """A cache could not keep an entry, or lost entries; the sentence says which and why."""


class MissingExtra(UsageError):
    """An optional dependency is not installed."""

    http_status = 501

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: pip install 'monge[{extra}]'")
