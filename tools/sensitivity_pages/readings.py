"""Figures that claims and pages read from kept studies: spreads, differences and counts."""

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
    """The verdict on a claim (seen, not seen, undecided or not run) and its figures."""

    mark: str
    figures: str


def find_effect(studies: Studies, name: str, factor: str, metric: str) -> Effect | None:
    """Return the effect of a factor on a metric in a study, or None where it was not run."""
    effects = studies[name].of(factor) if name in studies else []
    return next((candidate for candidate in effects if candidate.metric == metric), None)


def find_level(effect: Effect, setting: str) -> Level | None:
    """Return a setting of an effect."""
    return next((candidate for candidate in effect.levels if candidate.setting == setting), None)


def choose_stopword_settings(name: str, effect: Effect) -> list[str]:
    """Return the stopword settings of the paper: its four lists for English, all for others."""
    settings = [setting_level.setting for setting_level in effect.levels]
    return [setting for setting in settings if setting in LISTS] if "en" in settings else settings


def choose_corpora(effect: Effect, original_name: str) -> list[str]:
    """Return the idf settings of the paper's CV: the original corpus and the random ones."""
    return [
        setting_level.setting
        for setting_level in effect.levels
        if setting_level.setting == original_name or setting_level.setting.startswith("random-")
    ]


def read_setting_cvs(effect: Effect, settings: Sequence[str] | None = None) -> dict[str, float]:
    """Return the CV in percent over some settings (default: all) by group, where defined."""
    chosen = [
        setting_level
        for setting_level in effect.levels
        if settings is None or setting_level.setting in settings
    ]
    values = {
        group: variation([setting_level.values[group] for setting_level in chosen], 0)
        for group in effect.spreads
    }
    return {group: value for group, value in values.items() if value is not None}


def noise_cv(effect: Effect, settings: Sequence[str] | None, group: str) -> float:
    """Return the CV in percent that resampling alone would give the settings.

    sqrt(mean s^2 / 2) over their mean; s is the standard error of a setting against the default,
    from its interval.
    """
    chosen = [
        setting_level
        for setting_level in effect.levels
        if settings is None or setting_level.setting in settings
    ]
    mean = sum(setting_level.values[group] for setting_level in chosen) / len(chosen)
    errors = [
        standard_error(setting_level, group)
        for setting_level in chosen
        if not setting_level.default
    ]
    return (
        100 * sqrt(sum(error**2 for error in errors) / 2 / max(len(errors), 1)) / mean
        if mean > 0
        else 0.0
    )


def standard_error(setting_level: Level, group: str) -> float:
    """Return the standard error against the default: a 95 % interval has 3.92 of them."""
    versus = setting_level.versus[group]
    return (
        (versus.high - versus.low) / 3.92
        if versus.low is not None and versus.high is not None
        else 0.0
    )


def cv_of_mean(effect: Effect, settings: Sequence[str] | None = None) -> float | None:
    """Return the CV over settings of the mean over groups."""
    return variation(
        [
            setting_level.mean
            for setting_level in effect.levels
            if settings is None or setting_level.setting in settings
        ],
        0,
    )


def read_cvs(studies: Studies, names: Sequence[str], factor: str, metric: str) -> dict[Case, float]:
    """Return the CV of a factor over the paper's settings, in every group of the studies."""
    cases: dict[Case, float] = {}
    for name in names:
        effect = find_effect(studies, name, factor, metric)
        if effect is not None:
            cases |= {
                (name, group): value
                for group, value in read_setting_cvs(effect, paper_settings(name, effect)).items()
            }
    return cases


def read_corrected_cvs(
    studies: Studies, names: Sequence[str], factor: str, metric: str
) -> dict[Case, float]:
    """Return `read_cvs` without noise: sqrt(CV^2 - noise^2), or 0 where noise explains all."""
    cases: dict[Case, float] = {}
    for (name, group), value in read_cvs(studies, names, factor, metric).items():
        effect = find_effect(studies, name, factor, metric)
        floor = noise_cv(effect, paper_settings(name, effect), group) if effect is not None else 0.0
        cases[name, group] = sqrt(max(value**2 - floor**2, 0.0))
    return cases


def paper_settings(name: str, effect: Effect) -> list[str] | None:
    """Return the settings that the paper's CV of a factor is over; None means all."""
    if effect.factor == "stopwords":
        return choose_stopword_settings(name, effect)
    return choose_corpora(effect, original_corpus(effect)) if effect.factor == "idf" else None


