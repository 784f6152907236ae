"""lm-evaluation-harness with metrics of monge: a task of local texts, and a model that answers from
a file.

pip install lm-eval 'monge[embedded,lexical]'      # in an environment of its own
python examples/peers/lm_eval_script.py
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import lm_eval
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from monge.compat.lm_eval import register

EXAMPLE = Path(__file__).parents[2] / "src" / "monge" / "example"
METRICS = ("twmd", "bertscore", "ter")
TASK = """
task: translated
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{source}}}}"
doc_to_target: "{{{{reference}}}}"
generation_kwargs: {{until: ["\\n"]}}
metric_list:
"""


def lines(name: str) -> list[str]:
    """Return the lines of an example file."""
    return (EXAMPLE / name).read_text("utf-8").splitlines()


class Answers(LM):
    """A model that returns a stored translation of every source."""

    def __init__(self, translations: dict[str, str]) -> None:
        super().__init__()
        self.translations = translations

    def generate_until(self, requests: list) -> list[str]:
        """Return the translation of every source."""
        return [self.translations[request.args[0]] for request in requests]

    def loglikelihood(self, requests: list) -> list:
        """Raise: this task does not need it."""
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: list) -> list:
        """Raise: this task does not need it."""
        raise NotImplementedError


with TemporaryDirectory() as folder:
    file = Path(folder) / "test.jsonl"
    rows = [
        {"source": s, "reference": r}
        for s, r in zip(lines("source-de.txt"), lines("reference.txt"), strict=True)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    task = TASK.format(file=file)
    for metric in METRICS:
        name = register(metric)
        task += (
            f"  - {{metric: {name}, aggregation: {name}, higher_is_better: "
            f"{str(metric != 'ter').lower()}}}\n"
        )
    (Path(folder) / "translated.yaml").write_text(task, "utf-8")
    evaluation = lm_eval.simple_evaluate(
        model=Answers(dict(zip(lines("source-de.txt"), lines("system-a.txt"), strict=True))),
        tasks=["translated"],
        task_manager=TaskManager(include_path=folder, include_defaults=False),
        bootstrap_iters=0,
    )
for name, value in evaluation["results"]["translated"].items():
    if name.startswith("monge_") and "stderr" not in name:
        print(f"{name.partition(',')[0]} {value:.4f}")
