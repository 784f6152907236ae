"""A user's strictly typed program passes mypy, and a wrong call does not."""

import subprocess
import sys
from pathlib import Path

import pytest

RIGHT = """
from pathlib import Path

import monge

texts, references = ["a cat"], ["the cat"]
result = monge.score(texts, references, metric="twmd", model="mt", ci=True, progress=True)
score: float = result.score
interval: tuple[float, float] | None = result.interval
several = monge.score(texts, references, metrics=["twmd", "chrf"], layers=3, cache=Path("c"))
names: list[str] = list(several)
first: float = several["chrf"].segments.tolist()[0]
metric: monge.Metric = monge.load("bertscore", layers="last", lang="en", settings=["units.stopwords=en"])
stats: monge.CorpusStats = metric.fit(references=references)
part: float = float(metric.score(texts, references, stats=stats).parts["f1"][0])
comparison = monge.compare({"a": texts, "b": texts}, references, ["chrf"], model="auto")
verdict: list[str] = comparison.verdict
evaluation = monge.evaluate(monge.Task("wmt17", "data"), "twmd", resampling=monge.Resampling(seed=1))
explanation: monge.Explanation = monge.explain("a cat", "the cat", metric="twmd")
monge.register("length", lambda hypothesis, reference: len(hypothesis), low=0, version="1")
try:
    monge.probe(references=references, metrics="chrf", kinds=["number"])
except monge.MongeError as error:
    message: str = str(error)
"""
WRONG = """
import monge

monge.score(["a"], ["b"], metric=5)
monge.score(["a"], ["b"], "twmd", modle="mt")
text: str = monge.score(["a"], ["b"], "twmd").score
monge.load("twmd", online="yes")
monge.compare({"a": ["x"]}, ["y"], precison="bf16")
"""


CACHE = Path(__file__).parents[2] / ".mypy_cache"
"""What `make lint` has worked out of the libraries already."""


def test_a_users_program_is_checked(tmp_path):
    pytest.importorskip("mypy", reason="install the extra dev")
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={CACHE}"]
    printed = subprocess.run(
        [*command, "right.py", "wrong.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    ).stdout
    faults = {line.rsplit(": error:")[0] for line in printed.splitlines() if ": error:" in line}
    calls = [number for number, line in enumerate(WRONG.splitlines(), 1) if "monge." in line]
    assert faults == {f"wrong.py:{number}" for number in calls}, printed
