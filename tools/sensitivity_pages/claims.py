"""The claims of the paper's §5.1-5.4 and 6, each judged by a written rule, with its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sensitivity_pages.readings import (
    ENGLISH,
    NOT_RUN,
    NOT_SEEN,
    OTHERS,
    SEEN,
    SEGMENTS,
    SUMMARIES,
    SYSTEMS,
    THREE,
    UNDECIDED,
    Case,
    Finding,
    Studies,
    average,
    average_by_language,
    cv_of_mean,
    find_effect,
    find_level,
    is_above,
    is_below,
    judge_direction,
    judge_majority,
    original_corpus,
    paper_settings,
    read_corrected_cvs,
    read_cvs,
    read_rds,
    show_percent,
    show_setting,
    standard_error,
)

MOVER, MOVER2, BERT = THREE
FACTORS = ("stopwords", "idf", "subwords", "punctuation")


@dataclass(frozen=True)
class Claim:
    """A claim: its section of the paper, its text, and the function that judges it."""

    section: str
    text: str
    judge: Callable[[Studies], Finding]


def _list_cases(cases: dict[Case, float]) -> str:
    """List cases with their values."""
    return ", ".join(
        f"{name} {group} {show_percent(value)}" for (name, group), value in cases.items()
    )


def _raw_and_corrected(
    studies: Studies, factor: str
) -> tuple[dict[Case, float], dict[Case, float]]:
    """Return the CV of MoverScore-1 by data set and language, raw and without noise."""
    raw, real = (
        read_values(studies, SEGMENTS, factor, MOVER)
        for read_values in (read_cvs, read_corrected_cvs)
    )
    return average_by_language(raw), average_by_language(real)


def _list_with_noise(raw: dict[Case, float], real: dict[Case, float]) -> str:
    """List cases with their CV, raw and without noise."""
    return ", ".join(
        f"{n} {g} {show_percent(v)} ({show_percent(real[n, g])})" for (n, g), v in raw.items()
    )


def _judge_stopwords_range(studies: Studies) -> Finding:
    """Judge whether most CVs of stopwords are between 2 and 4 %."""
    raw, real = _raw_and_corrected(studies, "stopwords")
    verdicts: list[bool | None] = []
    for case, value in raw.items():
        low, high = is_above(value, real[case], 2), is_below(value, real[case], 4)
        verdicts.append(
            False
            if low is False or high is False
            else None
            if low is None or high is None
            else True
        )
    mark, count = judge_majority(verdicts)
    return Finding(mark, f"{count}; CV (without noise): {_list_with_noise(raw, real)}")


def _judge_russian(studies: Studies) -> Finding:
    """Judge whether the CV of stopwords is above 10 % for Russian on WMT17."""
    raw, real = _raw_and_corrected(studies, "stopwords")
    russian = [case for case in raw if case[1] == "en-ru"]
    mark, _ = judge_majority(
        [is_above(raw[case], real[case], 10) for case in russian if case[0] == "wmt17"]
    )
    return Finding(mark, _list_with_noise({case: raw[case] for case in russian}, real))


def _judge_more_sensitive(
    factor: str, first: str, second: str, names: Sequence[str], group: str = ""
) -> Callable[..., Finding]:
    """Return a judge of whether the first metric's CV is above the second's, group by group."""

    def judge(studies: Studies) -> Finding:
        more, less = (read_cvs(studies, names, factor, metric) for metric in (first, second))
        common = [case for case in more if case in less and (not group or case[1] == group)]
        mark, count = judge_direction(more[case] - less[case] for case in common)
        means = [average(cvs[case] for case in common) for cvs in (more, less)]
        details = (
            ", ".join(
                f"{show_percent(more[case])} against {show_percent(less[case])}" for case in common
            )
            if group
            else ""
        )
        text = (
            f"{first} {show_percent(means[0])}, {second} {show_percent(means[1])} on average; "
            f"larger in {count}"
        )
        return Finding(mark, f"{text}: {details}" if details else text)

    return judge


def _judge_none_is_best(names: Sequence[str]) -> Callable[..., Finding]:
    """Return a judge of whether no stopword list is the best setting."""

    def judge(studies: Studies) -> Finding:
        cases = [
            (name, group, metric, spread)
            for name in names
            for metric in (MOVER, BERT)
            if (effect := find_effect(studies, name, "stopwords", metric)) is not None
            for group, spread in effect.spreads.items()
        ]
        best = [case for case in cases if case[3].best == "none"]
        sure = sum(case[3].lead.sign > 0 for case in best)
        exceptions = ", ".join(
            f"{n} {g} {m}: {show_setting(s.best)}" for n, g, m, s in cases if s.best != "none"
        )
        beaten = sum(
            any(setting.versus[group].sign > 0 for setting in effect.levels)
            for name in names
            for metric in (MOVER, BERT)
            if (effect := find_effect(studies, name, "stopwords", metric)) is not None
            for group in effect.spreads
        )
        mark = NOT_RUN if not cases else SEEN if len(best) >= 0.9 * len(cases) else UNDECIDED
        mark = NOT_SEEN if beaten > 0.1 * len(cases) else mark
        text = (
            f"best in {len(best)} of {len(cases)} cases ({sure} beyond noise), beaten beyond "
            f"noise in {beaten}"
        )
        return Finding(mark, f"{text}; otherwise {exceptions}" if exceptions else text)

    return judge


def _judge_idf_helps(names: Sequence[str], *, stable: bool) -> Callable[..., Finding]:
    """Return a judge of whether turning idf off makes agreement worse.

    With `stable` false: whether it does so less often than into English.
    """

    def judge(studies: Studies) -> Finding:
        both = read_rds(studies, names, "idf", MOVER, ("off", "original"))
        references = read_rds(studies, names, "idf", MOVER, ("off", "references"))
        mark, count = judge_direction(-rd for rd in both.values())
        negative = sum(rd < 0 for rd in references.values())
        text = (
            f"RD(off, each side) below 0 in {count}, mean {show_percent(average(both.values()))}; "
            f"with idf from the "
        )
        text += f"references in {negative} of {len(references)}, "
        text += f"mean {show_percent(average(references.values()))}"
        if stable:
            return Finding(mark, text)
        english = read_rds(studies, ENGLISH, "idf", MOVER, ("off", "original"))
        if not both or not english:
            return Finding(NOT_RUN, text)
        share, base = (
            sum(rd < 0 for rd in rds_of.values()) / len(rds_of) for rds_of in (both, english)
        )
        spreads = [max(rds_of.values()) - min(rds_of.values()) for rds_of in (both, english)]
        text += (
            f"; into English {show_percent(100 * base, 0)} below 0. From "
            f"{show_percent(min(both.values()))} to "
        )
        text += f"{show_percent(max(both.values()))}, "
        text += f"into English {show_percent(min(english.values()))} to "
        text += show_percent(max(english.values()))
        return Finding(SEEN if share < base and spreads[0] > spreads[1] else NOT_SEEN, text)

    return judge


def _judge_small_rd(factor: str, pair: tuple[str, str], most: float) -> Callable[..., Finding]:
    """Return a judge of whether most relative differences are below a bound."""

    def judge(studies: Studies) -> Finding:
        cases = _read_rds_with_errors(studies, SEGMENTS, factor, pair)
        verdicts = [
            is_below(abs(rd), abs(rd) - 1.96 * error_of_rd, most)
            for rd, error_of_rd in cases.values()
        ]
        large = {case: rd for case, (rd, _) in cases.items() if abs(rd) >= most}
        mark, count = judge_majority(verdicts)
        return Finding(
            mark, f"{count}; {most:g} % or more: {_list_cases(large)}" if large else count
        )

    return judge


def _read_rds_with_errors(
    studies: Studies, names: Sequence[str], factor: str, pair: tuple[str, str]
) -> dict[Case, tuple[float, float]]:
    """Return RD of MoverScore-1 in percent with the standard error of the first setting."""
    cases = {}
    for (name, group), value in read_rds(studies, names, factor, MOVER, pair).items():
        effect = find_effect(studies, name, factor, MOVER)
        first = find_level(effect, pair[0]) if effect is not None else None
        if effect is not None and first is not None:
            cases[name, group] = (
                value,
                100 * standard_error(first, group) / effect.default.values[group],
            )
    return cases


def _judge_turkish_punctuation(studies: Studies) -> Finding:
    """Judge whether punctuation moves Turkish by more than 3 %."""
    cases = _read_rds_with_errors(studies, OTHERS, "punctuation", ("keep", "drop"))
    turkish = {case: case_values for case, case_values in cases.items() if case[1] == "en-tr"}
    mark, count = judge_majority(
        [is_above(abs(rd), abs(rd) - 1.96 * error_of_rd, 3) for rd, error_of_rd in turkish.values()]
    )
    return Finding(mark, f"{count}: {_list_cases({case: rd for case, (rd, _) in turkish.items()})}")


def _judge_idf_corpora(studies: Studies) -> Finding:
    """Judge whether the CV over idf corpora is mostly below 1 %."""
    raw, real = _raw_and_corrected(studies, "idf")
    mark, count = judge_majority([is_below(raw[case], real[case], 1) for case in raw])
    return Finding(mark, f"{count}; CV (without noise): {_list_with_noise(raw, real)}")


def _judge_original_corpus(metric: str, *, equal: bool) -> Callable[..., Finding]:
    """Return a judge of whether the original idf corpus beats random corpora."""

    def judge(studies: Studies) -> Finding:
        leads: list[float] = []
        against = ""
        for name in ENGLISH:
            effect = find_effect(studies, name, "idf", metric)
            original_level = (
                find_level(effect, original_corpus(effect)) if effect is not None else None
            )
            if effect is None or original_level is None:
                continue
            against = original_level.setting
            random_levels = [
                random_level
                for random_level in effect.levels
                if random_level.setting.startswith("random-")
            ]
            leads += [
                original_level.values[g]
                - sum(random_level.values[g] for random_level in random_levels) / len(random_levels)
                for g in effect.spreads
            ]
        mark, count = judge_direction(leads)
        text = (
            f"{against} above the mean of four random corpora in {count}, by "
            f"{average(leads) or 0.0:+.4f} on average"
        )
        if equal and leads:
            mark = SEEN if abs(average(leads) or 0.0) < 0.005 else NOT_SEEN
            text += " (equal: within .005)"
        return Finding(mark, text)

    return judge


def _judge_large_corpora(studies: Studies) -> Finding:
    """Judge whether large corpora do not improve MoverScore-1."""
    parts, signs = [], []
    for name in ENGLISH:
        effect = find_effect(studies, name, "idf", MOVER)
        large_level = (
            next(
                (
                    candidate
                    for candidate in effect.levels
                    if candidate.setting.startswith("corpora/")
                ),
                None,
            )
            if effect
            else None
        )
        original_level = find_level(effect, original_corpus(effect)) if effect else None
        if effect is None or large_level is None or original_level is None:
            continue
        versus = large_level.versus["mean"]
        groups = sum(large_level.values[g] > original_level.values[g] for g in effect.spreads)
        signs.append(versus.sign)
        parts.append(
            f"{name}: {large_level.mean:.4f} against {original_level.mean:.4f} "
            f"({original_level.setting}; above it in {groups} "
            f"of "
            f"{len(effect.spreads)} pairs) and {effect.default.mean:.4f} (references; difference "
            f"{versus.difference:+.4f} "
            f"[{versus.low:+.4f}, {versus.high:+.4f}])"
        )
    if not parts:
        return Finding(NOT_RUN, "")
    return Finding(SEEN if all(sign <= 0 for sign in signs) else NOT_SEEN, "; ".join(parts))


def _judge_subwords(studies: Studies) -> Finding:
    """Judge the CV of subwords: below 2 % but above 4 % for Turkish and Russian."""
    raw, real = (_average_over_years(cases) for cases in _raw_and_corrected(studies, "subwords"))
    high = ("en-tr", "en-ru")
    text = "CV (without noise), mean over data sets: "
    text += ", ".join(
        f"{group} {show_percent(raw[group])} ({show_percent(real[group])})" for group in raw
    )
    if any(group not in raw for group in high):
        return Finding(NOT_RUN, text)
    low = judge_majority(
        [is_below(raw[group], real[group], 2) for group in raw if group not in high]
    )[0]
    return Finding(
        _join_marks(
            [low, *(judge_majority([is_above(raw[group], real[group], 4)])[0] for group in high)]
        ),
        text,
    )


def _average_over_years(cases: dict[Case, float]) -> dict[str, float]:
    """Return the mean over data sets per language."""
    languages: dict[str, list[float]] = {}
    for (_, group), value in cases.items():
        languages.setdefault(group, []).append(value)
    return {group: sum(values) / len(values) for group, values in languages.items()}


def _judge_default_is_best(names: Sequence[str], *, claimed: bool) -> Callable[..., Finding]:
    """Return a judge of how often the default is the best setting."""

    def judge(studies: Studies) -> Finding:
        effects = [
            effect
            for name in names
            if (effect := find_effect(studies, name, "subwords+punctuation", MOVER)) is not None
        ]
        bests = Counter(spread.best for effect in effects for spread in effect.spreads.values())
        total = sum(bests.values())
        if not total:
            return Finding(NOT_RUN, "")
        count_of_default = bests["first+drop"]
        counts = ", ".join(f"{setting} {count}" for setting, count in bests.most_common())
        holds = 2 * count_of_default > total if claimed else 4 * count_of_default <= total
        return Finding(
            SEEN if holds else NOT_SEEN,
            f"first+drop best in {count_of_default} of {total}: {counts}",
        )

    return judge


def _judge_system_level(
    pairs: Sequence[tuple[Sequence[str], str]],
) -> Callable[[Studies], Finding]:
    """Return a judge of whether systems are less sensitive than segments.

    `pairs` name the studies of segments and the study of the same systems.
    """

    def judge(studies: Studies) -> Finding:
        text, marks = [], []
        for factor in ("stopwords", "idf", "subwords"):
            differences = _pair_levels(studies, pairs, factor)
            mark, count = judge_direction(
                segment_cv - system_cv for segment_cv, system_cv in differences
            )
            marks.append(mark)
            means = [average(difference[k] for difference in differences) for k in (0, 1)]
            text.append(
                f"{factor} {show_percent(means[0])} (segments), {show_percent(means[1])} "
                f"(systems), smaller in {count}"
            )
        return Finding(_join_marks(marks), "; ".join(text))

    return judge


def _pair_levels(
    studies: Studies, pairs: Sequence[tuple[Sequence[str], str]], factor: str
) -> list[tuple[float, float]]:
    """Return the CVs of segments and systems, means over metrics, group by group."""
    differences = []
    for segment_names, system in pairs:
        low, high = (
            [read_cvs(studies, names, factor, m) for m in THREE]
            for names in ([system], segment_names)
        )
        for group in dict.fromkeys(case[1] for cvs in high for case in cvs):
            pair = [
                average(v for cvs in side for case, v in cvs.items() if case[1] == group)
                for side in (high, low)
            ]
            if pair[0] is not None and pair[1] is not None:
                differences.append((pair[0], pair[1]))
    return differences


def _judge_summaries(studies: Studies) -> Finding:
    """Judge whether summaries are less sensitive than segments."""
    text, marks = [], []
    for factor in ("stopwords", "idf", "subwords"):
        sides = [_cv_of_means(studies, names, factor) for names in (ENGLISH, SUMMARIES)]
        if not sides[0] or not sides[1]:
            return Finding(NOT_RUN, "")
        means = [average(cvs.values()) for cvs in sides]
        text.append(f"{factor} {show_percent(means[0])} (WMT), {show_percent(means[1])} (TAC 2008)")
        marks.append(SEEN if (means[1] or 0) < (means[0] or 0) else NOT_SEEN)
    return Finding(_join_marks(marks), "CV of the mean over groups: " + "; ".join(text))


def _cv_of_means(studies: Studies, names: Sequence[str], factor: str) -> dict[Case, float]:
    """Return the CV of the mean over groups, by study and metric."""
    cvs: dict[Case, float] = {}
    for name in names:
        for metric in THREE:
            effect = find_effect(studies, name, factor, metric)
            value = cv_of_mean(effect, paper_settings(name, effect)) if effect is not None else None
            if value is not None:
                cvs[name, metric] = value
    return cvs


def _join_marks(marks: Sequence[str]) -> str:
    """Return the mark that all claims share, or "undecided"."""
    if not marks or NOT_RUN in marks:
        return NOT_RUN
    return marks[0] if len(set(marks)) == 1 else UNDECIDED


def _judge_stopwords_matter_most(studies: Studies) -> Finding:
    """Judge whether stopwords have the largest mean CV, mostly for the worse."""
    means = {
        factor: average(v for m in THREE for v in read_cvs(studies, SEGMENTS, factor, m).values())
        for factor in FACTORS
    }
    measured = {factor: value for factor, value in means.items() if value is not None}
    worse, total, sure = 0, 0, 0
    for name in SEGMENTS:
        for metric in THREE:
            effect = find_effect(studies, name, "stopwords", metric)
            contrasts = (
                [
                    setting.versus[g]
                    for setting in (effect.levels if effect else ())
                    if not setting.default
                    for g in effect.spreads
                ]
                if effect
                else []
            )
            worse += sum(contrast.difference < 0 for contrast in contrasts)
            sure += sum(contrast.sign < 0 for contrast in contrasts)
            total += len(contrasts)
    order = " > ".join(
        f"{f} {show_percent(v)}" for f, v in sorted(measured.items(), key=lambda item: -item[1])
    )
    text = (
        f"mean CV of the three metrics: {order}; a list is for the worse in {worse} of {total} "
        f"({sure} beyond noise)"
    )
    most = max(measured, key=lambda factor: measured[factor], default="")
    return Finding(
        NOT_RUN if not total else SEEN if most == "stopwords" and 2 * worse > total else NOT_SEEN,
        text,
    )


def _judge_outliers(studies: Studies) -> Finding:
    """Judge whether Turkish, Russian and German are often the extremes."""
    tops = []
    for factor in ("stopwords", "idf", "subwords"):
        for year in ("wmt17", "wmt18"):
            cases = {
                case: value
                for case, value in _raw_and_corrected(studies, factor)[1].items()
                if case[0] == year
            }
            if any(group in ("en-tr", "en-ru", "en-de") for _, group in cases):
                (_, group), value = max(cases.items(), key=lambda item: item[1])
                tops.append(
                    (
                        f"{year} {factor} {group} {show_percent(value)}",
                        group in ("en-tr", "en-ru", "en-de"),
                    )
                )
    return Finding(
        judge_majority([holds for _, holds in tops])[0],
        "largest CV without noise: " + ", ".join(text for text, _ in tops),
    )


def _judge_aggregation(studies: Studies) -> Finding:
    """Judge whether preprocessing moves agreement more than the alignment does."""
    text, verdicts = [], []
    for name in ("crossing-en", "crossing-out"):
        for crossing in studies[name].crossings if name in studies else ():
            share = crossing.shares.get("transport", 0.0)
            rest = sum(crossing.shares.values()) - share
            heavier_groups, cases = crossing.heavier()
            verdicts.append(2 * heavier_groups > cases)
            text.append(
                f"{name}, {crossing.metric}: preprocessing {show_percent(100 * rest, 1)}, "
                f"aggregation "
                f"{show_percent(100 * share, 1)}, "
                f"interactions {show_percent(100 * crossing.residual, 1)} of the variance, "
                f"heavier in {heavier_groups} "
                f"of {cases} groups"
            )
    return Finding(
        NOT_RUN if not verdicts else SEEN if all(verdicts) else UNDECIDED, "; ".join(text)
    )


def _judge_kendall(studies: Studies) -> Finding:
    """Judge whether Kendall's tau varies most of three statistics with the stop word list."""
    return _compare_statistics(studies, lambda cvs: cvs[2] == max(cvs))


