"""The texts of docs/sensitivity.md and docs/sensitivity/studies.md, from the kept studies."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from repository import DOCS, RESULTS, TEMPLATES
from sensitivity_pages.beside import set_beside
from sensitivity_pages.claims import CLAIMS
from sensitivity_pages.default_of_paper import of_paper, ours
from sensitivity_pages.readings import (
    NOT_RUN,
    NOT_SEEN,
    SEEN,
    UNDECIDED,
    Studies,
    paper_settings,
    read_setting_cvs,
    show_percent,
    show_setting,
)

from monge.evaluation import Sensitivity
from monge.evaluation.sensitivity.effects import Effect, Level

TEMPLATE_BY_PAGE = {
    DOCS / "sensitivity.md": TEMPLATES / "sensitivity.md",
    DOCS / "sensitivity" / "studies.md": TEMPLATES / "sensitivity-studies.md",
}
COST = RESULTS / "sensitivity" / "cost.json"
EMBEDDED = "all-MiniLM-L6-v2 (embedded)"
FACTORS = ("stopwords", "idf", "subwords", "punctuation")
UP, DOWN = "▲", "▼"


def make_texts(plan: Mapping[str, Any], studies: Studies) -> dict[Path, str]:
    """Return the text of the short page and of the long page, by path."""
    run = [study for study in plan["study"] if study["name"] in studies]
    missing = [study["name"] for study in plan["study"] if study["name"] not in studies]
    parts = {
        "summary": _summarise(ours(studies), of_paper(studies)),
        "best": _list_best_settings(studies),
        "beside": set_beside(ours(studies), of_paper(studies)),
        "runs": _list_runs(run, studies),
        "missing": f"Not run: {', '.join(missing)}." if missing else "",
        "verdicts": _list_verdicts(studies),
        "claims": _list_claims(studies),
        "studies": "\n\n".join(_describe_study(study, studies[study["name"]]) for study in run),
        "cost": _describe_cost(),
    }
    texts = {}
    for path, template in TEMPLATE_BY_PAGE.items():
        text = template.read_text("utf-8")
        for name, value in parts.items():
            text = text.replace(f"<!-- {name} -->", value)
        texts[path] = text
    return texts


def _list_best_settings(studies: Studies) -> str:
    """Return the best settings per factor and metric on WMT17 into English, with counts."""
    if "wmt17-en" not in studies:
        return "(not run)"
    study = studies["wmt17-en"]
    rows = []
    for factor in study.factors:
        row = [factor.name]
        for effect in study.of(factor.name):
            counts = Counter(
                show_setting(spread.best) for spread in effect.spreads.values()
            ).most_common()
            row.append(", ".join(f"{setting} {count}" for setting, count in counts))
        rows.append(row)
    return _make_table(["factor", *(f"`{name}`" for name in study.metrics)], rows)


def _make_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: bool = False
) -> str:
    """Return a Markdown table; with `numbers`, all columns but the first are right-aligned."""
    lines = [head, ["---", *(["---:" if numbers else "---"] * (len(head) - 1))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _count_marks(studies: Studies) -> str:
    """Return how many claims have each mark."""
    marks = Counter(claim.judge(studies).mark for claim in CLAIMS)
    return ", ".join(
        f"{marks[name]} {name}" for name in (SEEN, NOT_SEEN, UNDECIDED, NOT_RUN) if marks[name]
    )


def _summarise(studies: Studies, paper_studies: Studies) -> str:
    """Return the summary: verdicts, the factor that moves most, and mean CVs per study."""
    counts = _count_marks(studies)
    if paper_studies:
        counts += f"; with the paper's default configuration: {_count_marks(paper_studies)}"
    rows = []
    for name, study in studies.items():
        cvs = {
            factor.name: show_percent(_average([effect.cv for effect in study.of(factor.name)]))
            for factor in study.factors
        }
        rows.append([f"`{name}`", *(cvs.get(factor, "") for factor in FACTORS)])
    table = _make_table(["study", *FACTORS], rows, numbers=True)
    largest_counts = Counter(_name_largest_factor(study) for study in studies.values())
    leading = ", ".join(f"{name} in {count}" for name, count in largest_counts.most_common())
    return (
        f"Of the paper's {len(CLAIMS)} claims: {counts}. Of {len(studies)} studies, what moves "
        f"the agreement most is "
        f"{leading}. Mean CV over groups and metrics, all settings of a factor:\n\n{table}"
    )


def _name_largest_factor(study: Sensitivity) -> str:
    """Return the factor whose mean CV is largest."""
    cvs = {name: _average([effect.cv for effect in study.of(name)]) or 0.0 for name in FACTORS}
    return max(cvs, key=lambda name: cvs[name])


def _average(values: Sequence[float | None]) -> float | None:
    """Return the mean of the values that are not None."""
    numbers = [number for number in values if number is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _list_runs(run: Sequence[Mapping[str, Any]], studies: Studies) -> str:
    """Return the table of studies."""
    rows = []
    for study in run:
        result = studies[study["name"]]
        sample = f"{result.sample} source segments a pair" if result.sample else "all"
        rows.append(
            [
                f"`{study['name']}`",
                f"{result.dataset}, {result.human}, {result.level}",
                study.get("model", EMBEDDED),
                f"{len(result.groups)}",
                f"{sum(result.groups.values()):,}",
                f"{sum(result.segments.values()):,}",
                sample,
                str(result.settings),
                f"{result.work['encoded']:,}" if result.work["encoded"] else "from the cache",
            ]
        )
    head = [
        "study",
        "data",
        "model",
        "groups",
        "judgements",
        "hypotheses",
        "taken",
        "settings",
        "texts encoded",
    ]
    return _make_table(head, rows)


def _list_verdicts(studies: Studies) -> str:
    """Return the table of claims and verdicts, with our default and with the paper's."""
    rows = [
        [
            claim.section,
            claim.text.replace("|", "\\|"),
            *(f"**{claim.judge(side).mark}**" for side in (ours(studies), of_paper(studies))),
        ]
        for claim in CLAIMS
    ]
    return _make_table(["where", "claim", "our default", "the paper's default"], rows)