def original_corpus(effect: Effect) -> str:
    """Return the paper's idf corpus: both sides for MoverScore, references for BERTScore."""
    both = find_level(effect, "each-side") is not None and effect.metric.startswith("moverscore")
    return "each-side" if both else "references"


def average_by_language(cases: Mapping[Case, float]) -> dict[Case, float]:
    """Return the mean over pairs into English per data set, and each other pair by itself."""
    values_by_case: dict[Case, list[float]] = {}
    for (name, group), value in cases.items():
        values_by_case.setdefault(
            (name[:5], "x-en" if group.endswith("-en") else group), []
        ).append(value)
    return {case: sum(numbers) / len(numbers) for case, numbers in values_by_case.items()}


def read_rds(
    studies: Studies, names: Sequence[str], factor: str, metric: str, pair: tuple[str, str]
) -> dict[Case, float]:
    """Return RD in percent of one setting against another, by group.

    `original` stands for the paper's own idf corpus.
    """
    cases: dict[Case, float] = {}
    for name in names:
        effect = find_effect(studies, name, factor, metric)
        if effect is None:
            continue
        first, base = (
            find_level(
                effect,
                original_corpus(effect) if name_of_setting == "original" else name_of_setting,
            )
            for name_of_setting in pair
        )
        for group in effect.spreads if first and base else ():
            value = relative(first.values[group], base.values[group]) if first and base else None
            if value is not None:
                cases[name, group] = value
    return cases


def relative_means(effect: Effect, beginning: str, setting: str) -> float | None:
    """Return RD in percent of the mean of some settings against another, on the mean of groups."""
    means = [
        setting_level.mean
        for setting_level in effect.levels
        if setting_level.setting.startswith(beginning)
    ]
    base = find_level(effect, setting)
    return relative(sum(means) / len(means), base.mean) if means and base is not None else None


def sign_test(more: int, less: int) -> float:
    """Return the two-sided p-value of a split as uneven as this."""
    n, k = more + less, max(more, less)
    return min(1.0, 2 * sum(comb(n, i) for i in range(k, n + 1)) / 2**n) if n else 1.0


def judge_direction(differences: Iterable[float]) -> tuple[str, str]:
    """Judge by a sign test whether differences are mostly above 0; return mark and count."""
    values = list(differences)
    more, less = sum(value > 0 for value in values), sum(value < 0 for value in values)
    if not values:
        return NOT_RUN, ""
    p = sign_test(more, less)
    mark = UNDECIDED if p > SURE else SEEN if more > less else NOT_SEEN
    return mark, f"{more} of {len(values)} (sign test p = {p:.2g})"


def judge_majority(verdicts: Sequence[bool | None]) -> tuple[str, str]:
    """Return "seen" or "not seen" where more than half of the verdicts agree, with counts.

    A verdict of None means that noise hides which it is.
    """
    held, failed = (
        sum(verdict is True for verdict in verdicts),
        sum(verdict is False for verdict in verdicts),
    )
    if not verdicts:
        return NOT_RUN, ""
    mark = (
        SEEN if 2 * held > len(verdicts) else NOT_SEEN if 2 * failed > len(verdicts) else UNDECIDED
    )
    hidden = len(verdicts) - held - failed
    return mark, f"{held} of {len(verdicts)} hold, {failed} fail" + (
        f", {hidden} hidden by noise" if hidden else ""
    )


def is_below(raw: float, real: float, bound: float) -> bool | None:
    """Tell whether a spread is below a bound; None where noise hides it.

    Noise only adds: the raw spread can prove "below", the corrected spread can disprove it.
    """
    return True if raw < bound else False if real >= bound else None


def is_above(raw: float, real: float, bound: float) -> bool | None:
    """Tell whether a spread is above a bound; None where noise hides it."""
    return True if real > bound else False if raw <= bound else None


def show_percent(value: float | None, digits: int = 2) -> str:
    """Return a percentage as the page prints it."""
    return "–" if value is None else f"{round(value, digits) + 0.0:.{digits}f} %"


def average(values: Iterable[float]) -> float | None:
    """Return the mean, or None of nothing."""
    return mean_of(list(values))


def show_setting(setting: str) -> str:
    """Return a setting as the page prints it: a file by its name without `.txt`."""
    name = Path(setting).name.removesuffix(".txt") if setting.endswith(".txt") else setting
    return {"lang": "spacy-{lang}", "en": "spacy-en"}.get(name, name)