def _judge_pearson(studies: Studies) -> Finding:
    """Judge whether Pearson's r varies least of three statistics with the stop word list."""
    return _compare_statistics(studies, lambda cvs: cvs[0] == min(cvs))


def _compare_statistics(studies: Studies, holds: Callable[[Sequence[float]], bool]) -> Finding:
    """Judge the CVs of Pearson's r, Spearman's rho and Kendall's tau, in this order."""
    text: list[str] = []
    verdicts: list[bool | None] = []
    for human in SUMMARIES:
        for metric in (MOVER, BERT):
            values = [
                cv_of_mean(effect, paper_settings(human, effect))
                for ending in ("", "-spearman", "-kendall")
                if (effect := find_effect(studies, human + ending, "stopwords", metric)) is not None
            ]
            numbers = [value for value in values if value is not None]
            if len(numbers) == 3:
                verdicts.append(holds(numbers))
                percentages = ", ".join(show_percent(value) for value in numbers)
                text.append(f"{human.removeprefix('tac08-')}, {metric}: {percentages}")
    mark, count = judge_majority(verdicts)
    return Finding(mark, f"CV of the mean by r, ρ, τ: {'; '.join(text)} ({count})")


def _judge_pyramid(studies: Studies) -> Finding:
    """Judge whether MoverScore-1 agrees best on Pyramid with its own stop word list."""
    text, marks = [], []
    for ending in ("", "-spearman", "-kendall"):
        effect = find_effect(studies, SUMMARIES[1] + ending, "stopwords", MOVER)
        own = find_level(effect, "moverscore") if effect is not None else None
        if effect is None or own is None:
            continue
        best = max(effect.levels, key=lambda level: level.mean)
        contrast = own.versus["mean"]
        marks.append(
            SEEN
            if contrast.sign > 0 and best.mean == own.mean
            else NOT_SEEN
            if contrast.sign < 0
            else UNDECIDED
        )
        bounds = "" if contrast.low is None else f" [{contrast.low:+.4f}, {contrast.high:+.4f}]"
        text.append(
            f"{studies[SUMMARIES[1] + ending].statistic}: with the list {own.mean:.4f}, "
            f"{contrast.difference:+.4f}{bounds} over none; best {show_setting(best.setting)}"
        )
    return Finding(_join_marks(marks), "; ".join(text))


