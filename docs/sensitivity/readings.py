"""What the claims and the page read off kept studies: spreads over named settings, differences, and
counts. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import comb, sqrt
from pathlib import Path

from monge.evaluation import Sensitivity
from monge.evaluation.sensitivity.effects import Effect, Level, mean_of, relative, variation

SEEN, NOT_SEEN, UNDECIDED, NOT_RUN = "seen", "not seen", "undecided", "not run"
ENGLISH = ("wmt17-en", "wmt18-en")
OTHERS = ("wmt17-da", "wmt17-out", "wmt17-cs", "wmt18-out", "wmt18-cs")
SEGMENTS = (*ENGLISH, *OTHERS)
SYSTEMS = ("wmt17-en-systems", "wmt18-en-systems")
SUMMARIES = ("tac08-responsiveness", "tac08-pyramid")
THREE = ("moverscore", "moverscore-2", "bertscore")
"""The paper's metrics: MoverScore-1, MoverScore-2, BERTScore-F1."""
LISTS = ("none", "moverscore", "lists/nltk-en.txt", "en")
"""The paper's four stopword settings for English."""
SURE = 0.05

Studies = Mapping[str, Sensitivity]
Case = tuple[str, str]
"""A study and a group."""


@dataclass(frozen=True)
class Finding:
    """What became of a claim: seen, not seen, undecided or not run; and the figures."""

    mark: str
    figures: str


def effect(studies: Studies, name: str, factor: str, metric: str) -> Effect | None:
    """The effect of a factor on a metric in a study, if it was run."""
    found = studies[name].of(factor) if name in studies else []
    return next((one for one in found if one.metric == metric), None)


def level(one: Effect, setting: str) -> Level | None:
    """A setting of an effect."""
    return next((each for each in one.levels if each.setting == setting), None)


def stop_settings(name: str, one: Effect) -> list[str]:
    """The stopword settings that the paper would take: its four lists for English, all for other
    languages.
    """
    every = [each.setting for each in one.levels]
    return [each for each in every if each in LISTS] if "en" in every else every


def corpora(one: Effect, original: str) -> list[str]:
    """The idf settings that the paper takes the CV over: the original corpus and the random
    ones.
    """
    return [
        each.setting
        for each in one.levels
        if each.setting == original or each.setting.startswith("random-")
    ]


def cvs(one: Effect, settings: Sequence[str] | None = None) -> dict[str, float]:
    """CV in percent over some settings (all by default), by group; groups where it is undefined are
    left out.
    """
    chosen = [each for each in one.levels if settings is None or each.setting in settings]
    found = {group: variation([each.values[group] for each in chosen], 0) for group in one.spreads}
    return {group: value for group, value in found.items() if value is not None}


def noise(one: Effect, settings: Sequence[str] | None, group: str) -> float:
    """The CV in percent that settings would have if they differed by what resampling alone makes of
    them.

    sqrt(mean s^2 / 2) over their mean, s being the standard error of a setting against the default,
    from its interval.
    """
    chosen = [each for each in one.levels if settings is None or each.setting in settings]
    mean = sum(each.values[group] for each in chosen) / len(chosen)
    errors = [error(each, group) for each in chosen if not each.default]
    return (
        100 * sqrt(sum(each**2 for each in errors) / 2 / max(len(errors), 1)) / mean
        if mean > 0
        else 0.0
    )


def error(one: Level, group: str) -> float:
    """The standard error of a setting against the default: its 95 % interval has 3.92 of them."""
    versus = one.versus[group]
    return (
        (versus.high - versus.low) / 3.92
        if versus.low is not None and versus.high is not None
        else 0.0
    )


def cv_of_mean(one: Effect, settings: Sequence[str] | None = None) -> float | None:
    """CV over settings of the mean over groups."""
    return variation(
        [each.mean for each in one.levels if settings is None or each.setting in settings], 0
    )


def cv_cases(studies: Studies, names: Sequence[str], factor: str, metric: str) -> dict[Case, float]:
    """The CV of a factor, over the settings that the paper would take, in every group of some
    studies.
    """
    found: dict[Case, float] = {}
    for name in names:
        one = effect(studies, name, factor, metric)
        if one is not None:
            found |= {
                (name, group): value for group, value in cvs(one, paper_settings(name, one)).items()
            }
    return found


