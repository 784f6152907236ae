"""The verdict that docs/sensitivity.md prints for a small sample of WMT17, made again and compared.

MONGE_DATA names a directory with one directory a data set (`unpack` of the shared data makes it).
`MONGE_DATA=DIR python tests/data/test_sensitivity.py` writes the numbers of the docs anew.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from pathlib import Path

import pytest

ROOT = os.environ.get("MONGE_DATA", "")
DOCS = Path(__file__).parents[2] / "docs"
SAMPLE = DOCS / "sensitivity-sample.json"
PAIR, N = "cs-en", 60

pytestmark = pytest.mark.skipif(not ROOT, reason="MONGE_DATA is not set")


def studied(folder: Path):
    """The study of the first segments of one pair, as a user's own table."""
    from monge.data import open_dataset
    from monge.study import Resampling, sensitivity

    group = open_dataset("wmt17", Path(ROOT) / "wmt17-seg-da", pairs=[PAIR]).groups[PAIR]
    path = folder / "sample.tsv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        writer.writerow(["hypothesis", "reference", "human", "group"])
        for segment, score in list(zip(group.segments, group.scores, strict=True))[:N]:
            writer.writerow([segment.hypothesis, segment.references[0], repr(float(score)), PAIR])
    given = ["stopwords,subwords,punctuation", "idf=off,references,random:2x30"]
    return sensitivity("table", path, ["moverscore", "bertscore"], given, resampling=Resampling(resamples=200))


def numbers(found) -> dict:
    """What is compared: the value of every setting, the spread, and the verdict."""
    effects = {
        f"{one.factor}/{one.metric}": {
            "cv": one.cv,
            "rd": one.rd,
            "best": one.spreads[PAIR].best,
            "settings": {level.setting: level.mean for level in one.levels},
        }
        for one in found.effects
    }
    return {"pair": PAIR, "n": N, "work": found.work, "effects": effects, "verdict": found.verdict}


def test_the_docs_say_what_is_computed(tmp_path):
    expected = json.loads(SAMPLE.read_text("utf-8"))
    found = numbers(studied(tmp_path))
    assert found["work"] == expected["work"], "one encoding pass"
    assert list(found["effects"]) == list(expected["effects"])
    for name, one in expected["effects"].items():
        now = found["effects"][name]
        assert now["settings"] == pytest.approx(one["settings"], abs=1e-4)
        assert (now["cv"], now["rd"]) == pytest.approx((one["cv"], one["rd"]), abs=0.02)
    page = (DOCS / "sensitivity.md").read_text("utf-8")
    for line in expected["verdict"]:
        assert line in page, "docs/sensitivity.md quotes the verdict of the sample"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        SAMPLE.write_text(json.dumps(numbers(studied(Path(folder))), indent=1, ensure_ascii=False) + "\n", "utf-8")
