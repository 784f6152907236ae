"""The help pages of verbs: common options first, the others in groups, then examples to copy."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup

from monge.cli.options import GROUPS

WIDEST = 26
"""Columns of an option's name beside its help; a longer name has a line of its own."""
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "score": (
        (
            "Score the output of a system with the default metric:",
            "monge score -t out.txt -r ref.txt",
        ),
        (
            "Two metrics with intervals, every segment with its texts, to a file:",
            "monge score -t out.txt -r ref.txt -m twmd -m chrf --ci \\\n"
            "      --with-texts -f parquet -o scores.parquet",
        ),
    ),
    "explain": (
        (
            "See which word was moved to which:",
            'monge explain "A cat slept." "The cat was sleeping."',
        ),
        (
            "The third line of two systems side by side, as a page for a browser:",
            "monge explain -t a.txt -t b.txt -r ref.txt --id 3 \\\n      -m moverscore -f html -o "
            "why.html",
        ),
    ),
    "fit": (
        ("Fit the idf of a corpus once:", "monge fit -r corpus.txt -m moverscore -o idf.json"),
        (
            "Then score with it, anywhere:",
            "monge score -t out.txt -r ref.txt -m moverscore --stats idf.json",
        ),
    ),
    "compare": (
        (
            "Is a better than b, and is that more than chance?",
            "monge compare -t a.txt -t b.txt -r ref.txt",
        ),
        (
            "The same as a table for a paper, with two metrics:",
            "monge compare -t a.txt -t b.txt -r ref.txt -m twmd -m bleu -f latex",
        ),
    ),
    "report": (
        (
            "A page about two systems, to be opened in a browser or sent to others:",
            "monge report -t a.txt -t b.txt -r ref.txt -m twmd -m chrf -o report.html",
        ),
        (
            "The same from scores that were saved:",
            "monge score -t a.txt -t b.txt -r ref.txt --with-texts -f json -o s.json\n"
            "    monge report s.json -o report.html",
        ),
    ),
    "evaluate": (
        (
            "How well do two metrics agree with people on WMT18 into English?",
            "monge evaluate wmt18 --data wmt18/ --pairs '*-en' -m twmd -m bertscore",
        ),
        (
            "The same for judgements of your own, one row per segment:",
            "monge evaluate table --data judged.tsv -m twmd -m chrf",
        ),
    ),
    "recommend": (
        ("Which metric for which task?", "monge recommend"),
        (
            "Which for summaries, at 20 seconds or less for 1,000 pairs?",
            "monge recommend --task summaries --budget 20s",
        ),
    ),
    "submit": (
        ("A submission to the WMT metrics task:", "monge submit wmt23/ -m twmd -o submission/"),
        (
            "Two metrics, pairs into English, against one reference:",
            "monge submit wmt23/ -m twmd -m bertscore --pairs '*-en' --reference refA \\\n      -o "
            "submission/",
        ),
    ),
    "sweep": (
        (
            "Which layer agrees best with people?",
            "monge sweep wmt16 --data wmt16/ -m bertscore --vary layers=1..6",
        ),
        (
            "Choose a temperature on one year and try it on another:",
            "monge sweep wmt15+wmt16 --data wmt/ -m twmd --test wmt17 \\\n"
            "      --vary transport.temperature=0.02,0.05,0.1,0.2",
        ),
    ),
    "sensitivity": (
        (
            "How much do stopwords and idf move the agreement?",
            "monge sensitivity wmt17 --data wmt17/ -m moverscore --factor stopwords,idf",
        ),
        (
            "Cross all factors on 200 segments of each group:",
            "monge sensitivity wmt17 --data wmt17/ --cross --sample 200",
        ),
    ),
    "probe": (
        ("Which errors does a metric not see?", "monge probe -m bertscore -m chrf"),
        (
            "The same in texts of your own, critical errors only, as a page:",
            "monge probe -t good.txt -r ref.txt -m twmd --kind critical \\\n      -f html -o "
            "probe.html",
        ),
    ),
    "reproduce": (
        ("Which published tables are there?", "monge reproduce"),
        (
            "Compute one of them again:",
            "monge reproduce tempered-2 --data wmt/ -f markdown",
        ),
    ),
    "analyse": (
        (
            "What are the vectors of two models like? With a figure:",
            "monge analyse corpus.txt --model A --model B --figure layers.svg",
        ),
        (
            "How many sweeps does Sinkhorn's scaling take, by temperature?",
            "monge analyse out.txt ref.txt --study convergence -m twmd",
        ),
    ),
    "data": (
        ("Which data sets are known, and what of them is in a directory?", "monge data downloads/"),
        (
            "Which files does one of them need, and which are missing?",
            "monge data wmt17 downloads/",
        ),
    ),
    "tune": (
        (
            "What would it take to learn from the judgements of one year?",
            "monge tune twmd --train wmt16 --data wmt/ -o adapter/ --dry-run",
        ),
        (
            "Fit the weights of two metrics, which -m blend.json then names as a blend:",
            "monge tune blend -m twmd -m sbert --train wmt16 --data wmt/ -o blend.json",
        ),
    ),
    "example": (
        ("Files to try everything with:", "monge example try/"),
        ("Then, there:", "monge compare -t system-a.txt -t system-b.txt -r reference.txt"),
    ),
    "metrics": (
        ("List all metrics:", "monge metrics"),
        ("As a table for a document:", "monge metrics -f markdown"),
    ),
    "show": (
        (
            "Every setting of a profile, with one changed:",
            "monge show twmd@paper --set transport.temperature=0.05",
        ),
        ("What an adapter learned from, and the licences:", "monge show mt"),
    ),
    "adapter export": (
        (
            "The shipped adapter of the embedded model, for peft:",
            "monge adapter export mt -o lora/",
        ),
        (
            "One of monge tune, with the name under which peft finds the base:",
            "monge adapter export adapter/ --base owner/model -o lora/",
        ),
    ),
    "adapter import": (
        (
            "An adapter that peft saved, for its base:",
            "monge adapter import lora/ --model DIR -o adapter/",
        ),
        (
            "The same for a base on the hub:",
            "monge adapter import lora/ --model owner/model --online -o adapter/",
        ),
    ),
    "adapter average": (
        (
            "The mean of two adapters that learned from other lessons:",
            "monge adapter average judged/ people/ --data wmt/ -o mean/",
        ),
        (
            "With weights, in the size of the first:",
            "monge adapter average 'a/*0.6' 'b/*0.4' --data wmt/ --rank 16 -o mean/",
        ),
    ),
    "mcp": (
        ("The embedded model, for an agent that starts this command:", "monge mcp"),
        (
            "Another model, and fewer texts per request:",
            "monge mcp --model e5-small/ --limit pairs=100",
        ),
    ),
    "serve": (
        ("On this machine alone, with a page in the browser:", "monge serve"),
        (
            "For others, with two metrics, jobs kept over restarts:",
            "monge serve --host 0.0.0.0 --token-file token.txt -m twmd -m chrf \\\n      --state "
            "jobs",
        ),
    ),
    "selfcheck": (
        ("Does this installation give the numbers it should?", "monge selfcheck"),
        ("In a script:", "monge selfcheck && monge score -t out.txt -r ref.txt"),
    ),
    "check-metric": (
        ("Does a metric of your own do what a metric should?", "monge check-metric my-metric"),
        ("The same as JSON, for a test of your package:", "monge check-metric my-metric -f json"),
    ),
    "signature parse": (
        (
            "What does a signature say?",
            "monge signature parse 'twmd[layers=4]|…|monge:0.1.0#ebe7d0af'",
        ),
        (
            "As JSON, with the long and the short form:",
            "monge signature parse -f json 'metric:twmd|…'",
        ),
    ),
    "signature diff": (
        (
            "In which settings do two scores differ?",
            "monge signature diff 'metric:twmd|…' 'metric:twmd|…'",
        ),
        (
            "A short and a long one, as a table:",
            "monge signature diff -f markdown 'twmd[…]|…' 'metric:twmd|…'",
        ),
    ),
    "signature from-bert-score": (
        (
            "What does the hash in a paper mean?",
            "monge signature from-bert-score \\\n"
            "      'roberta-large_L17_no-idf_version=0.3.12(hug_trans=4.30.2)-rescaled'",
        ),
        (
            "As JSON:",
            "monge signature from-bert-score -f json \\\n"
            "      'bert-base-uncased_L9_idf_version=0.3.12(hug_trans=5.1)'",
        ),
    ),
    "cache info": (
        ("What does a cache hold?", "monge cache info ~/.cache/monge"),
        ("As JSON, of the directory that MONGE_CACHE names:", "monge cache info -f json"),
    ),
    "cache clear": (
        ("Empty a cache:", "monge cache clear ~/.cache/monge"),
        ("Empty the one that MONGE_CACHE names:", "monge cache clear"),
    ),
    "completion install": (
        ("For the shell you use:", "monge completion install"),
        ("For another:", "monge completion install fish"),
    ),
    "completion show": (
        ("Look at what would be installed:", "monge completion show zsh"),
        ("Use it in this shell alone:", 'eval "$(monge completion show bash)"'),
    ),
}
"""Verb -> two common tasks, and the commands for them."""