def corrected(
    studies: Studies, names: Sequence[str], factor: str, metric: str
) -> dict[Case, float]:
    """`cv_cases` with the part that is noise taken out: sqrt(CV^2 - noise^2), 0 where noise is all
    there is.
    """
    found: dict[Case, float] = {}
    for (name, group), value in cv_cases(studies, names, factor, metric).items():
        one = effect(studies, name, factor, metric)
        floor = noise(one, paper_settings(name, one), group) if one is not None else 0.0
        found[name, group] = sqrt(max(value**2 - floor**2, 0.0))
    return found


def paper_settings(name: str, one: Effect) -> list[str] | None:
    """The settings that the paper's CV of a factor is over; None: all."""
    if one.factor == "stopwords":
        return stop_settings(name, one)
    return corpora(one, original(one)) if one.factor == "idf" else None


def original(one: Effect) -> str:
    """The paper's original idf corpus: both sides for MoverScore, the references for BERTScore."""
    both = level(one, "each-side") is not None and one.metric.startswith("moverscore")
    return "each-side" if both else "references"


def by_language(cases: Mapping[Case, float]) -> dict[Case, float]:
    """Cases as the paper's figures have them: into English the mean over pairs of a data set, else
    each pair.
    """
    found: dict[Case, list[float]] = {}
    for (name, group), value in cases.items():
        found.setdefault((name[:5], "x-en" if group.endswith("-en") else group), []).append(value)
    return {case: sum(values) / len(values) for case, values in found.items()}


def rds(
    studies: Studies, names: Sequence[str], factor: str, metric: str, pair: tuple[str, str]
) -> dict[Case, float]:
    """RD in percent of one setting against another (`original`: the paper's own corpus), by
    group.
    """
    found: dict[Case, float] = {}
    for name in names:
        one = effect(studies, name, factor, metric)
        if one is None:
            continue
        first, base = (level(one, original(one) if each == "original" else each) for each in pair)
        for group in one.spreads if first and base else ():
            value = relative(first.values[group], base.values[group]) if first and base else None
            if value is not None:
                found[name, group] = value
    return found


def sign_test(more: int, less: int) -> float:
    """Two-sided probability of a split as uneven as this if both directions were as likely."""
    n, k = more + less, max(more, less)
    return min(1.0, 2 * sum(comb(n, i) for i in range(k, n + 1)) / 2**n) if n else 1.0


def directed(differences: Iterable[float]) -> tuple[str, str]:
    """Whether differences are above 0 more often than chance would have it, with the count."""
    values = list(differences)
    more, less = sum(one > 0 for one in values), sum(one < 0 for one in values)
    if not values:
        return NOT_RUN, ""
    p = sign_test(more, less)
    mark = UNDECIDED if p > SURE else SEEN if more > less else NOT_SEEN
    return mark, f"{more} of {len(values)} (sign test p = {p:.2g})"


def settled(cases: Sequence[bool | None]) -> tuple[str, str]:
    """Seen where more than half of the cases hold, not seen where more than half fail; None: noise
    hides which.
    """
    held, failed = sum(one is True for one in cases), sum(one is False for one in cases)
    if not cases:
        return NOT_RUN, ""
    mark = SEEN if 2 * held > len(cases) else NOT_SEEN if 2 * failed > len(cases) else UNDECIDED
    hidden = len(cases) - held - failed
    return mark, f"{held} of {len(cases)} hold, {failed} fail" + (
        f", {hidden} hidden by noise" if hidden else ""
    )


def below(raw: float, real: float, most: float) -> bool | None:
    """Whether a spread is below a bound: noise only adds, so the raw one shows that it is, the
    corrected that not.
    """
    return True if raw < most else False if real >= most else None


def above(raw: float, real: float, least: float) -> bool | None:
    """Whether a spread is above a bound."""
    return True if real > least else False if raw <= least else None


def percent(value: float | None, digits: int = 2) -> str:
    """A percentage as the page prints it."""
    return "–" if value is None else f"{round(value, digits) + 0.0:.{digits}f} %"


def average(values: Iterable[float]) -> float | None:
    """The mean; None of nothing."""
    return mean_of(list(values))


def shown(setting: str) -> str:
    """A setting as the page prints it: of a file its name without `.txt`; a joint one part by
    part.
    """
    name = Path(setting).name.removesuffix(".txt") if setting.endswith(".txt") else setting
    return {"lang": "spacy-{lang}", "en": "spacy-en"}.get(name, name)
