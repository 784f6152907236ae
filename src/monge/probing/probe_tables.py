"""Tables, sentences and the heat map of `monge probe`."""

from __future__ import annotations

from monge.perturbations.catalogue import SEVERITIES, ErrorKind, catalogue_version, list_kinds
from monge.probing.probe_result import KindReaction, MetricReaction, ProbeResult
from monge.render.cells import decimals, listed, number_cell, span
from monge.render.grid import Grid
from monge.types.table import Cell, Listing, Sheet

_SHADES = " ░▒▓█"
MOST_SENTENCES = 3
"""So many kinds are named in the sentences of a metric."""


def make_sheets(result: ProbeResult) -> list[Sheet]:
    """Return the tables: shares seen, falls, order by severity, ties."""
    errors = [kind for kind in result.ranked_kinds() if kind.severity != "neutral"]
    neutral = [kind for kind in result.ranked_kinds() if kind.severity == "neutral"]
    sheets = []
    if errors:
        sheets.append(_shares_sheet(result, errors, "Share of errors that are seen, in %"))
    if neutral:
        title = "Share of neutral changes that cost something, in % (lower is better)"
        sheets.append(_shares_sheet(result, neutral, title))
    first, *rest = sheets
    signatures = tuple(metric.signature for metric in result.metrics)
    first = Sheet(
        first.title,
        first.head,
        first.rows,
        notes=(*first.notes, *describe_run(result)),
        signatures=signatures,
        words=2,
        said=tuple(make_sentences(result)),
    )
    return [first, *rest, _falls_sheet(result), *_orders_sheet(result), *_ties_sheet(result)]


def _shares_sheet(result: ProbeResult, kinds: list[ErrorKind], title: str) -> Sheet:
    head = ("kind", "severity", "n", *(metric.label for metric in result.metrics))
    rows = tuple(
        (
            Cell(kind.name),
            Cell(kind.severity),
            Cell(str(result.metrics[0].of(kind.name).n)),
            *(_share_cell(metric.of(kind.name), kind) for metric in result.metrics),
        )
        for kind in kinds
    )
    percent = f"{100 * result.resampling.confidence:g} %"
    notes = (f"Wilson intervals of {percent}; the darker the box, the worse.",)
    return Sheet(title, head, rows, notes=notes, words=2)


def _share_cell(reaction: KindReaction, kind: ErrorKind) -> Cell:
    badness = reaction.share if kind.severity == "neutral" else 1 - reaction.share
    shade = _SHADES[min(int(badness * len(_SHADES)), len(_SHADES) - 1)]
    low, high = 100 * reaction.low, 100 * reaction.high
    return Cell(
        decimals(100 * reaction.share, 1),
        span(low, high, 1),
        short=f"{shade} {decimals(100 * reaction.share, 0)}",
        short_detail=span(low, high, 0),
        value=100 * reaction.share,
        ends=(low, high),
    )


def _falls_sheet(result: ProbeResult) -> Sheet:
    head = ("kind", "severity", *(metric.label for metric in result.metrics))
    rows = tuple(
        (
            Cell(kind.name),
            Cell(kind.severity),
            *(number_cell(metric.of(kind.name).fall_units, digits=2) for metric in result.metrics),
        )
        for kind in sorted(result.kinds, key=lambda kind: SEVERITIES.index(kind.severity))
    )
    units = [
        f"{metric.label}: {decimals(metric.spread, 4)}, over {metric.spread_source}"
        for metric in result.metrics
    ]
    note = f"A unit is the standard deviation of the metric's scores ({'; '.join(units)})."
    return Sheet("Mean fall of the score, in units of its spread", head, rows, (note,), words=2)


def _orders_sheet(result: ProbeResult) -> list[Sheet]:
    present = [
        (order.harsher, order.milder) for metric in result.metrics[:1] for order in metric.orders
    ]
    if not present:
        return []
    head = ("metric", *(f"{harsher} > {milder}" for harsher, milder in present))
    rows = tuple(
        (
            Cell(metric.label),
            *(
                number_cell(100 * order.share, 100 * order.low, 100 * order.high, digits=1)
                for order in metric.orders
            ),
        )
        for metric in result.metrics
    )
    pairs = [
        f"{order.harsher} > {order.milder}: {order.pairs} pairs"
        for order in result.metrics[0].orders
    ]
    ties = [
        f"{metric.label} {order.ties}"
        for metric in result.metrics
        for order in metric.orders[:1]
        if order.ties
    ]
    notes = (
        "Pairs of errors in the same text of which the harsher one costs more; the intervals "
        f"resample texts. {'; '.join(pairs)}.",
        *([f"Ties, which count as wrong, in the first column: {', '.join(ties)}."] * bool(ties)),
    )
    return [Sheet("Order by severity, in %", head, rows, notes)]


