"""docs/reproduction/studies.md: the studies of the papers' claims, from their kept results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from make_paper_studies import read_plan, read_study
from sensitivity_pages.beside import make_rows

HEAD = """# Studies of the papers' claims

<!-- made by tools/make_reproduction.py from results/reproduction/studies: `make reproduction` -->

What [the page of claims](../reproduction.md) rests on besides [the tables](tables.md): claims that the papers make in words or in
pictures. Intervals are 95 % bootstrap percentiles over source items.

"""  # noqa: E501


def make_studies_page() -> str:
    """Return the page of studies."""
    parts = [HEAD]
    for name, show in SECTIONS.items():
        study = read_study(name)
        title, words = TITLES[name]
        body = show(study) if study else "Not run."
        command = _show_command(name)
        parts.append(f"## {title} {{#{name}}}\n\n{words}\n\n{command}\n\n{body}\n\n")
    return "".join(parts).rstrip() + "\n"


def _show_command(name: str) -> str:
    """Return the command that runs a study again."""
    plan = read_plan()
    if name in plan:
        command = plan[name].replace("ROOT/build/studies/", "").replace("*-en", "'*-en'")
        return f"```\nmonge {command.replace('DATA', 'DIR')}\n```"
    return f"```\npython tools/make_paper_studies.py --data DIR --models MODELS --only {name}\n```"


def _interval(value: float, low: float, high: float, digits: int = 3) -> str:
    return f"{value:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _show_margins(study: Mapping[str, Any]) -> str:
    """Return the margins of a study as a table."""
    rows = [
        [
            margin["says"],
            f"{margin['value']:+.3f}",
            f"[{margin['low']:+.3f}, {margin['high']:+.3f}]",
        ]
        for margin in study["margins"]
    ]
    return make_rows(("margin", "", "95 %"), rows)


def _show_figures(study: Mapping[str, Any]) -> str:
    """Return the figures of a study and its margins."""
    rows = [
        [figure["label"], _interval(figure["value"], figure["low"], figure["high"])]
        for figure in study["figures"]
    ]
    head = f"{study['dataset']}, {study['human']}, {study['model']}: {study['statistic']}"
    groups = ", ".join(f"{name} {n:,}" for name, n in study["groups"].items())
    return "\n\n".join(
        [
            f"Judgements: {groups}.",
            make_rows((head, "95 %"), rows),
            _show_margins(study),
            _fold(figure["signature"] for figure in study["figures"]),
        ]
    )


def _fold(signatures: Any) -> str:
    """Return signatures, folded."""
    lines = "\n".join(f"- `{line}`" for line in dict.fromkeys(signatures))
    return f"<details><summary>Signatures</summary>\n\n{lines}\n\n</details>"


def _show_distributions(study: Mapping[str, Any]) -> str:
    """Return figure 2 as a table: r on both halves, and how well thirds are told apart."""
    columns = ("r on the low half", "r on the high half", "told apart")
    rows = [
        [figure["label"], *(_interval(*figure[column]) for column in columns)]
        for figure in study["figures"]
    ]
    return "\n\n".join(
        [
            make_rows(("metric", *columns), rows),
            _show_margins(study),
            _fold(figure["signature"] for figure in study["figures"]),
        ]
    )


def _show_correlations(study: Mapping[str, Any]) -> str:
    """Return figure 3 as tables: Pearson's r between metrics and with people."""
    parts = []
    for figure in study["figures"]:
        names = figure["names"]
        rows = [
            [name, *(f"{value:.2f}" for value in line)]
            for name, line in zip(names, figure["matrix"], strict=True)
        ]
        parts.append(make_rows((figure["pair"], *names), rows))
    return "\n\n".join([*parts, _show_margins(study), _fold(study["signatures"].values())])


def _show_tasks(study: Mapping[str, Any]) -> str:
    """Return the figures and margins of several tasks."""
    return "\n\n".join(
        f"**{title}**\n\n{_show_figures(task)}" for title, task in study["tasks"].items()
    )


