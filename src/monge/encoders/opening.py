"""Open any kind of model by name: a transformers directory or hub name, a file of word vectors, an
ELMo directory.
"""

from __future__ import annotations

from pathlib import Path

from monge.encoders.packaged import packaged
from monge.encoders.protocol import Encoder
from monge.errors import ModelError


def open_model(
    model: str,
    *,
    precision: str,
    device: str,
    online: bool,
    unknown: str,
    cache: str | Path | None = None,
) -> Encoder:
    """Open an encoder; `unknown` is the policy for words without a static vector, `cache` keeps
    static vectors.
    """
    path = Path(model).expanduser()
    from monge.encoders.words import is_elmo, is_vector_file, open_words

    try:
        words = packaged(model) is None and (is_vector_file(path) or is_elmo(path))
    except OSError as error:
        raise ModelError(f"model {model[:40]!r}…: {error.strerror}") from None
    if words:
        return open_words(
            path, precision=precision, unknown=unknown, cache=None if cache is None else Path(cache)
        )
    from monge.encoders.transformer import open_encoder

    return open_encoder(model, precision=precision, device=device, online=online)
