"""Statistics that clients fitted, under the digest of their content; the oldest go first."""

from __future__ import annotations

import json
from collections import OrderedDict
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from monge import api
from monge.errors import MongeError
from monge.server.refusals import Refusal
from monge.server.state import STATISTICS_NAME, StateFolder, keep_file
from monge.types import CorpusStats


class KeptStatistics:
    """A bounded number of statistics by id, in memory and in the state directory, if any."""

    def __init__(self, state: StateFolder | None, most: int) -> None:
        self._state, self._most = state, most
        self._kept: OrderedDict[str, CorpusStats] = OrderedDict()
        self._lock = Lock()

    def keep(self, stats: CorpusStats) -> str:
        """Keep statistics and return their id."""
        text = json.dumps(stats.to_dict(), sort_keys=True, allow_nan=False)
        name = blake2b(text.encode(), digest_size=12).hexdigest()
        if self._state is not None:
            keep_file(
                self._state.statistics / f"{name}.json",
                json.dumps(stats.to_dict(), allow_nan=False) + "\n",
            )
            for old in sorted(self._state.statistics_files(), key=_age)[: -self._most]:
                old.unlink(missing_ok=True)
        self._remember(name, stats)
        return name

    def get(self, name: str) -> CorpusStats:
        """Return statistics by their id; a file that cannot be read is set aside."""
        with self._lock:
            stats = self._kept.get(name)
        if stats is None and self._state is not None and STATISTICS_NAME.fullmatch(f"{name}.json"):
            stats = self._read(self._state, self._state.statistics / f"{name}.json")
        if stats is None:
            raise Refusal(
                404,
                f"no statistics {name[:40]!r} are kept here",
                None,
                "fit them with POST /v1/stats",
            )
        self._remember(name, stats)
        return stats

    def _read(self, state: StateFolder, path: Path) -> CorpusStats | None:
        if not path.is_file():
            return None
        try:
            return api.load_stats(path)
        except MongeError as error:
            state.set_aside(path, str(error))
            return None

    def _remember(self, name: str, stats: CorpusStats) -> None:
        with self._lock:
            self._kept[name] = stats
            self._kept.move_to_end(name)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)


def _age(path: Path) -> float:
    """Return when a file was written; 0 for one that has just been removed."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0