def _show_sweep(study: Mapping[str, Any]) -> str:
    """Return the points of a sweep, the best first."""
    (curve,) = study["sweep"]["curves"]
    rows: list[Sequence[str]] = []
    for point in sorted(curve["points"], key=lambda point: -point["mean"]):
        (group,) = point["groups"].values()
        value = point["point"][0].partition("=")[2]
        rows.append([value, _interval(group["value"], group["low"], group["high"])])
    (group,) = curve["points"][0]["groups"].values()
    setting = curve["points"][0]["point"][0].partition("=")[0]
    return (
        f"Kendall's tau on {group['n']:,} rankings.\n\n{make_rows((setting, '95 %'), rows)}\n\n"
        f"{_fold(point['signature'] for point in curve['points'][:1])}"
    )


def _show_convergence(study: Mapping[str, Any]) -> str:
    """Return the sweeps to convergence by temperature."""
    (result,) = study["results"]
    rows = []
    for row in result["results"]:
        median = row["median"]
        sweeps = (
            f"more than {result['most']:,}"
            if median["value"] is None
            else f"{median['value']:g} [{median['low']:g}, {median['high']:g}]"
        )
        misses = row["misses"]
        rows.append(
            [
                f"{row['temperature']:g}",
                sweeps,
                f"{row['settled']:.0%}",
                *(f"{misses[key]:.3f}" if key in misses else "–" for key in ("1", "10", "100")),
            ]
        )
    head = (
        "T",
        "sweeps (median)",
        "settled",
        *(f"mass missed after {count}" for count in (1, 10, 100)),
    )
    return (
        f"{result['metric']} on {result['pairs']} pairs of texts with {result['model']}; settled: "
        f"less than {result['tolerance']:g} of the mass is missed.\n\n{make_rows(head, rows)}"
    )


def _show_vectors(study: Mapping[str, Any]) -> str:
    """Return which properties of word vectors hold under every centring."""
    rows = [
        [
            result["model"],
            centring["centring"],
            *(f"{record['verdict']}: {record['why']}" for record in centring["properties"]),
        ]
        for result in study["results"]
        for centring in result["centrings"]
    ]
    names = [record["name"] for record in study["results"][0]["centrings"][0]["properties"]]
    return make_rows(("model", "centring", *names), rows)


TITLES = {
    "distributions": (
        "Good and bad texts (MoverScore, figure 2)",
        "Pearson's r with people within the half of each pair of WMT17 that people rated lower, "
        "and within the higher half; and how often a text of the best third scores above one of "
        "the worst third.",
    ),
    "correlations": (
        "Metrics and people (MoverScore, figure 3)",
        "Pearson's r between metrics; `monge evaluate --figures` draws the same map.",
    ),
    "sides": (
        "Parts, normalising and batches (Tempered WMD, §3, §5)",
        "Precision, recall and F1 of BERTScore; MoverScore of equation 2 with and without "
        "self-similarities; batches of 32 against the corpus mean.",
    ),
    "convergence": (
        "Sweeps to convergence (Tempered WMD, figure 4, right)",
        "How many sweeps Sinkhorn's scaling takes by temperature.",
    ),
    "convergence-e5": ("The same with e5-small", "The second model."),
    "vectors": (
        "Word vectors (Tempered WMD, figures 1 and 2)",
        "Whether random words have similarity 0, a word becomes less like itself from layer to "
        "layer, and words of one text more alike.",
    ),
    "slacks": (
        "Slacks of Lazy-EMD, tuned as the paper did",
        "On et-en of WMT18, 300 source segments; the paper's pairs of slacks are among them.",
    ),
    "slacks-e5": ("The same with e5-small", "The second model."),
    "alpha": ("α of Fα, tuned as the paper did", "On the same segments."),
    "alpha-e5": ("The same with e5-small", "The second model."),
    "log-likelihoods": (
        "SentSim and the translation system's log-likelihood (Reproducibility, §4.1)",
        "MLQE-PE, with people's scores.",
    ),
    "german": (
        "GermEval's experiments in German",
        "The task's summaries are not here; the German STS benchmark stands in for them, with "
        "multilingual-e5-small, which is cased.",
    ),
}
SECTIONS: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "distributions": _show_distributions,
    "correlations": _show_correlations,
    "sides": _show_tasks,
    "convergence": _show_convergence,
    "convergence-e5": _show_convergence,
    "vectors": _show_vectors,
    "slacks": _show_sweep,
    "slacks-e5": _show_sweep,
    "alpha": _show_sweep,
    "alpha-e5": _show_sweep,
    "log-likelihoods": _show_figures,
    "german": _show_figures,
}
