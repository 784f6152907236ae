"""The page docs/sensitivity.md: template.md with the tables, verdicts and claims of the kept
studies.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from claims import CLAIMS
from readings import (
    NOT_RUN,
    NOT_SEEN,
    SEEN,
    UNDECIDED,
    Studies,
    cvs,
    paper_settings,
    percent,
    shown,
)

from monge.evaluation import Sensitivity
from monge.evaluation.sensitivity.effects import Effect, Level

HERE = Path(__file__).resolve().parent
PAGE, STUDIES = HERE.parent / "sensitivity.md", HERE / "studies.md"
TEMPLATES = {PAGE: HERE / "template.md", STUDIES: HERE / "template-studies.md"}
COST = HERE / "results" / "cost.json"
EMBEDDED = "all-MiniLM-L6-v2 (embedded)"
FACTORS = ("stopwords", "idf", "subwords", "punctuation")
UP, DOWN = "▲", "▼"


def write_page(plan: Mapping[str, Any], studies: Studies) -> None:
    """Writes the short page, the long one, and the figures they show."""
    for place, text in pages(plan, studies).items():
        place.write_text(text, "utf-8")
    from figures import write_figures

    write_figures(studies)


def pages(plan: Mapping[str, Any], studies: Studies) -> dict[Path, str]:
    """The whole text of the short page and of the long one."""
    run = [study for study in plan["study"] if study["name"] in studies]
    missing = [study["name"] for study in plan["study"] if study["name"] not in studies]
    parts = {
        "summary": _summary(studies),
        "best": _best(studies),
        "runs": _runs(run, studies),
        "missing": f"Not run: {', '.join(missing)}." if missing else "",
        "verdicts": _verdicts(studies),
        "claims": _claims(studies),
        "studies": "\n\n".join(_study(study, studies[study["name"]]) for study in run),
        "cost": _cost(),
    }
    found = {}
    for place, template in TEMPLATES.items():
        text = template.read_text("utf-8")
        for name, value in parts.items():
            text = text.replace(f"<!-- {name} -->", value)
        found[place] = text
    return found


def _best(studies: Studies) -> str:
    """The best settings of each factor and metric on WMT17 into English, with the number of
    groups.
    """
    if "wmt17-en" not in studies:
        return "(not run)"
    found = studies["wmt17-en"]
    rows = []
    for factor in found.factors:
        row = [factor.name]
        for one in found.of(factor.name):
            counts = Counter(shown(spread.best) for spread in one.spreads.values()).most_common()
            row.append(", ".join(f"{setting} {count}" for setting, count in counts))
        rows.append(row)
    return _table(["factor", *(f"`{name}`" for name in found.metrics)], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: bool = False) -> str:
    """Rows under a head; columns of `numbers`, all but the first, stand to the right."""
    lines = [head, ["---", *(["---:" if numbers else "---"] * (len(head) - 1))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _summary(studies: Studies) -> str:
    marks = Counter(claim.judge(studies).mark for claim in CLAIMS)
    counted = ", ".join(
        f"{marks[name]} {name}" for name in (SEEN, NOT_SEEN, UNDECIDED, NOT_RUN) if marks[name]
    )
    rows = []
    for name, found in studies.items():
        moved = {
            factor.name: percent(_mean([one.cv for one in found.of(factor.name)]))
            for factor in found.factors
        }
        rows.append([f"`{name}`", *(moved.get(one, "") for one in FACTORS)])
    table = _table(["study", *FACTORS], rows, numbers=True)
    largest = Counter(_largest(found) for found in studies.values())
    first = ", ".join(f"{name} in {count}" for name, count in largest.most_common())
    return (
        f"Of the paper's {len(CLAIMS)} claims: {counted}. Of {len(studies)} studies, what moves "
        f"the agreement most is "
        f"{first}. Mean CV over groups and metrics, all settings of a factor:\n\n{table}"
    )


def _largest(found: Sensitivity) -> str:
    """The factor whose mean CV is largest."""
    moved = {name: _mean([one.cv for one in found.of(name)]) or 0.0 for name in FACTORS}
    return max(moved, key=lambda name: moved[name])


def _mean(values: Sequence[float | None]) -> float | None:
    kept = [one for one in values if one is not None]
    return sum(kept) / len(kept) if kept else None


def _runs(run: Sequence[Mapping[str, Any]], studies: Studies) -> str:
    rows = []
    for study in run:
        found = studies[study["name"]]
        sample = f"{found.sample} source segments a pair" if found.sample else "all"
        rows.append(
            [
                f"`{study['name']}`",
                f"{found.dataset}, {found.human}, {found.level}",
                study.get("model", EMBEDDED),
                f"{len(found.groups)}",
                f"{sum(found.groups.values()):,}",
                f"{sum(found.segments.values()):,}",
                sample,
                str(found.settings),
                f"{found.work['encoded']:,}" if found.work["encoded"] else "from the cache",
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
    return _table(head, rows)


def _verdicts(studies: Studies) -> str:
    rows = [
        [claim.where, claim.says.replace("|", "\\|"), f"**{claim.judge(studies).mark}**"]
        for claim in CLAIMS
    ]
    return _table(["where", "claim", "here"], rows)


def _claims(studies: Studies) -> str:
    rows = []
    for claim in CLAIMS:
        found = claim.judge(studies)
        figures = "" if found.mark == NOT_RUN else found.figures
        rows.append([claim.where, claim.says.replace("|", "\\|"), f"**{found.mark}**", figures])
    return _table(["where", "claim", "here", "figures"], rows)


def _study(study: Mapping[str, Any], found: Sensitivity) -> str:
    parts = [
        f"### {study['title']} (`{study['name']}`)",
        f"```\n{command(study)}\n```",
        _facts(found),
    ]
    parts += [f"CV in % ({found.statistic}):", _spreads(found, study.get("columns") == "mean")]
    parts += [
        f"Mean {found.statistic} by setting ({UP} above, {DOWN} below the metric's own beyond "
        f"noise; own in bold):",
        _levels(found),
    ]
    parts += ["> " + "\n> ".join(found.verdict), *_fallbacks(found), _signatures(found)]
    return "\n\n".join(part for part in parts if part)


def command(study: Mapping[str, Any]) -> str:
    """The command that makes a study; DIR and MODELS are the directories of the data and the
    models.
    """
    words = [
        f"monge sensitivity {study['dataset']} --data DIR/{study['directory']} --pairs "
        f"{','.join(study['pairs'])}"
    ]
    words += [f"--model MODELS/{study['model']}"] if "model" in study else []
    words += [f"--{name} {study[name]}" for name in ("level", "human", "sample") if name in study]
    words += ["--cross"] if study.get("cross") else []
    words += [f"-m {name}" for name in study["metrics"]]
    words += [f"--factor '{one}'" if "{" in one else f"--factor {one}" for one in study["factors"]]
    lines, line = [], words[0]
    for word in words[1:]:
        if len(line) + len(word) > 110:
            lines.append(line)
            line = f"  {word}"
        else:
            line += f" {word}"
    return " \\\n".join([*lines, line])


def _facts(found: Sensitivity) -> str:
    lists = ", ".join(f"{shown(one.name)} {one.words:,} words #{one.digest}" for one in found.lists)
    drawn = [one for one in found.corpora if one.name == "random-1"]
    texts = [f"Judgements: {', '.join(f'{name} {n:,}' for name, n in found.groups.items())}."]
    if found.sample:
        texts.append(
            f"A sample of {found.sample} source segments a pair, seed {found.resampling.seed}."
        )
    if lists:
        texts.append(f"Stopwords: {lists}.")
    if drawn:
        each = ", ".join(f"{one.language} {one.texts:,}" for one in drawn)
        texts.append(f"Random idf corpora: texts {each}.")
    return " ".join(texts)


def _spreads(found: Sensitivity, means_only: bool) -> str:
    groups = [] if means_only else list(found.groups)
    rows = []
    for factor in found.factors:
        for one in found.of(factor.name):
            bests = Counter(shown(spread.best) for spread in one.spreads.values()).most_common()
            best = ", ".join(f"{setting} {count}" for setting, count in bests)
            sure = sum(spread.lead.sign > 0 for spread in one.spreads.values())
            rows.append(
                [
                    factor.name,
                    one.metric,
                    *_cells(one, None, groups),
                    f"{best} ({sure} beyond noise)",
                ]
            )
            narrowed = paper_settings("", one)
            if narrowed is not None and 1 < len(narrowed) < len(one.levels):
                label = "the paper's lists" if factor.name == "stopwords" else "corpora alone"
                rows.append(
                    [f"{factor.name}, {label}", one.metric, *_cells(one, narrowed, groups), ""]
                )
    return _table(["factor", "metric", *groups, "mean", "best setting"], rows)


def _cells(one: Effect, settings: Sequence[str] | None, groups: Sequence[str]) -> list[str]:
    values = cvs(one, settings)
    return [_number(values.get(group)) for group in groups] + [
        _number(_mean(list(values.values())))
    ]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _levels(found: Sensitivity) -> str:
    rows = []
    for factor in found.factors:
        effects = found.of(factor.name)
        for setting in dict.fromkeys(each.setting for one in effects for each in one.levels):
            cells = [
                next((_level(each) for each in one.levels if each.setting == setting), "")
                for one in effects
            ]
            rows.append([factor.name, shown(setting), *cells])
    return _table(["factor", "setting", *found.metrics], rows)


def _level(one: Level) -> str:
    text = f"{one.mean:.3f}"
    sign = one.versus["mean"].sign
    return (
        f"**{text}**"
        if one.default
        else text + (f" {UP}" if sign > 0 else f" {DOWN}" if sign < 0 else "")
    )


def _fallbacks(found: Sensitivity) -> list[str]:
    """Which settings left texts without units, and how many."""
    counted = [
        f"{one.metric}, {one.factor} {shown(each.setting)}: "
        + ", ".join(f"{count} {flag}" for flag, count in each.flagged.items())
        for one in found.effects
        for each in one.levels
        if any("filtered" in flag or "mass" in flag for flag in each.flagged)
    ]
    return [
        f"Texts that a setting left without a unit (they keep all their words): "
        f"{'; '.join(counted)}."
    ] * bool(counted)


def _signatures(found: Sensitivity) -> str:
    lines = "\n".join(f"- `{line}`" for lines in found.signatures.values() for line in lines)
    return f"<details><summary>Signatures</summary>\n\n{lines}\n\n</details>"


def _cost() -> str:
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