def _list_claims(studies: Studies) -> str:
    """Return the table of claims, verdicts and figures."""
    rows = []
    for claim in CLAIMS:
        for title, side in (("ours", ours(studies)), ("the paper's", of_paper(studies))):
            finding = claim.judge(side)
            figures = "" if finding.mark == NOT_RUN else finding.figures
            text = claim.text.replace("|", "\\|")
            rows.append([claim.section, text, title, f"**{finding.mark}**", figures])
    return _make_table(["where", "claim", "default", "here", "figures"], rows)


def _describe_study(study: Mapping[str, Any], result: Sensitivity) -> str:
    """Return the section of a study."""
    parts = [
        f"### {study['title']} (`{study['name']}`)",
        f"```\n{show_command(study)}\n```",
        _describe_inputs(result),
    ]
    parts += [
        f"CV in % ({result.statistic}):",
        _list_spreads(result, study.get("columns") == "mean"),
    ]
    parts += [
        f"Mean {result.statistic} by setting ({UP} above, {DOWN} below the metric's own beyond "
        f"noise; own in bold):",
        _list_levels(result),
    ]
    parts += [
        "> " + "\n> ".join(result.verdict),
        *_list_fallbacks(result),
        _fold_signatures(result),
    ]
    return "\n\n".join(part for part in parts if part)


def show_command(study: Mapping[str, Any]) -> str:
    """Return the command that makes a study; DIR and MODELS stand for directories."""
    words = [
        f"monge sensitivity {study['dataset']} --data DIR/{study['directory']} --pairs "
        f"{','.join(study['pairs'])}"
    ]
    words += [f"--model MODELS/{study['model']}"] if "model" in study else []
    words += [f"--{name} {study[name]}" for name in ("level", "human", "sample") if name in study]
    words += ["--cross"] if study.get("cross") else []
    words += [f"-m {name}" for name in study["metrics"]]
    words += [
        f"--factor '{factor}'" if "{" in factor else f"--factor {factor}"
        for factor in study["factors"]
    ]
    lines, line = [], words[0]
    for word in words[1:]:
        if len(line) + len(word) > 110:
            lines.append(line)
            line = f"  {word}"
        else:
            line += f" {word}"
    return " \\\n".join([*lines, line])


def _describe_inputs(result: Sensitivity) -> str:
    """Describe the judgements, stopword lists and idf corpora of a study."""
    lists = ", ".join(
        f"{show_setting(stopword_list.name)} {stopword_list.words:,} words #{stopword_list.digest}"
        for stopword_list in result.lists
    )
    corpora = [corpus for corpus in result.corpora if corpus.name == "random-1"]
    texts = [f"Judgements: {', '.join(f'{name} {n:,}' for name, n in result.groups.items())}."]
    if result.sample:
        texts.append(
            f"A sample of {result.sample} source segments a pair, seed {result.resampling.seed}."
        )
    if lists:
        texts.append(f"Stopwords: {lists}.")
    if corpora:
        sizes = ", ".join(f"{corpus.language} {corpus.texts:,}" for corpus in corpora)
        texts.append(f"Random idf corpora: texts {sizes}.")
    return " ".join(texts)


