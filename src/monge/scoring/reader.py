"""How texts become pieces for an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote

from monge.encoders.protocol import Encoder
from monge.errors import InvalidSetting
from monge.text.overlong import fit_length
from monge.types import Tokens


@dataclass(frozen=True)
class Reader:
    """How texts are tokenised: an encoder, a prefix, a length, and the handling of longer texts."""

    encoder: Encoder
    prefix: str
    longest: int
    overlong: str

    def __post_init__(self) -> None:
        """Raise where special pieces and the prefix use up the limit of pieces, so that none is
        left for a text.
        """
        if self.longest == self.encoder.longest and not self.prefix:
            return
        (tokens,) = self.encoder.tokenise(["a"], prefix=self.prefix)
        overhead = sum(tokens.special)
        if self.longest <= overhead:
            occupants = (
                "special pieces and the prefix take" if self.prefix else "special pieces take"
            )
            raise InvalidSetting(
                f"encoder.max_length={self.longest} leaves no piece of a text: {occupants} "
                f"{overhead} with "
                f"{self.encoder.name}; give {overhead + 1} or more"
            )

    @cached_property
    def refuses(self) -> bool:
        """Whether a setting makes some texts errors: texts that are too long, or words without a
        vector.
        """
        return self.overlong == "error" or getattr(self.encoder, "policy", "") == "error"

    @cached_property
    def key(self) -> str:
        """The key of the pieces of a text: tokenizer, length, overlong rule and prefix."""
        tokenizer, prefix = self.encoder.tokenizer_digest[:8], quote(self.prefix, safe="")
        return f"{tokenizer}/{self.longest}/{self.overlong}/{prefix}"

    def read(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the pieces of each text, as the encoder gets them."""
        read = self.encoder.tokenise(texts, prefix=self.prefix)
        return [
            fit_length(tokens, self.longest, self.overlong, f"text {tokens.text[:30]!r}…")
            if len(tokens.ids) > self.longest else tokens
            for tokens in read
        ]  # fmt: skip
