"""The newer layout of mt-metrics-eval in miniature: JSON lines, regions and scripts in the codes,
documents and domains, outliers and standard references.
"""

import json

import numpy as np
import pytest

import monge
from monge.compat.mt_metrics_eval import submit
from monge.datasets import open_dataset
from monge.datasets.language_pairs import split_pair
from monge.datasets.test_set_facts import describe_test_set
from monge.errors import InvalidSetting, Unreadable
from monge.evaluation import Resampling, Task, evaluate_task
from monge.evaluation.question import question
from monge.evaluation.task import languages, target_language
from monge.types import Segment

PAIR = "en-sr_Cyrl_RS"
SOURCES = ["One.\nTwo.", "Three", "Four", "Five"]
OUTPUTS = {
    "refA": ["Један.\nДва.", "Три", "Четири", "Пет"],
    "good": ["Један.\nДва.", "Три", "Четри", "Пет"],
    "fair": ["Један.\nТри.", "Два", "Четри", "Шест"],
    "poor": ["Три.", "Шест", "Осам", "Десет"],
}
SCORES = {"good": [90, 80, None, 100], "fair": [50, 70, 60, 40], "poor": [10, 0, 20, 30]}


def write_jsonl(path, field, texts):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({field: text, "n": 1}) + "\n" for text in texts))


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "wmt25"
    write_jsonl(root / f"sources/{PAIR}.jsonl", "source", SOURCES)
    write_jsonl(root / f"references/{PAIR}.refA.jsonl", "target", OUTPUTS["refA"])
    for system, texts in OUTPUTS.items():
        write_jsonl(root / f"system-outputs/{PAIR}/{system}.jsonl", "hypothesis", texts)
    (root / "documents").mkdir()
    (root / f"documents/{PAIR}.docs").write_text("news a\nnews a\nchat b\nchat c\n")
    (root / "human-scores").mkdir()
    lines = [f"{system}\t{score}" for system, scores in SCORES.items() for score in scores]
    (root / f"human-scores/{PAIR}.esa-merged.seg.score").write_text("\n".join(lines) + "\n")
    return root


def put_scores(folder, level, *lines):
    path = folder / f"human-scores/{PAIR}.esa-merged.{level}.score"
    path.write_text("".join(f"{line}\n" for line in lines))


def opened(folder, **options):
    return open_dataset("mt-metrics-eval", folder, human="esa-merged", **options)


def test_texts_are_fields_of_json_lines(folder):
    judged = opened(folder)
    group = judged.groups[PAIR]
    assert group.n == 11
    assert judged.excluded["no human score"] == 1
    assert group.segments[4] == Segment(
        "1", "Један.\nДва.", ("Један.\nДва.",), "One.\nTwo.", "good"
    )
    assert [(record.document, record.domain) for record in group.records[:3]] == [
        ("a", "news"), ("a", "news"), ("b", "chat")
    ]  # fmt: skip


def test_a_text_is_either_lines_or_json(folder):
    (folder / f"sources/{PAIR}.txt").write_text("a\nb\nc\nd\n")
    with pytest.raises(Unreadable, match=r"RS\.txt and en-sr_Cyrl_RS\.jsonl: expected one"):
        opened(folder)


def test_a_field_that_is_no_text_is_named(folder):
    write_jsonl(folder / f"system-outputs/{PAIR}/good.jsonl", "hypothesis", ["a", None, "b", "c"])
    with pytest.raises(Unreadable, match=r"good\.jsonl:2, field 'hypothesis': expected a text"):
        opened(folder)