def _ties_sheet(result: ProbeResult) -> list[Sheet]:
    tied_kinds = [
        kind
        for kind in result.ranked_kinds()
        if any(metric.of(kind.name).ties for metric in result.metrics)
    ]
    if not tied_kinds:
        return []
    rows = tuple(
        (
            Cell(kind.name),
            Cell(str(result.metrics[0].of(kind.name).n)),
            *(Cell(str(metric.of(kind.name).ties)) for metric in result.metrics),
        )
        for kind in tied_kinds
    )
    head = ("kind", "n", *(metric.label for metric in result.metrics))
    note = "A tie is a difference of at most 0.001 % of the larger score."
    return [Sheet("Ties: the error does not change the score", head, rows, (note,))]


def make_sentences(result: ProbeResult) -> list[str]:
    """Return per metric which errors it misses most often, critical ones first."""
    phrase = {kind.name: kind.phrase for kind in list_kinds()}
    sentences = []
    for metric in result.metrics:
        missed = _worst_reactions(metric)
        parts = [
            f"{phrase[reaction.kind]} in {100 * (1 - reaction.share):.0f} %" for reaction in missed
        ]
        sentences.append(
            f"{metric.label} does not see {listed(parts, 'or')} of pairs."
            if parts
            else f"{metric.label} sees every critical error."
        )
    return sentences


def _worst_reactions(metric: MetricReaction) -> list[KindReaction]:
    missed = [
        reaction
        for reaction in metric.kinds
        if reaction.severity == "critical" and reaction.above < reaction.n
    ]
    return sorted(missed, key=lambda reaction: reaction.share)[:MOST_SENTENCES]


def describe_run(result: ProbeResult) -> list[str]:
    """Return what the texts are, the seed, the catalogue, and the kinds that were left out."""
    lines = [
        f"{result.texts} texts: {result.origin}. Language {result.language}. "
        f"Seed {result.resampling.seed}, catalogue {catalogue_version()}, "
        f"{len(result.kinds)} kinds, digest of all texts {result.digest}."
    ]
    reasons: dict[str, list[str]] = {}
    for name, reason in result.left_out.items():
        reasons.setdefault(reason, []).append(name)
    return lines + [
        f"Left out: {', '.join(names)} ({reason})." for reason, names in reasons.items()
    ]


def heat_map(result: ProbeResult) -> Grid:
    """Return the heat map of shares of errors that are not seen: metrics across, kinds down."""
    kinds = result.ranked_kinds()
    values = [[_badness(metric.of(kind.name), kind) for metric in result.metrics] for kind in kinds]
    return Grid(
        "Errors that metrics do not see, in % of pairs",
        tuple(f"{kind.name} ({kind.severity})" for kind in kinds),
        tuple(metric.label for metric in result.metrics),
        tuple(map(tuple, values)),
        "Neutral changes: where the score falls although the text says the same. "
        + " ".join(describe_run(result)[:1]),
    )


def _badness(reaction: KindReaction, kind: ErrorKind) -> float:
    return reaction.share if kind.severity == "neutral" else 1 - reaction.share


def list_catalogue() -> Listing:
    """Return the kinds as a table."""
    kinds = list_kinds()
    rows = tuple(
        (
            Cell(kind.name),
            Cell(kind.severity),
            Cell(", ".join(kind.languages) or "any"),
            Cell(kind.about),
        )
        for kind in kinds
    )
    head = ("kind", "severity", "languages", "what it does")
    title = f"{len(kinds)} kinds of errors, catalogue {catalogue_version()}"
    records = [
        {
            "kind": kind.name,
            "severity": kind.severity,
            "languages": list(kind.languages),
            "about": kind.about,
        }
        for kind in kinds
    ]
    data = {"catalogue": catalogue_version(), "kinds": records}
    return Listing(data, [Sheet(title, head, rows, words=4, texts=1)])
