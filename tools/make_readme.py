"""Make the comparison in README.md and the list of metrics in mkdocs.yml, from code and results.

python tools/make_readme.py
"""

from __future__ import annotations

from reference_pages.metrics import bare_names, page_name
from repository import PACKAGE, RESULTS, ROOT, Pages, fill_block, read_json, write_pages

README, SITE = ROOT / "README.md", ROOT / "mkdocs.yml"


def make_pages() -> Pages:
    """Return README.md and mkdocs.yml with their generated parts."""
    readme = fill_block(README.read_text("utf-8"), "comparison", make_comparison())
    site = fill_block(SITE.read_text("utf-8"), "metrics", make_navigation(), comment="#")
    return {README: readme, SITE: site}


def make_navigation() -> str:
    """Return the pages of metrics as entries of the site's navigation."""
    return "\n".join(f"      - {name}: metrics/{page_name(name)}" for name in bare_names())


def make_comparison() -> str:
    """Return the table that compares monge with other packages."""
    agreement = {
        name: _show_agreement(figure["value"])
        for name, figure in read_json(PACKAGE / "recommendation" / "kept" / "agreement.json")[
            "wmt17"
        ]["metrics"].items()
    }
    profiles = {
        result["metric"]: _show_agreement(result["mean"])
        for result in read_json(RESULTS / "tables" / "moverscore-profiles.json")["results"]
    }
    flagship = next(
        _show_agreement(record["mean"])
        for record in read_json(RESULTS / "flagship" / "agreement.json")["wmt17"]
        if (record["label"], record["statistic"]) == ("monge", "pearson")
    )
    speed = {
        ratio["what"]: f"{ratio['median']:.1f}"
        for ratio in read_json(RESULTS / "speed" / "run.json")["ratios"]
    }
    bert_score = "bertscore@release {} against bert-score 0.3.13"
    loop = speed["moverscore@v2 against the plain MoverScore loop"]
    rows = [
        (
            "**monge**",
            f"{len(bare_names())} metrics that share one encoding of the texts; "
            "significance tests, studies, pictures, a service",
            "",
            f"`monge` {flagship} (tuned on judgements); `twmd` {agreement['twmd']}",
            "settings, weights, tokenizer, statistics; **recomputes the score**",
        ),
        (
            "bert-score",
            "BERTScore",
            f"`bertscore@release` gives the same scores, {speed[bert_score.format('fp32')]} times "
            f"as fast (int8: {speed[bert_score.format('int8')]})",
            agreement["bertscore"],
            "a hash that leaves out idf corpus and model revision",
        ),
        (
            "MoverScore",
            "MoverScore, three formulas under one name",
            f"`moverscore@v2` is {loop} times as fast as a plain loop over the same formula²",
            f"releases: `@v1` {profiles['moverscore@v1']}, `@v2` {profiles['moverscore@v2']}; "
            f"our `moverscore` {profiles['moverscore']}",
            "none",
        ),
        (
            "sacrebleu",
            "BLEU, chrF, TER",
            "monge calls it: the same numbers",
            f"chrF {agreement['chrf']}",
            "settings and version; ours follows its format",
        ),
        (
            "COMET",
            "a large model trained on judgements",
            "not measured: we have no weights",
            "not measured; `--scores comet=FILE` compares it",
            "name of the model",
        ),
    ]
    head = "| | what it is | speed on our machine | agreement¹ | signature |\n|---|---|---|---|---|"
    return "\n".join([head, *(f"| {' | '.join(row)} |" for row in rows)])


def _show_agreement(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


if __name__ == "__main__":
    write_pages(make_pages())
