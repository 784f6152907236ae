"""Write src/monge/metrics/packaged_baselines.tsv: mean scores of random pairs per metric and model.

    MONGE_DATA=DIR make baselines              # or
    python tools/make_baselines.py --data DIR [--language en …]

The corpora are references of WMT news, below DIR as published (their sha256 stands in the head of
the table). The recipe is that of `monge fit --baseline`: texts of fewer than 32 words are shuffled
with seed 12345, the first half is paired with the second, and the mean of each part is taken,
without idf. At most MAX_PAIRS pairs per language, so that all layers of all metrics of a language
are computed in one pass. Rows of other languages than those asked for stay as they are.
"""

from __future__ import annotations

import argparse
import os
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, cast

from monge import api
from monge.datasets.lines import TextFile
from monge.encoders.packaged import EMBEDDED, MULTILINGUAL, Packaged
from monge.metrics import baselines
from monge.metrics.codec import show_choice
from monge.metrics.presets import PRESETS, resolve
from monge.scoring.baseline import LONGEST, at_every_layer, fit_baselines

TABLE = Path(baselines.__file__).with_name(baselines.OWN)
SEED, MAX_PAIRS = 12345, 1000
METRICS = (
    "bertscore",
    "bertscore@release",
    "twmd",
    "twmd@release",
    "twmd@paper",
    "trwmd",
    "trwmd@release",
    "trwmd@paper",
    "sbert",
    "wordset-cka",
    "f-alpha",
    "yisi-1",
    "yisi-1@release",
    "moverscore",
    "moverscore-2",
    "wms",
)
METRICS_OF_OTHER_LANGUAGES = ("bertscore", "bertscore@release", "twmd", "trwmd", "sbert")
"""The metrics that are fitted for other languages than English."""
_NEWS = "wmt{}-seg-da/wmt{}-daseg/DAseg.newstest20{}.reference.{}"
_TEST = "wmt17-seg-da/wmt17-raw-to-and-from-english/references/newstest2017-en{0}-ref.{0}"
CORPORA = {
    "en": [
        _NEWS.format(year, year, year, f"{source}-en")
        for year, sources in (("15", "cs de fi ru"), ("16", "cs de fi ro ru tr"))
        for source in sources.split()
    ],
    "ru": [_NEWS.format(year, year, year, "en-ru") for year in ("15", "16")],
    **{lang: [_TEST.format(lang)] for lang in ("cs", "de", "fi", "lv", "tr", "zh")},
}
MODELS = {EMBEDDED: ("en",), MULTILINGUAL: tuple(CORPORA)}
HEAD = f"""\
# Means of each part over random pairs of sentences, for the packaged models; made by tools/make_baselines.py
# (make baselines), seed {SEED}, at most {MAX_PAIRS} pairs a language of texts of fewer than {LONGEST} words, no idf.
# Texts: references of the WMT15 and WMT16 segment-level judgements (en, ru) and of WMT17's news test (others), which
# the organisers released for research; only these means are kept. File, number of texts, sha256:
"""  # noqa: E501
COLUMNS = "language\tmodel\tweights\tmetric\tlayers\tpairs\tparts …\n"


def main() -> None:
    """Fit the baselines that were asked for and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("MONGE_DATA"))
    parser.add_argument("--language", nargs="*", choices=[*CORPORA], default=[*CORPORA])
    options = parser.parse_args()
    if not options.data:
        parser.error("give the directory of the data: --data DIR, or MONGE_DATA")
    lines = TABLE.read_text("utf-8").splitlines(keepends=True) if TABLE.exists() else []
    rows = {
        tuple(line.split("\t")[:5]): line
        for line in lines
        if not line.startswith(("#", "language\t"))
    }
    for model, languages in MODELS.items():
        for lang in languages:
            if lang in options.language:
                new_rows = fit_rows(model, lang, sample_texts(options.data, lang))
                rows = {
                    key: line
                    for key, line in rows.items()
                    if (key[0], key[1]) != (lang, model.name)
                } | new_rows
                write_table(rows, options.data)
                print(f"{model.name}, {lang}: {len(new_rows)} rows", flush=True)


def sample_texts(data: str, lang: str) -> list[str]:
    """Return the distinct short texts of a language's corpora, at most 2 * MAX_PAIRS of them."""
    texts = [text for name in CORPORA[lang] for text in TextFile(Path(data) / name)]
    short = [text for text in dict.fromkeys(texts) if 0 < len(text.split()) < LONGEST]
    # no secret
    return short if len(short) <= 2 * MAX_PAIRS else Random(SEED).sample(short, 2 * MAX_PAIRS)  # noqa: S311


def fit_rows(model: Packaged, lang: str, texts: list[str]) -> dict[tuple[str, ...], str]:
    """Return the table rows of a model and a language, by the fields that identify a row."""
    metrics = []
    for name in METRICS if lang == "en" else METRICS_OF_OTHER_LANGUAGES:
        idf = resolve(name)[1].written()["weights"].startswith("idf")  # type: ignore[union-attr]
        setting = f"{name}[weights=uniform]" if idf else name
        metrics.append(cast("Any", api.load(setting, model=model.name).scorer))
    stats = fit_baselines(metrics, texts, seed=SEED)
    rows = {}
    for scorer in (layer for metric in metrics for layer in at_every_layer(metric)):
        baseline = stats.baselines[scorer.key]
        parts = [f"{part}={baseline.mean(part):.8g}" for part in baseline.totals]
        key = (
            lang,
            model.name,
            scorer.reader.encoder.weights_digest[:8],
            scorer.name,
            show_choice(scorer.spec.layers),
        )
        rows[key] = "\t".join([*key, str(baseline.n), *parts]) + "\n"
    return rows


def write_table(rows: dict[tuple[str, ...], str], data: str) -> None:
    """Write the table, with rows in the order of languages, models and metrics."""
    names = [name for lang in {key[0]: None for key in rows} for name in CORPORA[lang]]
    files = [(name, Path(data) / name) for name in names]
    sources = [
        f"#   {name}  {len(list(TextFile(path)))}  {sha256(path.read_bytes()).hexdigest()}\n"
        for name, path in files
    ]
    places = list(CORPORA), [model.name for model in MODELS], list(PRESETS)
    ordered = sorted(
        rows,
        key=lambda key: [place.index(key[k]) for place, k in zip(places, (0, 1, 3), strict=True)],
    )
    TABLE.write_text(
        HEAD + "".join(sources) + COLUMNS + "".join(rows[key] for key in ordered), "utf-8"
    )


if __name__ == "__main__":
    main()