@pytest.mark.parametrize(
    ("name", "languages_of_pair"),
    [
        ("en-ja_JP", ("en", "ja")),
        ("en-sr_Cyrl_RS", ("en", "sr")),
        ("cs-uk_UA", ("cs", "uk")),
        ("en-bho_IN", ("en", "bho")),
        ("zh_Hant_TW-en", ("zh", "en")),
        ("en-es_419", ("en", "es")),
        ("en-ja_JP/news", ("en", "ja")),
        ("de-en", ("de", "en")),
        ("answer-answer", None),
        ("wmt15/cs-en", None),
        ("en", None),
    ],
)
def test_the_languages_of_a_pair_are_found(name, languages_of_pair):
    assert split_pair(name) == languages_of_pair
    assert target_language(name) == (languages_of_pair[1] if languages_of_pair else "en")


def test_a_target_with_region_is_not_english(folder):
    assert languages(opened(folder), None) == {"sr": [PAIR]}
    judged = opened(folder, detokenise=True)
    assert any("detokenisation knows English only" in line for line in judged.warnings)


def test_documents_have_the_mean_of_their_judged_segments(folder):
    group = opened(folder, level="document").groups[PAIR]
    units = [(unit.system, unit.document) for unit in group.units]
    assert dict(zip(units, group.scores.tolist(), strict=True)) == {
        ("good", "a"): 85.0,
        ("good", "c"): 100.0,  # its only segment in b was not judged
        ("fair", "a"): 60.0,
        ("fair", "b"): 60.0,
        ("fair", "c"): 40.0,
        ("poor", "a"): 5.0,
        ("poor", "b"): 20.0,
        ("poor", "c"): 30.0,
    }
    asked = question(group, "pearson", 1)
    assert (asked.n, asked.items) == (8, 3)  # outputs of a document are resampled together


def test_document_scores_of_a_file_come_first(folder):
    put_scores(folder, "doc", *(f"good {n}" for n in (1, 2, 3)), "fair 4", "fair None", "fair 6")
    judged = opened(folder, level="document")
    group = judged.groups[PAIR]
    assert group.scores.tolist() == [4, 6, 1, 2, 3]
    assert judged.excluded["documents without human score"] == 1
    assert len(group.segments) == 4 + 3  # all segments of judged documents
    assert np.bincount(group.unit_of).tolist() == [2, 1, 2, 1, 1]


def test_a_metric_s_score_of_a_document_is_the_mean_of_its_segments(folder):
    study = evaluate_task(
        Task("mt-metrics-eval", folder, human="esa-merged", level="document"),
        ["chrf", "bleu"],
        resampling=Resampling(resamples=20),
    )
    agreement = study.agreements[0]
    (pool,) = study.pools
    segments = pool[1][0].groups[PAIR].segments
    group = pool[0].groups[PAIR]
    means = [segments[group.unit_of == unit].mean() for unit in range(len(group.units))]
    assert agreement.level == "document"
    assert agreement.groups[PAIR].value == pytest.approx(np.corrcoef(means, group.scores)[0, 1])
    with pytest.raises(InvalidSetting, match="documents are judged: leave --sample out"):
        Task("mt-metrics-eval", folder, human="esa-merged", level="document", sample=2).open()


def test_a_sample_keeps_the_judgements_behind_systems(folder):
    task = Task("mt-metrics-eval", folder, human="esa-merged", level="system", sample=2)
    (group,) = task.open()[0].groups.values()
    assert len(group.segments) == len(group.each) == len(group.records) < 11
    whole_group = opened(folder, level="segment").groups[PAIR]
    scores = dict(zip(whole_group.segments, whole_group.scores, strict=True))
    assert [scores[segment] for segment in group.segments] == group.each.tolist()


def test_json_lines_are_submitted(folder):
    submission = submit([monge.load("chrf")], folder)
    assert [scores.texts.pair for scores in submission.scored] == [PAIR]
    assert submission.scored[0].segments["good"][0] == pytest.approx(100)


