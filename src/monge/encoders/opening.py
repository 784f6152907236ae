"""Open any kind of model by name: a directory or hub name of transformers or of static vectors of
pieces, a file of word vectors, an ELMo directory.
"""

from __future__ import annotations

from pathlib import Path

from monge.encoders.model_files import check_directory
from monge.encoders.models import find_directory
from monge.encoders.packaged import STATIC, base_and_adapter, packaged
from monge.encoders.protocol import Encoder
from monge.encoders.static_files import StaticFiles, find_static_files
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
    if packaged(model) is None:
        vectors = _open_vectors(model, precision, unknown, online=online, cache=cache)
        if vectors is not None:
            return vectors
    from monge.encoders.transformer import open_encoder

    return open_encoder(model, precision=precision, device=device, online=online)


def _open_vectors(
    model: str, precision: str, unknown: str, *, online: bool, cache: str | Path | None
) -> Encoder | None:
    """Open word vectors of any kind; None for a model of transformers."""
    from monge.encoders.words import is_elmo, is_vector_file, open_words

    path = Path(model).expanduser()
    try:
        if path.is_dir() and model != STATIC:
            check_directory(path)
        static = _find_static_files(model, online=online)
        words = is_vector_file(path) or is_elmo(path)
    except OSError as error:
        raise ModelError(f"model {model[:40]!r}…: {error.strerror}") from None
    if static is not None:
        from monge.encoders.static_pieces import open_static_pieces

        return open_static_pieces(static, precision=precision, unknown=unknown)
    if words:
        kept_in = None if cache is None else Path(cache)
        return open_words(path, precision=precision, unknown=unknown, cache=kept_in)
    return None


def _find_static_files(model: str, *, online: bool) -> StaticFiles | None:
    """Return the files of static vectors of pieces; None for any other kind of model."""
    base, adapter = base_and_adapter(model)
    path = Path(base).expanduser()
    if adapter or (path.is_file() and base != STATIC):
        return None
    directory = find_directory(base, online=online)
    if directory is None:
        return None
    is_local = path.is_dir() and base != STATIC
    return find_static_files(directory, path.resolve().name if is_local else base)