def _judge_bertscore_keeps_all(studies: Studies) -> Finding:
    """Judge whether no stop word list makes BERTScore better, on the mean of any study."""
    text, gains, total = [], 0, 0
    for name in (*SEGMENTS, *SYSTEMS, *SUMMARIES):
        effect = find_effect(studies, name, "stopwords", BERT)
        for setting in effect.levels if effect is not None else ():
            if not setting.default:
                total += 1
                gains += setting.versus["mean"].sign > 0
                if setting.versus["mean"].sign > 0:
                    text.append(f"{name} {show_setting(setting.setting)}")
    count = f"a list is better beyond noise in {gains} of {total} (study, list)"
    return Finding(
        NOT_RUN if not total else SEEN if not gains else NOT_SEEN,
        f"{count}: {', '.join(text)}" if text else count,
    )


CLAIMS = (
    Claim("§5.1", "CV of stopwords mostly 2–4 % (MoverScore-1, segments)", _judge_stopwords_range),
    Claim("§5.1", "for Russian on WMT17 the CV of stopwords is above 10 %", _judge_russian),
    Claim(
        "§5.1",
        "MoverScore-2 is slightly more sensitive to stopwords than MoverScore-1",
        _judge_more_sensitive("stopwords", MOVER2, MOVER, SEGMENTS),
    ),
    Claim(
        "§5.1",
        "BERTScore is much more sensitive to stopwords than MoverScore-1 in English",
        _judge_more_sensitive("stopwords", BERT, MOVER, ENGLISH),
    ),
    Claim(
        "§5.1", "… and in Chinese", _judge_more_sensitive("stopwords", BERT, MOVER, OTHERS, "en-zh")
    ),
    Claim(
        "A.7",
        "into English no list is best but in one case of 42 (segments)",
        _judge_none_is_best(ENGLISH),
    ),
    Claim(
        "A.7",
        "in other languages no list is best, but for Turkish and once for Finnish",
        _judge_none_is_best(OTHERS),
    ),
    Claim("A.7", "Kendall's τ varies most with the stop word list (TAC)", _judge_kendall),
    Claim("A.7", "… and Pearson's r least", _judge_pearson),
    Claim("A.7", "on Pyramid MoverScore-1 is best with its own stop word list", _judge_pyramid),
    Claim("A.7", "BERTScore never gains from removing stop words", _judge_bertscore_keeps_all),
    Claim(
        "§5.2",
        "idf helps MoverScore-1 in English (all but one pair)",
        _judge_idf_helps(ENGLISH, stable=True),
    ),
    Claim("§5.2, 5.4", "… less stably in other languages", _judge_idf_helps(OTHERS, stable=False)),
    Claim(
        "§5.2",
        "most |RD(off, original)| are below 5 %",
        _judge_small_rd("idf", ("off", "original"), 5.0),
    ),
    Claim("§5.2", "CV over idf corpora mostly below 1 %", _judge_idf_corpora),
    Claim(
        "§5.2",
        "BERTScore is less sensitive to the idf corpus than MoverScore-1",
        _judge_more_sensitive("idf", MOVER, BERT, ENGLISH),
    ),
    Claim("§5.2", "… and than MoverScore-2", _judge_more_sensitive("idf", MOVER2, BERT, ENGLISH)),
    Claim(
        "§5.2",
        "the original corpus beats random ones for MoverScore-1 in English",
        _judge_original_corpus(MOVER, equal=False),
    ),
    Claim(
        "§5.2",
        "… and is as good as they are for BERTScore",
        _judge_original_corpus(BERT, equal=True),
    ),
    Claim("§5.2", "large corpora do not improve MoverScore-1", _judge_large_corpora),
    Claim(
        "§5.3",
        "most |RD(keep, drop)| of punctuation are below 1 %",
        _judge_small_rd("punctuation", ("keep", "drop"), 1.0),
    ),
    Claim("§5.3", "… but above 3 % for Turkish", _judge_turkish_punctuation),
    Claim(
        "§5.3",
        "CV of subwords below 2 % for most languages, above 4 % for Turkish and Russian",
        _judge_subwords,
    ),
    Claim(
        "§5.3",
        "the default (first subword, no punctuation) is best for English",
        _judge_default_is_best(ENGLISH, claimed=True),
    ),
    Claim(
        "§5.3",
        "… and rarely in other languages (2 of 16)",
        _judge_default_is_best(OTHERS, claimed=False),
    ),
    Claim(
        "§5.4",
        "systems are less sensitive than segments",
        _judge_system_level([([name], f"{name}-systems") for name in ENGLISH]),
    ),
    Claim(
        "A.7",
        "… in other languages too",
        _judge_system_level([(OTHERS[:3], "wmt17-out-systems")]),
    ),
    Claim("§5.4", "summaries are less sensitive than segments", _judge_summaries),
    Claim(
        "§5.4",
        "MoverScore-2 is more sensitive to the idf corpus than MoverScore-1",
        _judge_more_sensitive("idf", MOVER2, MOVER, SEGMENTS),
    ),
    Claim("§5.4", "Turkish, Russian and German are often the extremes", _judge_outliers),
    Claim("§5.4", "stopwords matter most, and mostly for the worse", _judge_stopwords_matter_most),
    Claim(
        "§6",
        "preprocessing, not the alignment (greedy or transport), may be what matters",
        _judge_aggregation,
    ),
)