class VerbGroup(TyperGroup):
    """A verb that has verbs of its own; its help describes each in full sentences."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the verbs of the group."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, " ".join((command.help or "").split()))
                    for name, command in self.commands.items()
                ]
            )


class Verb(TyperCommand):
    """A command whose help shows its options in groups, and its examples as they are typed."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the arguments by their names, optional ones in brackets."""
        pieces = []
        for parameter in self.get_params(ctx):
            if parameter.param_type_name == "argument":
                several = parameter.nargs != 1 and "…" not in _name(parameter)
                name = _name(parameter) + "…" * several
                pieces.append(name if parameter.required or "[" in name else f"[{name}]")
        return ["[OPTIONS]", *pieces]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then the options of each group, all in the same two columns."""
        sections: dict[str, list[tuple[str, str]]] = {
            "Arguments": [],
            **{name or "Options": [] for name in GROUPS},
        }
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is None:
                continue
            if parameter.param_type_name == "argument":
                sections["Arguments"].append((_name(parameter), record[1]))
            else:
                sections[getattr(parameter, "rich_help_panel", None) or "Options"].append(record)
        names = [name for records in sections.values() for name, _ in records]
        width = max((len(name) for name in names if len(name) <= WIDEST), default=WIDEST)
        for title, records in sections.items():
            if records:
                (name, text), *rest = records
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(width), text), *rest], col_max=width)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the examples of the verb, not wrapped."""
        verb = ctx.command_path.partition(" ")[2]
        if verb in EXAMPLES:
            formatter.write("\nExamples:\n")
            for purpose, command in EXAMPLES[verb]:
                formatter.write(f"  {purpose}\n    {command}\n")


def _name(argument: Any) -> str:
    name = str(argument.metavar or argument.name.upper())
    return name if "[" in name[1:] else name.strip("[]")
