"""Everything that can move a score of a metric besides the texts, in one object.

Cache keys, the keys of statistics and the signature are all written from it, so that an input of a
score that is here is in all of them. `tests/laws/test_mutations.py` changes every input and checks
that it is here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import quote

from monge.metrics.codec import show_choice
from monge.metrics.metric import MetricSpec
from monge.metrics.signature import ModelIdentity, sign
from monge.types import Signature

SHORT = 8
"""The number of hexadecimal digits of a digest in a signature; cache keys have all digits."""
_NOT_IN_PAIR = ("encoder", "adapter", "references", "scale", "fluency", "against")
_HASH = re.compile(r"[0-9a-f]{64}")


def shorten_digest(digest: str) -> str:
    """Cut every hash of a digest to the length that a signature has."""
    return _HASH.sub(lambda match: match[0][:SHORT], digest)


@dataclass(frozen=True)
class Identity:
    """What identifies the scores of a metric.

    spec: every setting, with numbers instead of `auto`; model: full digests of the encoder; reader:
    what identifies the pieces of a text; stopwords, language_model: full digests of what the spec
    names; statistics: kind -> full digest of what is taken from other texts.
    """

    metric: str
    spec: MetricSpec
    model: ModelIdentity
    reader: str
    stopwords: str = ""
    language_model: str = ""
    statistics: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def units(self) -> str:
        """The units axis as text, a stopword list with the digest of its words.

        Without `unknown`: means and maps do not depend on it, since they are fitted on the
        encoder's vectors.
        """
        units = self.spec.units
        if units.stopwords != "none":
            units = replace(
                units, stopwords=f"{quote(units.stopwords, safe='')}#{self.stopwords[:SHORT]}"
            )
        return ",".join(
            part for part in show_choice(units).split(",") if not part.startswith("unknown=")
        )

    @property
    def vector_space(self) -> str:
        """The key of means: what identifies the unit vectors of a text (weights, precision, layers
        and units).
        """
        spec = self.spec
        layers = f"{show_choice(spec.layers)}{'/unit' if spec.normalise.layers else ''}"
        return f"{self._weights}/{layers}/{self.units}/{spec.weights.name}"

    @property
    def pair(self) -> str:
        """The key of ranges and baselines: what identifies the transport of a pair without
        statistics.
        """
        units = self.units if self.spec.units.unknown == "match" else f"{self.units},unknown=apart"
        written = {**self.spec.written(), "units": units}
        axes = "|".join(
            f"{axis}:{text}"
            for axis, text in written.items()
            if axis not in _NOT_IN_PAIR and (axis, text) != ("surface", "none")
        )
        return f"{self.reader}|{self._weights}|{axes}"

    @property
    def fingerprint(self) -> str:
        """The key of cached scores, besides the digest of the code: everything in full."""
        settings = replace(self.spec, encoder=replace(self.spec.encoder, model="auto")).written()
        return repr((self.model.key, sorted(settings.items()), self.stopwords, self.language_model,
                     sorted(self.statistics.items())))  # fmt: skip

    def sign(self, references: str = "1") -> Signature:
        """Return the signature; `references` is how many references a segment has, or `var`."""
        short = {kind: shorten_digest(digest) for kind, digest in self.statistics.items()}
        return sign(
            self.metric,
            self.spec,
            self.model,
            stats=short,
            stopwords=self.stopwords[:SHORT],
            language_model="".join(digest[:SHORT] for digest in self.language_model.split("/")),
            references=references,
        )

    @property
    def _weights(self) -> str:
        model, precision = self.model, self.spec.encoder.precision
        return f"{model.weights[:SHORT]}/{model.config[:SHORT]}/{precision}"
