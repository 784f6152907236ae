"""The paper's tables 9 to 15 and figure 7 beside ours, with our default and with the paper's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from sensitivity_pages.readings import (
    ENGLISH,
    OTHERS,
    SUMMARIES,
    SYSTEMS,
    THREE,
    Studies,
    average,
    cv_of_mean,
    find_effect,
    original_corpus,
    paper_settings,
    read_cvs,
    relative_means,
    show_setting,
)

from monge.papers.tables import PublishedTable, tables

NAMES = dict(zip(THREE, ("Mover-1", "Mover-2", "BERT-F1"), strict=True))
Sides = tuple[Studies, Studies]


def set_beside(our_studies: Studies, of_paper: Studies) -> str:
    """Return the paper's tables with ours in the next columns."""
    sides = our_studies, of_paper
    parts = [
        _spreads("reproducibility-9", "stopwords", sides),
        _spreads("reproducibility-11", "idf", sides),
        _summaries(sides),
        _large_corpora(sides),
        _best_lists(sides),
        _best_units(sides),
        _random_corpora(sides),
    ]
    return "\n\n".join(parts)


def make_rows(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _published(name: str) -> dict[str, dict[str, object]]:
    """Return the figures of a published table by row and column."""
    table: PublishedTable = tables()[name]
    return {
        row.label: dict(zip(map(str, table.columns), row.values, strict=False))
        for row in table.rows
    }


def _show(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, int | float) else "–"


def _spreads(name: str, factor: str, sides: Sides) -> str:
    """Return a table of CVs into English: the paper, our default, the paper's default."""
    published = _published(name)
    columns = (
        ("WMT17, segments", "wmt17 segment cv pearson", ENGLISH[:1]),
        ("WMT18, segments", "wmt18 segment cv darr", ENGLISH[1:]),
        ("WMT17, systems", "wmt17 system cv pearson", SYSTEMS[:1]),
        ("WMT18, systems", "wmt18 system cv pearson", SYSTEMS[1:]),
    )
    rows = []
    for metric, label in NAMES.items():
        cells = []
        for _, column, names in columns:
            cvs = [_show(average(read_cvs(side, names, factor, metric).values())) for side in sides]
            cells.append(f"{_show(published[label].get(column))} · {cvs[0]} · {cvs[1]}")
        rows.append([label, *cells])
    number = tables()[name].number
    title = f"**{number.capitalize()}: CV in % of {factor}, into English** (the paper · ours, our "
    title += "default · ours, the paper's default)\n\n"
    return title + make_rows(["metric", *(title for title, _, _ in columns)], rows)


def _summaries(sides: Sides) -> str:
    """Return table 12: CV over idf corpora on TAC 2008, three statistics."""
    published = _published("reproducibility-12")
    rows = []
    for metric, label in NAMES.items():
        cells = []
        for human in reversed(SUMMARIES):
            for statistic in ("pearson", "spearman", "kendall"):
                ending = "" if statistic == "pearson" else f"-{statistic}"
                effect = find_effect(sides[1], human + ending, "idf", metric)
                value = (
                    None if effect is None else cv_of_mean(effect, paper_settings(human, effect))
                )
                column = f"tac08 {human.removeprefix('tac08-')} cv {statistic}"
                cells.append(f"{_show(published[label].get(column))} · {_show(value)}")
        rows.append([label, *cells])
    head = [f"{human} {letter}" for human in ("Pyramid", "Responsiveness") for letter in "rρτ"]
    return (
        "**Table 12: CV in % of idf on TAC 2008** (the paper · ours, the paper's default)\n\n"
        + (make_rows(["metric", *head], rows))
    )


def _large_corpora(sides: Sides) -> str:
    """Return table 13: MoverScore-1 on WMT18 with its own corpus and with large ones."""
    published = _published("reproducibility-13")
    large = [
        float(str(row["wmt18 darr darr mean"])) for name, row in published.items() if name != "ORI"
    ]
    rows = [
        [
            "the paper",
            _show_long(published["ORI"]["wmt18 darr darr mean"]),
            f"{min(large):.3f} to {max(large):.3f} (10 corpora)",
        ]
    ]
    for title, side in zip(("our default", "the paper's default"), sides, strict=True):
        effect = find_effect(side, ENGLISH[1], "idf", THREE[0])
        if effect is not None:
            means = {setting.setting: setting.mean for setting in effect.levels}
            corpora = [mean for name, mean in means.items() if name.startswith("corpora/")]
            rows.append(
                [
                    title,
                    _show_long(means.get(original_corpus(effect))),
                    ", ".join(map(_show_long, corpora)) + " (references of other years)",
                ]
            )
    return "**Table 13: tau of MoverScore-1 on WMT18 into English**\n\n" + make_rows(
        ["", "original corpus", "large corpora"], rows
    )


def _show_long(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, int | float) else "–"


def _best_lists(sides: Sides) -> str:
    """Return table 10: the stop word list that does best, per language and year."""
    rows = []
    for year, table_year in (("wmt17", "wmt17"), ("wmt18", "wmt18")):
        for metric, column in (("moverscore", "moverscore"), ("bertscore", "bertscore")):
            published = {
                label: row.get(f"{table_year} best-list size {column}")
                for label, row in _published("reproducibility-10").items()
            }
            for language, size in published.items():
                cells = [_best_of(side, year, language, metric, "stopwords") for side in sides]
                if any(cells) and language != "en":
                    words = f"{size:g} words" if size else "none"
                    rows.append([f"{year} {language}", NAMES[metric], words, *cells])
    return "**Table 10: the stop word list that does best, out of English**\n\n" + make_rows(
        ["", "metric", "the paper", "our default", "the paper's default"], rows
    )


def _best_of(side: Studies, year: str, language: str, metric: str, factor: str) -> str:
    """Return the best setting of a factor for a language, with + where it leads beyond noise."""
    for name in OTHERS:
        effect = find_effect(side, name, factor, metric) if name.startswith(year) else None
        spread = effect.spreads.get(f"en-{language}") if effect is not None else None
        if spread is not None:
            return show_setting(spread.best) + (" (+)" if spread.lead.sign > 0 else "")
    return ""


def _best_units(sides: Sides) -> str:
    """Return tables 14 and 15: the units that do best for MoverScore-1."""
    rows = []
    table = tables()["reproducibility-14"]
    for column, number in zip(table.columns, range(len(table.columns)), strict=True):
        year, language = column.datasets[0], column.group.removeprefix("en-")
        cells = [_best_of(side, year, language, THREE[0], "subwords+punctuation") for side in sides]
        if any(cells):
            ticked = [row.label for row in table.rows if row.values[number] == 1]
            rows.append([f"{year} {language}", ", ".join(ticked) or "illegible", *cells])
    for name in ENGLISH:
        counts = [_count_best(side, name) for side in sides]
        if any(counts):
            rows.append([f"{name[:5]} into English", "first+PR (most)", *counts])
    return (
        "**Tables 14 and 15: the units that do best for MoverScore-1** (PR: punctuation removed; "
        "(+): ahead of the next beyond noise)\n\n"
        + make_rows(["", "the paper", "our default", "the paper's default"], rows)
    )


def _count_best(side: Studies, name: str) -> str:
    effect = find_effect(side, name, "subwords+punctuation", THREE[0])
    if effect is None:
        return ""
    counts: Mapping[str, int] = Counter(spread.best for spread in effect.spreads.values())
    return ", ".join(f"{setting} {count}" for setting, count in counts.items())


def _random_corpora(sides: Sides) -> str:
    """Return figure 7: idf of random corpora against none and against the original corpus."""
    rows = []
    for name in (*ENGLISH, *OTHERS):
        for metric, label in NAMES.items():
            cells = [cell for side in sides for cell in _compare_random(side, name, metric)]
            if any(cells):
                rows.append([name, label, *cells])
    head = ["RD(rand, dis)", "RD(rand, ori)"]
    return (
        "**Figure 7: relative difference in % of the mean of four random idf corpora, against no "
        "idf (dis) and against the original corpus (ori)**; below 0 the latter is better\n\n"
        + make_rows(
            [
                "study",
                "metric",
                *(f"{title}, our default" for title in head),
                *(f"{title}, the paper's" for title in head),
            ],
            rows,
        )
    )


def _compare_random(side: Studies, name: str, metric: str) -> list[str]:
    effect = find_effect(side, name, "idf", metric)
    if effect is None:
        return ["", ""]
    return [
        _show(relative_means(effect, "random-", corpus))
        for corpus in ("off", original_corpus(effect))
    ]