def _list_spreads(result: Sensitivity, means_only: bool) -> str:
    """Return the table of CVs per factor, metric and group."""
    groups = [] if means_only else list(result.groups)
    rows = []
    for factor in result.factors:
        for effect in result.of(factor.name):
            bests = Counter(
                show_setting(spread.best) for spread in effect.spreads.values()
            ).most_common()
            best = ", ".join(f"{setting} {count}" for setting, count in bests)
            sure = sum(spread.lead.sign > 0 for spread in effect.spreads.values())
            rows.append(
                [
                    factor.name,
                    effect.metric,
                    *_show_cvs(effect, None, groups),
                    f"{best} ({sure} beyond noise)",
                ]
            )
            paper_values = paper_settings("", effect)
            if paper_values is not None and 1 < len(paper_values) < len(effect.levels):
                label = "the paper's lists" if factor.name == "stopwords" else "corpora alone"
                rows.append(
                    [
                        f"{factor.name}, {label}",
                        effect.metric,
                        *_show_cvs(effect, paper_values, groups),
                        "",
                    ]
                )
    return _make_table(["factor", "metric", *groups, "mean", "best setting"], rows)


def _show_cvs(effect: Effect, settings: Sequence[str] | None, groups: Sequence[str]) -> list[str]:
    """Return the CVs of groups and their mean as cells."""
    values = read_setting_cvs(effect, settings)
    return [_show_number(values.get(group)) for group in groups] + [
        _show_number(_average(list(values.values())))
    ]


def _show_number(value: float | None) -> str:
    """Return a number with two decimals, or a dash."""
    return "–" if value is None else f"{value:.2f}"


def _list_levels(result: Sensitivity) -> str:
    """Return the table of mean agreement per setting."""
    rows = []
    for factor in result.factors:
        effects = result.of(factor.name)
        for setting in dict.fromkeys(
            setting_level.setting for effect in effects for setting_level in effect.levels
        ):
            cells = [
                next(
                    (
                        _show_level(setting_level)
                        for setting_level in effect.levels
                        if setting_level.setting == setting
                    ),
                    "",
                )
                for effect in effects
            ]
            rows.append([factor.name, show_setting(setting), *cells])
    return _make_table(["factor", "setting", *result.metrics], rows)


def _show_level(setting_level: Level) -> str:
    """Return a mean, marked where it is the default, above it or below it."""
    text = f"{setting_level.mean:.3f}"
    sign = setting_level.versus["mean"].sign
    return (
        f"**{text}**"
        if setting_level.default
        else text + (f" {UP}" if sign > 0 else f" {DOWN}" if sign < 0 else "")
    )


def _list_fallbacks(result: Sensitivity) -> list[str]:
    """List the settings that left texts without units, with counts."""
    counts = [
        f"{effect.metric}, {effect.factor} {show_setting(setting_level.setting)}: "
        + ", ".join(f"{count} {flag}" for flag, count in setting_level.flagged.items())
        for effect in result.effects
        for setting_level in effect.levels
        if any("filtered" in flag or "mass" in flag for flag in setting_level.flagged)
    ]
    return [
        f"Texts that a setting left without a unit (they keep all their words): "
        f"{'; '.join(counts)}."
    ] * bool(counts)


def _fold_signatures(result: Sensitivity) -> str:
    """Return the signatures, folded."""
    lines = "\n".join(f"- `{line}`" for lines in result.signatures.values() for line in lines)
    return f"<details><summary>Signatures</summary>\n\n{lines}\n\n</details>"


def _describe_cost() -> str:
    """Describe what a sensitivity study costs beside scoring once."""
    if not COST.exists():
        return "Not measured."
    cost = json.loads(COST.read_text("utf-8"))
    work = cost["work"]
    return (
        f"On {cost['segments']:,} segments of the 7 pairs of WMT17 into English, embedded model, "
        f"one thread: "
        f"`monge score -m {cost['metric']}` {cost['score_seconds']:.0f} s; `monge sensitivity` "
        f"with moverscore, "
        f"bertscore and twmd, the four usual factors, {cost['settings']} settings and "
        f"{cost['resamples']:,} resamples "
        f"{cost['sensitivity_seconds']:.0f} s: {cost['ratio']:.2f} times as long on the clock, "
        f"{cost['processor_ratio']:.2f} times in processor time (the machine was shared). It "
        f"encoded "
        f"{work['encoded']:,} texts, of {cost['distinct_texts']:,} that are distinct within their "
        f"pair: one pass."
    )
