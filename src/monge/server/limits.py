"""The limits of one request and of all of them together, which can be changed at start."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from monge.errors import InvalidSetting, UnknownName


@dataclass(frozen=True)
class Limits:
    """The limits of a service, each a whole number.

    Of a request: `body` bytes, `upload` bytes of a job's files, `pairs` (a hypothesis of a system
    with its references), `systems`, `references` of a pair, `characters` of a text, `metrics`,
    `resamples` of a comparison, `seconds` until it is given up, `work` seconds of it as they are
    estimated before it begins. Of all: `in_flight` requests that are worked on, `queue` that wait
    for that, `uploads` that come in, `upload_seconds` of each, `jobs` that wait, `job_pairs` of a
    job, `job_days` until a finished job is dropped, `state_bytes` of all jobs before the oldest
    are, `statistics` that are kept, `head` seconds that the head of a request may take to arrive,
    `drain` seconds that a stopping service gives to what it has accepted.
    """

    body: int = 2_000_000
    upload: int = 64_000_000
    pairs: int = 1000
    systems: int = 64
    references: int = 32
    characters: int = 20_000
    metrics: int = 12
    resamples: int = 10_000
    seconds: int = 60
    work: int = 20
    in_flight: int = 64
    queue: int = 16
    uploads: int = 8
    upload_seconds: int = 120
    jobs: int = 32
    job_pairs: int = 1_000_000
    job_days: int = 7
    state_bytes: int = 2_000_000_000
    statistics: int = 64
    head: int = 20
    drain: int = 30

    def with_changes(self, changes: Iterable[str]) -> Limits:
        """The limits after `NAME=VALUE` changes, as `--limit` takes them."""
        names = [limit.name for limit in fields(self)]
        limits = self
        for change in changes:
            name, equals, text = change.partition("=")
            key = name.strip().replace("-", "_")
            if not equals:
                raise InvalidSetting(f"--limit takes NAME=VALUE, got {change!r}")
            if key not in names:
                raise UnknownName("limit", name, names)
            number = text.strip().replace("_", "")
            if not number.isdecimal() or not 0 < int(number) < 2**53:
                raise InvalidSetting(
                    f"--limit {name} takes a whole number of at least 1, got {text!r}"
                )
            limits = replace(limits, **{key: int(number)})
        return limits
