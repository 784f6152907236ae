"""Language pairs as data sets name them: `en-cs`, `en-ja_JP`, `en-sr_Cyrl_RS`, `en-cs/news`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from monge.errors import Unreadable
from monge.metrics.languages import LANGUAGES

_CODE = r"[a-z]{2,3}(?:[_-][A-Z][a-z]{3})?(?:[_-](?:[A-Z]{2}|\d{3}))?"
_PAIR = re.compile(rf"({_CODE})-({_CODE})")


def split_pair(name: str) -> tuple[str, str] | None:
    """Return the languages of a pair without script and region; None if it is no pair.

    A domain may follow after a slash: `en-cs/news`.
    """
    match = _PAIR.fullmatch(name.partition("/")[0])
    return None if match is None else (_plain_code(match[1]), _plain_code(match[2]))


def joined_pair(letters: str, location: str) -> str:
    """Return `zh-en` for the letters `zhen` in the name of a file; raise for unknown languages."""
    codes = letters[:2], letters[2:]
    for code in codes:
        if code not in LANGUAGES:
            raise Unreadable(
                f"{location}: unknown language code {code!r} in {letters!r}"
                f"{_suggest(code, LANGUAGES)}; expected two codes of two letters, such as zhen"
            )
    return "-".join(codes)


def two_letters(code: str, languages: Mapping[str, str], location: str) -> str:
    """Return the two-letter code of a language with three letters; raise for an unknown one."""
    if code not in languages:
        raise Unreadable(
            f"{location}: unknown language code {code!r}{_suggest(code, languages)} "
            f"(accepted are {', '.join(sorted(languages))})"
        )
    return languages[code]


def _suggest(code: str, languages: Mapping[str, str]) -> str:
    near = get_close_matches(code, languages, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def _plain_code(code: str) -> str:
    return re.split("[_-]", code)[0]
