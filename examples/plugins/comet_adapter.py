"""COMET (package unbabel-comet), which takes the sources too."""

from functools import cache

from comet import download_model, load_from_checkpoint

from monge import MetricPlugin

NAME, load_model = "Unbabel/wmt22-comet-da", cache(load_from_checkpoint)


def score(mt: list[str], ref: list[str], src: list[str]) -> list[float]:
    """Return the scores of COMET."""
    rows = [{"mt": a, "ref": b, "src": c} for a, b, c in zip(mt, ref, src, strict=True)]
    return load_model(download_model(NAME)).predict(rows, gpus=0).scores


metric = MetricPlugin(score, takes=("hypotheses", "references", "sources"), identity=NAME)
