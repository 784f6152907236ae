"""The claims of the paper's §5.1–5.4 and 6, each judged by a rule that is written down, with the
figures it went by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from readings import (
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
    above,
    average,
    below,
    by_language,
    corrected,
    cv_cases,
    cv_of_mean,
    directed,
    effect,
    error,
    level,
    original,
    paper_settings,
    percent,
    rds,
    settled,
    shown,
)

MOVER, MOVER2, BERT = THREE
FACTORS = ("stopwords", "idf", "subwords", "punctuation")


@dataclass(frozen=True)
class Claim:
    """A claim, where it stands in the paper, and what judges it."""

    where: str
    says: str
    judge: Callable[[Studies], Finding]


def _listed(cases: dict[Case, float]) -> str:
    return ", ".join(f"{name} {group} {percent(value)}" for (name, group), value in cases.items())


def _both(studies: Studies, factor: str) -> tuple[dict[Case, float], dict[Case, float]]:
    """The CV of MoverScore-1 by data set and language, as it is and without the part that is
    noise.
    """
    raw, real = (of(studies, SEGMENTS, factor, MOVER) for of in (cv_cases, corrected))
    return by_language(raw), by_language(real)


def _with_noise(raw: dict[Case, float], real: dict[Case, float]) -> str:
    return ", ".join(f"{n} {g} {percent(v)} ({percent(real[n, g])})" for (n, g), v in raw.items())


def _range_of_stopwords(studies: Studies) -> Finding:
    raw, real = _both(studies, "stopwords")
    cases: list[bool | None] = []
    for case, value in raw.items():
        low, high = above(value, real[case], 2), below(value, real[case], 4)
        cases.append(
            False
            if low is False or high is False
            else None
            if low is None or high is None
            else True
        )
    mark, count = settled(cases)
    return Finding(mark, f"{count}; CV (without noise): {_with_noise(raw, real)}")


def _russian(studies: Studies) -> Finding:
    raw, real = _both(studies, "stopwords")
    here = [case for case in raw if case[1] == "en-ru"]
    mark, _ = settled([above(raw[case], real[case], 10) for case in here if case[0] == "wmt17"])
    return Finding(mark, _with_noise({case: raw[case] for case in here}, real))


def _more_sensitive(
    factor: str, one: str, other: str, names: Sequence[str], group: str = ""
) -> Callable[..., Finding]:
    """Whether one metric's CV is above another's, group by group."""

    def judge(studies: Studies) -> Finding:
        more, less = (cv_cases(studies, names, factor, metric) for metric in (one, other))
        common = [case for case in more if case in less and (not group or case[1] == group)]
        mark, count = directed(more[case] - less[case] for case in common)
        means = [average(each[case] for case in common) for each in (more, less)]
        where = (
            ", ".join(f"{percent(more[case])} against {percent(less[case])}" for case in common)
            if group
            else ""
        )
        text = (
            f"{one} {percent(means[0])}, {other} {percent(means[1])} on average; larger in {count}"
        )
        return Finding(mark, f"{text}: {where}" if where else text)

    return judge


def _none_is_best(names: Sequence[str]) -> Callable[..., Finding]:
    def judge(studies: Studies) -> Finding:
        found = [
            (name, group, metric, spread)
            for name in names
            for metric in (MOVER, BERT)
            if (one := effect(studies, name, "stopwords", metric)) is not None
            for group, spread in one.spreads.items()
        ]
        best = [each for each in found if each[3].best == "none"]
        sure = sum(each[3].lead.sign > 0 for each in best)
        others = ", ".join(
            f"{n} {g} {m}: {shown(s.best)}" for n, g, m, s in found if s.best != "none"
        )
        beaten = sum(
            any(each.versus[group].sign > 0 for each in one.levels)
            for name in names
            for metric in (MOVER, BERT)
            if (one := effect(studies, name, "stopwords", metric)) is not None
            for group in one.spreads
        )
        mark = NOT_RUN if not found else SEEN if len(best) >= 0.9 * len(found) else UNDECIDED
        mark = NOT_SEEN if beaten > 0.1 * len(found) else mark
        text = (
            f"best in {len(best)} of {len(found)} cases ({sure} beyond noise), beaten beyond "
            f"noise in {beaten}"
        )
        return Finding(mark, f"{text}; otherwise {others}" if others else text)

    return judge


def _idf_helps(names: Sequence[str], *, stable: bool) -> Callable[..., Finding]:
    """Into English: off is worse than the original corpus; elsewhere: it is so less often."""

    def judge(studies: Studies) -> Finding:
        both = rds(studies, names, "idf", MOVER, ("off", "original"))
        ours = rds(studies, names, "idf", MOVER, ("off", "references"))
        mark, count = directed(-one for one in both.values())
        negative = sum(one < 0 for one in ours.values())
        text = (
            f"RD(off, each side) below 0 in {count}, mean {percent(average(both.values()))}; "
            f"with idf from the "
        )
        text += f"references in {negative} of {len(ours)}, mean {percent(average(ours.values()))}"
        if stable:
            return Finding(mark, text)
        english = rds(studies, ENGLISH, "idf", MOVER, ("off", "original"))
        if not both or not english:
            return Finding(NOT_RUN, text)
        share, base = (
            sum(one < 0 for one in each.values()) / len(each) for each in (both, english)
        )
        spread = [max(each.values()) - min(each.values()) for each in (both, english)]
        text += (
            f"; into English {percent(100 * base, 0)} below 0. From "
            f"{percent(min(both.values()))} to "
        )
        text += f"{percent(max(both.values()))}, into English {percent(min(english.values()))} to "
        text += percent(max(english.values()))
        return Finding(SEEN if share < base and spread[0] > spread[1] else NOT_SEEN, text)

    return judge


def _small_rd(factor: str, pair: tuple[str, str], most: float) -> Callable[..., Finding]:
    def judge(studies: Studies) -> Finding:
        cases = _rds_with_errors(studies, SEGMENTS, factor, pair)
        held = [below(abs(rd), abs(rd) - 1.96 * off, most) for rd, off in cases.values()]
        large = {case: rd for case, (rd, _) in cases.items() if abs(rd) >= most}
        mark, count = settled(held)
        return Finding(mark, f"{count}; {most:g} % or more: {_listed(large)}" if large else count)

    return judge


def _rds_with_errors(
    studies: Studies, names: Sequence[str], factor: str, pair: tuple[str, str]
) -> dict[Case, tuple[float, float]]:
    """RD of MoverScore-1 in percent, and its standard error: that of the first setting against the
    default.
    """
    found = {}
    for (name, group), value in rds(studies, names, factor, MOVER, pair).items():
        one = effect(studies, name, factor, MOVER)
        first = level(one, pair[0]) if one is not None else None
        if one is not None and first is not None:
            found[name, group] = value, 100 * error(first, group) / one.default.values[group]
    return found


def _turkish_punctuation(studies: Studies) -> Finding:
    cases = _rds_with_errors(studies, OTHERS, "punctuation", ("keep", "drop"))
    here = {case: one for case, one in cases.items() if case[1] == "en-tr"}
    mark, count = settled([above(abs(rd), abs(rd) - 1.96 * off, 3) for rd, off in here.values()])
    return Finding(mark, f"{count}: {_listed({case: rd for case, (rd, _) in here.items()})}")


def _corpora_matter_little(studies: Studies) -> Finding:
    raw, real = _both(studies, "idf")
    mark, count = settled([below(raw[case], real[case], 1) for case in raw])
    return Finding(mark, f"{count}; CV (without noise): {_with_noise(raw, real)}")


def _original_beats_random(metric: str, *, equal: bool) -> Callable[..., Finding]:
    def judge(studies: Studies) -> Finding:
        leads: list[float] = []
        against = ""
        for name in ENGLISH:
            one = effect(studies, name, "idf", metric)
            own = level(one, original(one)) if one is not None else None
            if one is None or own is None:
                continue
            against = own.setting
            drawn = [each for each in one.levels if each.setting.startswith("random-")]
            leads += [
                own.values[g] - sum(each.values[g] for each in drawn) / len(drawn)
                for g in one.spreads
            ]
        mark, count = directed(leads)
        text = (
            f"{against} above the mean of four random corpora in {count}, by "
            f"{average(leads) or 0.0:+.4f} on average"
        )
        if equal and leads:
            mark = SEEN if abs(average(leads) or 0.0) < 0.005 else NOT_SEEN
            text += " (equal: within .005)"
        return Finding(mark, text)

    return judge


def _large_corpora(studies: Studies) -> Finding:
    parts, marks = [], []
    for name in ENGLISH:
        one = effect(studies, name, "idf", MOVER)
        large = (
            next((each for each in one.levels if each.setting.startswith("corpora/")), None)
            if one
            else None
        )
        own = level(one, original(one)) if one else None
        if one is None or large is None or own is None:
            continue
        versus = large.versus["mean"]
        groups = sum(large.values[g] > own.values[g] for g in one.spreads)
        marks.append(versus.sign)
        parts.append(
            f"{name}: {large.mean:.4f} against {own.mean:.4f} ({own.setting}; above it in {groups} "
            f"of "
            f"{len(one.spreads)} pairs) and {one.default.mean:.4f} (references; difference "
            f"{versus.difference:+.4f} "
            f"[{versus.low:+.4f}, {versus.high:+.4f}])"
        )
    if not parts:
        return Finding(NOT_RUN, "")
    return Finding(SEEN if all(one <= 0 for one in marks) else NOT_SEEN, "; ".join(parts))


def _subwords(studies: Studies) -> Finding:
    raw, real = (_over_years(one) for one in _both(studies, "subwords"))
    high = ("en-tr", "en-ru")
    text = "CV (without noise), mean over data sets: "
    text += ", ".join(f"{group} {percent(raw[group])} ({percent(real[group])})" for group in raw)
    if any(group not in raw for group in high):
        return Finding(NOT_RUN, text)
    low = settled([below(raw[group], real[group], 2) for group in raw if group not in high])[0]
    return Finding(
        _joint([low, *(settled([above(raw[group], real[group], 4)])[0] for group in high)]), text
    )


def _over_years(cases: dict[Case, float]) -> dict[str, float]:
    languages: dict[str, list[float]] = {}
    for (_, group), value in cases.items():
        languages.setdefault(group, []).append(value)
    return {group: sum(each) / len(each) for group, each in languages.items()}


def _default_is_best(names: Sequence[str], *, claimed: bool) -> Callable[..., Finding]:
    def judge(studies: Studies) -> Finding:
        effects = [
            one
            for name in names
            if (one := effect(studies, name, "subwords+punctuation", MOVER)) is not None
        ]
        bests = Counter(spread.best for one in effects for spread in one.spreads.values())
        total = sum(bests.values())
        if not total:
            return Finding(NOT_RUN, "")
        own = bests["first+drop"]
        listed = ", ".join(f"{setting} {count}" for setting, count in bests.most_common())
        held = 2 * own > total if claimed else 4 * own <= total
        return Finding(SEEN if held else NOT_SEEN, f"first+drop best in {own} of {total}: {listed}")

    return judge


def _less_at_system_level(studies: Studies) -> Finding:
    text, marks = [], []
    for factor in ("stopwords", "idf", "subwords"):
        differences = []
        for segment, system in zip(ENGLISH, SYSTEMS, strict=True):
            low, high = (
                [cv_cases(studies, [name], factor, m) for m in THREE] for name in (system, segment)
            )
            for group in dict.fromkeys(case[1] for each in high for case in each):
                pair = [average(v for each in side for case, v in each.items() if case[1] == group)
                        for side in (high, low)]  # fmt: skip
                if pair[0] is not None and pair[1] is not None:
                    differences.append((pair[0], pair[1]))
        mark, count = directed(one - other for one, other in differences)
        marks.append(mark)
        means = [average(each[k] for each in differences) for k in (0, 1)]
        text.append(
            f"{factor} {percent(means[0])} (segments), {percent(means[1])} (systems), smaller in "
            f"{count}"
        )
    return Finding(_joint(marks), "; ".join(text))


def _less_on_summaries(studies: Studies) -> Finding:
    text, held = [], []
    for factor in ("stopwords", "idf", "subwords"):
        both = [_of_mean(studies, names, factor) for names in (ENGLISH, SUMMARIES)]
        if not both[0] or not both[1]:
            return Finding(NOT_RUN, "")
        means = [average(each.values()) for each in both]
        text.append(f"{factor} {percent(means[0])} (WMT), {percent(means[1])} (TAC 2008)")
        held.append(SEEN if (means[1] or 0) < (means[0] or 0) else NOT_SEEN)
    return Finding(_joint(held), "CV of the mean over groups: " + "; ".join(text))


def _of_mean(studies: Studies, names: Sequence[str], factor: str) -> dict[Case, float]:
    found: dict[Case, float] = {}
    for name in names:
        for metric in THREE:
            one = effect(studies, name, factor, metric)
            value = cv_of_mean(one, paper_settings(name, one)) if one is not None else None
            if value is not None:
                found[name, metric] = value
    return found


def _joint(marks: Sequence[str]) -> str:
    if not marks or NOT_RUN in marks:
        return NOT_RUN
    return marks[0] if len(set(marks)) == 1 else UNDECIDED


def _stopwords_matter_most(studies: Studies) -> Finding:
    means = {
        factor: average(v for m in THREE for v in cv_cases(studies, SEGMENTS, factor, m).values())
        for factor in FACTORS
    }
    known = {factor: value for factor, value in means.items() if value is not None}
    worse, total, sure = 0, 0, 0
    for name in SEGMENTS:
        for metric in THREE:
            one = effect(studies, name, "stopwords", metric)
            contrasts = [
                each.versus[g] for each in (one.levels if one else ()) if not each.default for g in one.spreads
            ] if one else []  # fmt: skip
            worse += sum(each.difference < 0 for each in contrasts)
            sure += sum(each.sign < 0 for each in contrasts)
            total += len(contrasts)
    order = " > ".join(
        f"{f} {percent(v)}" for f, v in sorted(known.items(), key=lambda item: -item[1])
    )
    text = (
        f"mean CV of the three metrics: {order}; a list is for the worse in {worse} of {total} "
        f"({sure} beyond noise)"
    )
    most = max(known, key=lambda factor: known[factor], default="")
    return Finding(
        NOT_RUN if not total else SEEN if most == "stopwords" and 2 * worse > total else NOT_SEEN,
        text,
    )


def _outliers(studies: Studies) -> Finding:
    tops = []
    for factor in ("stopwords", "idf", "subwords"):
        for year in ("wmt17", "wmt18"):
            cases = {
                case: value for case, value in _both(studies, factor)[1].items() if case[0] == year
            }
            if cases:
                (_, group), value = max(cases.items(), key=lambda item: item[1])
                tops.append(
                    (
                        f"{year} {factor} {group} {percent(value)}",
                        group in ("en-tr", "en-ru", "en-de"),
                    )
                )
    return Finding(
        settled([held for _, held in tops])[0],
        "largest CV without noise: " + ", ".join(text for text, _ in tops),
    )


def _aggregation(studies: Studies) -> Finding:
    text, held = [], []
    for name in ("crossing-en", "crossing-out"):
        for one in studies[name].crossings if name in studies else ():
            share = one.shares.get("transport", 0.0)
            rest = sum(one.shares.values()) - share
            more, cases = one.heavier()
            held.append(2 * more > cases)
            text.append(
                f"{name}, {one.metric}: preprocessing {percent(100 * rest, 1)}, aggregation "
                f"{percent(100 * share, 1)}, "
                f"interactions {percent(100 * one.residual, 1)} of the variance, heavier in {more} "
                f"of {cases} groups"
            )
    return Finding(NOT_RUN if not held else SEEN if all(held) else UNDECIDED, "; ".join(text))


CLAIMS = (
    Claim("§5.1", "CV of stopwords mostly 2–4 % (MoverScore-1, segments)", _range_of_stopwords),
    Claim("§5.1", "for Russian on WMT17 the CV of stopwords is above 10 %", _russian),
    Claim("§5.1", "MoverScore-2 is slightly more sensitive to stopwords than MoverScore-1",
          _more_sensitive("stopwords", MOVER2, MOVER, SEGMENTS)),
    Claim("§5.1", "BERTScore is much more sensitive to stopwords than MoverScore-1 in English",
          _more_sensitive("stopwords", BERT, MOVER, ENGLISH)),
    Claim("§5.1", "… and in Chinese", _more_sensitive("stopwords", BERT, MOVER, OTHERS, "en-zh")),
    Claim("A.7", "into English no list is best but in one case of 42 "
        "(segments)", _none_is_best(ENGLISH)),
    Claim("A.7", "in other languages no list is best, but for Turkish and once for "
        "Finnish", _none_is_best(OTHERS)),
    Claim("§5.2", "idf helps MoverScore-1 in English (all but one "
        "pair)", _idf_helps(ENGLISH, stable=True)),
    Claim("§5.2, 5.4", "… less stably in other languages", _idf_helps(OTHERS, stable=False)),
    Claim("§5.2", "most |RD(off, original)| are below 5 "
        "%", _small_rd("idf", ("off", "original"), 5.0)),
    Claim("§5.2", "CV over idf corpora mostly below 1 %", _corpora_matter_little),
    Claim("§5.2", "BERTScore is less sensitive to the idf corpus than MoverScore-1",
          _more_sensitive("idf", MOVER, BERT, ENGLISH)),
    Claim("§5.2", "… and than MoverScore-2", _more_sensitive("idf", MOVER2, BERT, ENGLISH)),
    Claim("§5.2", "the original corpus beats random ones for MoverScore-1 in English",
          _original_beats_random(MOVER, equal=False)),
    Claim("§5.2", "… and is as good as they are for "
        "BERTScore", _original_beats_random(BERT, equal=True)),
    Claim("§5.2", "large corpora do not improve MoverScore-1", _large_corpora),
    Claim("§5.3", "most |RD(keep, drop)| of punctuation are below 1 %",
          _small_rd("punctuation", ("keep", "drop"), 1.0)),
    Claim("§5.3", "… but above 3 % for Turkish", _turkish_punctuation),
    Claim("§5.3", "CV of subwords below 2 % for most languages, above 4 % for Turkish and "
        "Russian", _subwords),
    Claim("§5.3", "the default (first subword, no punctuation) is best for English",
          _default_is_best(ENGLISH, claimed=True)),
    Claim("§5.3", "… and rarely in other languages (2 of "
        "16)", _default_is_best(OTHERS, claimed=False)),
    Claim("§5.4", "systems are less sensitive than segments", _less_at_system_level),
    Claim("§5.4", "summaries are less sensitive than segments", _less_on_summaries),
    Claim("§5.4", "MoverScore-2 is more sensitive to the idf corpus than MoverScore-1",
          _more_sensitive("idf", MOVER2, MOVER, SEGMENTS)),
    Claim("§5.4", "Turkish, Russian and German are often the extremes", _outliers),
    Claim("§5.4", "stopwords matter most, and mostly for the worse", _stopwords_matter_most),
    Claim("§6", "preprocessing, not the alignment (greedy or transport), may be what "
        "matters", _aggregation),
)  # fmt: skip