def test_domains_are_groups_of_systems(folder):
    groups = opened(folder, level="domain").groups
    assert list(groups) == [f"{PAIR}/chat", f"{PAIR}/news"]
    assert groups[f"{PAIR}/news"].systems == {"good": 85, "fair": 60, "poor": 5}
    assert groups[f"{PAIR}/chat"].systems == {"good": 100, "fair": 50, "poor": 25}
    assert len(groups[f"{PAIR}/news"].segments) == 6
    put_scores(folder, "domain", "news good 3", "news fair 2", "chat good None", "chat fair 1")
    judged = opened(folder, level="domain")
    assert {name: group.systems for name, group in judged.groups.items()} == {
        f"{PAIR}/news": {"good": 3, "fair": 2}
    }
    assert f"{PAIR}/chat: 1 judged system, a ranking needs two; the domain is left out" in (
        judged.warnings
    )
    study = evaluate_task(
        Task("mt-metrics-eval", folder, human="esa-merged", level="domain", pairs=[PAIR]),
        ["chrf"],
        resampling=Resampling(resamples=10),
    )
    assert study.agreements[0].groups[f"{PAIR}/news"].value == pytest.approx(1)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("news good", "3: expected a domain, a system and its score"),
        ("sport good 1", r"3: unknown domain 'sport' .*chat, news"),
        ("news best 1", r"3: scores of best, but system-outputs/en-sr_Cyrl_RS has no best\.txt"),
        ("news good 2", "3: a second score of good in news"),
    ],
)
def test_faults_of_domain_scores_are_named(folder, line, words):
    put_scores(folder, "domain", "news good 3", "news fair 2", line)
    with pytest.raises(Unreadable, match=rf"esa-merged\.domain\.score:{words}"):
        opened(folder, level="domain")


def test_levels_need_documents(folder):
    (folder / f"documents/{PAIR}.docs").unlink()
    with pytest.raises(InvalidSetting, match="--level document needs the document of every seg"):
        opened(folder, level="document")


def test_facts_of_test_sets():
    facts = describe_test_set("wmt22", "en-de")
    assert facts.outliers == {"M2M100_1.2B-B4"}
    assert facts.reference == "refA"
    assert {"COMET-22", "BLEU"} <= facts.primary
    assert describe_test_set("wmt21.news", "zh-en").reference == "refB"
    assert "RoBLEURT" in describe_test_set("wmt21.news", "zh-en").primary
    assert describe_test_set("wmt99", "en-de").reference == ""


def test_outliers_and_the_standard_reference(folder):
    root = folder.rename(folder.with_name("wmt22"))
    for path in sorted(root.rglob(f"{PAIR}*"), reverse=True):
        path.rename(path.with_name(path.name.replace(PAIR, "en-cs")))
    write_jsonl(root / "references/en-cs.refB.jsonl", "target", OUTPUTS["good"])
    judged = opened(root)
    assert "refA of refA, refB is the reference; official tables have refB" in judged.warnings[0]
    judged = opened(root, reference="standard")
    assert judged.groups["en-cs"].segments[0].references == (OUTPUTS["good"][0],)
    assert not judged.warnings
    with pytest.raises(InvalidSetting, match="standard reference of this test set is not known"):
        opened(root.rename(root.with_name("wmt99")), reference="standard")


def test_outliers_are_left_out_if_asked(folder):
    root = folder.rename(folder.with_name("wmt23"))
    for path in sorted(root.rglob(f"{PAIR}*"), reverse=True):
        path.rename(path.with_name(path.name.replace(PAIR, "en-de")))
    outputs = root / "system-outputs/en-de"
    (outputs / "poor.jsonl").rename(outputs / "synthetic_ref.jsonl")
    path = root / "human-scores/en-de.esa-merged.seg.score"
    path.write_text(path.read_text().replace("poor", "synthetic_ref"))
    assert "synthetic_ref" in opened(root, level="system").groups["en-de"].systems
    judged = opened(root, level="system", outliers=False)
    assert set(judged.groups["en-de"].systems) == {"good", "fair"}
    assert judged.excluded["outlier systems"] == 1
