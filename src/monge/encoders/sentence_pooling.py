"""How a sentence-transformers directory makes one vector of a text: what its
`1_Pooling/config.json` says.
"""

from __future__ import annotations

from pathlib import Path

from monge.encoders import digests
from monge.errors import ModelError

MEAN, FIRST = "mean", "first"
_FILE = Path("1_Pooling") / "config.json"
_MODES = {"mean": MEAN, "mean_tokens": MEAN, "cls": FIRST, "cls_token": FIRST}
_PREFIX = "pooling_mode_"


def declared_pooling(directory: Path) -> str:
    """Return `mean` or `first`, or "" where the directory declares nothing; any other pooling is
    named as it stands.
    """
    path = directory / _FILE
    if not path.is_file():
        return ""
    config = digests.read_json(path)
    if not isinstance(config, dict):
        raise ModelError(f"{path}: expected an object of settings, got {type(config).__name__}")
    modes = [str(config["pooling_mode"])] if isinstance(config.get("pooling_mode"), str) else []
    modes += [
        name.removeprefix(_PREFIX)
        for name, on in config.items()
        if name.startswith(_PREFIX) and on is True
    ]
    return "+".join(sorted({_MODES.get(mode, mode) for mode in modes}))
