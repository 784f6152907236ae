"""Protocols of shared tasks: their questions, and the clusters they put metrics of known quality in."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pytest
from synthetic_wmt import make_wmt24

from monge.cli.app import run
from monge.datasets import Group, Judged
from monge.errors import InvalidSetting, UnknownName, Unreadable
from monge.evaluation.external_scores import Outside, average_systems
from monge.evaluation.protocol import is_share, load_protocol, parse_protocol, protocol_names
from monge.evaluation.protocol_result import average_answers
from monge.evaluation.protocol_run import ProtocolMetrics, run_protocol
from monge.evaluation.protocol_tasks import ProtocolTests, answer_task
from monge.evaluation.question import SYNONYMS, _known_statistics, named
from monge.evaluation.variant_scores import RowScores, VariantScores
from monge.stats import higher_is_better
from monge.types import Segment, Signature

QUALITIES = {"BLEU": 0.2, "chrF": 0.2, "COMET": 1.0, "MetricX": 1.0, "random": 0.0}


@pytest.fixture(scope="module")
def wmt24(tmp_path_factory):
    return make_wmt24(tmp_path_factory.mktemp("sets"), QUALITIES)


def test_every_packaged_protocol_has_its_published_number_of_tasks():
    counts = {name: len(load_protocol(name).tasks) for name in protocol_names()}
    assert counts == {"wmt22": 201, "wmt23": 10, "wmt24": 6, "wmt25": 32}


def test_the_protocol_of_the_page_is_one(request):
    page = (request.config.rootpath / "docs" / "protocols.md").read_text("utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert len(parse_protocol(text, "page.toml").tasks) == 5


@pytest.mark.parametrize("name", protocol_names())
def test_weights_add_up_to_1_and_names_of_tasks_differ(name):
    tasks = load_protocol(name).tasks
    assert sum(task.weight for task in tasks) == pytest.approx(1, abs=1e-12)
    assert len({task.name for task in tasks}) == len(tasks)


def test_weights_of_wmt23_and_wmt22():
    wmt23 = load_protocol("wmt23").tasks
    assert wmt23[0].weight == pytest.approx(3 / 12) and wmt23[1].weight == pytest.approx(1 / 12)
    wmt22 = load_protocol("wmt22").tasks
    by_pairs = dict.fromkeys({task.pairs for task in wmt22}, 0.0)
    for task in wmt22:
        by_pairs[task.pairs] += task.weight
    assert list(by_pairs.values()) == pytest.approx([0.25] * 4)  # all pairs together, and each


def test_values_of_tasks_are_those_of_evaluate(wmt24, capsys):
    run(
        ["evaluate", "--protocol", "wmt24", "--data", str(wmt24), "--stored", "COMET", "-f", "json"]
    )
    result = json.loads(capsys.readouterr().out)
    for task in result["tasks"]:
        (pair,) = task["pairs"]
        path = next((wmt24 / "wmt24" / "metric-scores" / pair).glob("COMET-*.seg.score"))
        reference = path.name.split("-")[-1].split(".")[0]
        run([
            "evaluate", "mt-metrics-eval", "--data", str(wmt24), "--pairs", pair, "--level",
            task["level"], "--statistic", task["statistic"], "--scores", f"COMET={path}",
            "--switch", f"reference={reference}", "--resamples", "1", "-f", "json",
            *(["--switch", "human_systems=true"] if task["human_systems"] else []),
        ])  # fmt: skip
        value = json.loads(capsys.readouterr().out)["results"][0]["mean"]
        in_protocol = next(m["value"] for m in task["metrics"] if m["metric"] == "COMET")
        assert in_protocol == pytest.approx(value, abs=1e-12), task["task"]


def test_the_average_is_of_values_mapped_to_shares(wmt24):
    protocol = parse_protocol(
        """
        test_set = "wmt24"
        [[tasks]]
        pairs = "en-es"
        statistic = "pearson"
        weight = 3
        [[tasks]]
        pairs = "ja-zh"
        level = "system"
        statistic = "pairwise_accuracy"
        """,
        "own.toml",
    )
    metrics = ProtocolMetrics(stored=["COMET", "BLEU"])
    result = run_protocol(protocol, wmt24, metrics)
    correlation, accuracy = (answer.of("COMET")[0] for answer in result.answers)
    average = dict(zip(result.average.labels, result.average.values, strict=True))
    assert average["COMET"] == pytest.approx(0.75 * (correlation + 1) / 2 + 0.25 * accuracy)
    assert result.average.labels[0] == "COMET" and result.with_winner["COMET"] == pytest.approx(1)


def test_language_pairs_that_are_not_there_are_named_and_weights_scaled(wmt24, tmp_path):
    shutil.copytree(wmt24 / "wmt24", tmp_path / "wmt24")
    shutil.rmtree(tmp_path / "wmt24" / "system-outputs" / "ja-zh")
    result = run_protocol(load_protocol("wmt24"), tmp_path, ProtocolMetrics(stored=["*"]))
    assert len(result.answers) == 4
    assert sum(answer.task.weight for answer in result.answers) == pytest.approx(1)
    assert any("2 of 6 tasks are left out: the data have no ja-zh" in note for note in result.notes)
    for pair in ("en-de", "en-es"):
        shutil.rmtree(tmp_path / "wmt24" / "system-outputs" / pair)
    (tmp_path / "wmt24" / "system-outputs" / "en-xx").mkdir()
    with pytest.raises(Unreadable, match=r"none of the language pairs of wmt24 is here"):
        run_protocol(load_protocol("wmt24"), tmp_path, ProtocolMetrics(stored=["*"]))


def test_outliers_are_left_out(wmt24):
    text = (
        'test_set = "wmt24"\n{}[[tasks]]\npairs = "en-es"\nstatistic = "pearson"\nlevel = "system"'
    )
    everything = parse_protocol(text.format(""), "all.toml")
    without = parse_protocol(text.format('[outliers]\nen-es = ["system0"]\n'), "five.toml")
    counts = [
        run_protocol(protocol, wmt24, ProtocolMetrics(stored=["BLEU"])).answers[0].n
        for protocol in (everything, without)
    ]
    assert counts == [6, 5]


def test_metrics_of_ours_and_scores_of_files_are_judged_beside_stored_ones(wmt24, capsys):
    scores = wmt24 / "wmt24" / "metric-scores" / "{group}" / "BLEU-refA.seg.score"
    protocol = wmt24 / "two.toml"
    protocol.write_text(
        'test_set = "wmt24"\n[[tasks]]\npairs = "en-es"\nstatistic = "pearson"\n'
        '[[tasks]]\npairs = "ja-zh"\nstatistic = "acc_eq_calibrated-by-item"\n'
    )
    code = run([
        "evaluate", "--protocol", str(protocol), "--data", str(wmt24), "-m", "chrf", "--stored",
        "COMET", "--scores", f"bleu={scores}", "-f", "json", "--no-sentinels",
    ])  # fmt: skip
    result = json.loads(capsys.readouterr().out)
    assert code == 0
    names = {metric["metric"]: metric["signature"] for metric in result["average"]["metrics"]}
    assert set(names) == {"chrf", "COMET", "bleu"}
    assert names["COMET"].startswith("stored:COMET-refA#") and "chrf" in names["chrf"]


def test_a_stored_metric_without_all_scores_is_left_out_and_named(tmp_path):
    data = make_wmt24(tmp_path, {"BLEU": 0.5, "gaps": 0.5}, items=12)
    for path in (data / "wmt24" / "metric-scores" / "en-es").glob("gaps-*.seg.score"):
        lines = path.read_text().splitlines(keepends=True)
        path.write_text("".join(lines[:-1]) + "system5\tNone\n")
    result = run_protocol(load_protocol("wmt24"), data, ProtocolMetrics(stored=["*"]))
    assert "gaps" in result.average.incomplete and "BLEU" in result.average.labels
    assert any(
        "gaps is left out" in note and "system5, segment 12" in note for note in result.notes
    )


def test_stored_scores_with_another_reference_are_refused_by_name(wmt24):
    protocol = parse_protocol(
        'test_set = "wmt24"\n[references]\nen-de = "refA"\n'
        '[[tasks]]\npairs = "en-de"\nstatistic = "pearson"',
        "other.toml",
    )
    with pytest.raises(Unreadable, match=r"compares with refA or src; there are scores with refB"):
        run_protocol(protocol, wmt24, ProtocolMetrics(stored=["*"]))


def test_a_sentinel_that_ranks_with_metrics_is_warned_of(tmp_path):
    data = make_wmt24(tmp_path, {"noise": 0.0, "static": 0.0}, items=12)
    result = run_protocol(load_protocol("wmt24"), data, ProtocolMetrics(stored=["*"]))
    assert any("knows nothing of quality" in line for line in result.warnings)
    good = make_wmt24(tmp_path / "good", {"COMET": 2.0, "MetricX": 2.0}, items=60)
    assert run_protocol(load_protocol("wmt24"), good, ProtocolMetrics(stored=["*"])).warnings == []


def test_a_metric_that_is_constant_has_the_value_0_of_a_correlation(wmt24):
    protocol = parse_protocol(
        'test_set = "wmt24"\n[[tasks]]\npairs = "en-es"\nstatistic = "pearson"\nlevel = "system"',
        "constant.toml",
    )
    answer = run_protocol(protocol, wmt24, ProtocolMetrics(stored=["COMET"])).answers[0]
    assert answer.of("sentinel-source-length")[0] == 0.0 and answer.of("COMET")[0] > 0.5


@pytest.mark.parametrize("level", ["segment", "system"])
def test_a_task_of_a_domain_sees_its_segments_alone(wmt24, level):
    text = 'test_set = "wmt24"\n[[tasks]]\npairs = "en-es"\nstatistic = "pearson"\nlevel = "{}"\n{}'
    news, all_domains, none = (
        parse_protocol(text.format(level, domain), "domain.toml")
        for domain in ('domain = "news"', "", 'domain = "chat"')
    )
    metrics = ProtocolMetrics(stored=["COMET"], sentinels=False)
    part, whole = (run_protocol(p, wmt24, metrics).answers[0] for p in (news, all_domains))
    assert part.n == (120 if level == "segment" else 6) and part.of("COMET") != whole.of("COMET")
    if level == "segment":
        rows = [  # every second line of six systems
            [line.split("\t")[1] for line in path.read_text().splitlines()]
            for path in sorted((wmt24 / "wmt24").glob("*/**/*en-es*.seg.score"))
            + sorted((wmt24 / "wmt24" / "metric-scores" / "en-es").glob("COMET*.seg.score"))
        ]
        human, metric = (np.array(values, dtype=float)[1::2] for values in rows)
        assert part.of("COMET")[0] == pytest.approx(np.corrcoef(human, metric)[0, 1])
    with pytest.raises(UnknownName, match="news, social"):
        run_protocol(none, wmt24, metrics)


SIMULATED = parse_protocol(
    "\n".join(
        f'[[tasks]]\npairs = "{pair}"\nlevel = "{level}"\nstatistic = "{statistic}"'
        for pair in ("en-de", "en-es", "ja-zh")
        for level, statistic in (
            ("system", "soft_pairwise_accuracy"),
            ("segment", "acc_eq_calibrated-by-item"),
        )
    ),
    "simulated.toml",
)


def simulate(qualities, seed, *, systems=10, items=80):
    """Return the clusters of metrics on six tasks; outputs of a source share errors of a metric."""
    generator = np.random.default_rng(seed)
    answers = []
    tests = ProtocolTests(resamples=200)
    for number in range(0, 6, 2):
        truth = np.linspace(-0.5, 0.5, systems)[:, None] + generator.normal(size=(systems, items))
        segments = tuple(
            Segment(str(k), "text", ("text",), "source", f"s{s}")
            for s in range(systems)
            for k in range(items)
        )
        human = truth + 0.3 * generator.normal(size=truth.shape)
        pools = {}
        for level in ("segment", "system"):
            means = {f"s{s}": float(row.mean()) for s, row in enumerate(human)}
            group = (
                Group(segments, scores=human.ravel())
                if level == "segment"
                else Group(segments, systems=means, each=human.ravel())
            )
            pools[level] = Judged(
                "simulated", "raw", level, "mqm", "pearson", 1, {"pair": group}, "unweighted",
                "max", "references", {}, (), {}, "", "",
            )  # fmt: skip
        scores = []
        for label, quality in qualities.items():
            shared = 0.5 * generator.normal(size=items)
            values = (quality * truth + shared + generator.normal(size=truth.shape)).ravel()
            rows = RowScores(
                values, average_systems(segments, values), Signature((("metric", label),)), True
            )
            scores.append(VariantScores(Outside(label), {"pair": rows}))
        answers += [
            answer_task(task, [(pools[task.level], scores)], tests, seed=seed * 10 + number + k)
            for k, task in enumerate(SIMULATED.tasks[number : number + 2])
        ]
    average = average_answers(SIMULATED, answers, tests)
    return dict(zip(average.labels, average.ranks.tolist(), strict=True))


def test_metrics_of_known_quality_end_in_the_right_clusters():
    qualities = {"a": 0.3, "b": 1.0, "c": 0.3, "d": 3.0, "e": 0.0}
    right = {"d": 1, "b": 2, "a": 3, "c": 3, "e": 4}
    hits = sum(simulate(qualities, seed) == right for seed in range(100))
    assert hits >= 95


def test_equal_metrics_end_in_one_cluster():
    qualities = dict.fromkeys("abcde", 0.6)
    hits = sum(set(simulate(qualities, 1000 + seed).values()) == {1} for seed in range(100))
    assert hits >= 93


SPELLINGS = (lambda name: name, lambda name: name.replace("_", "-"), str.upper)


@pytest.mark.parametrize("kind", ["scores", "systems", "rankings"])
@pytest.mark.parametrize("spell", SPELLINGS)
def test_every_spelling_of_a_statistic_is_scaled_alike(kind, spell):
    """A share stays as it is; a correlation, from -1 to 1, is mapped to 0..1."""
    names = [name for name in _known_statistics(kind) if higher_is_better(name)]
    for name in [*names, *(key for key, full in SYNONYMS.items() if full in names)]:
        full = named(name, kind, segments=True)
        is_accuracy = "acc" in full
        assert is_share(spell(name)) is is_accuracy, name
        assert is_share(f"{spell(name)}-by-item") is is_accuracy, name


@pytest.fixture
def expert_scores(tmp_path):
    """The smallest MQM campaign: two outputs and two human translations of four sources."""
    rows = ["system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"]
    for system in ("a", "b", "ref", "refB"):
        for k in range(1, 5):
            text = f"{system} translates sentence {k} with {'many ' * k}words"
            errors = ([], ["Minor"], ["Major", "Minor"])[(k + len(system)) % 3]
            for severity in errors or ["No-error"]:
                target = f"<v>{text}</v>" if errors else text
                category = "Accuracy/Mistranslation" if errors else "No-error"
                rows.append(
                    f"{system}\tdoc\tdoc\t{k}\trater1\tsource {k}\t{target}\t{category}\t{severity}"
                )
    (tmp_path / "mqm_ted_zhen.tsv").write_text("\n".join(rows) + "\n")
    return tmp_path


def protocol_of(dataset, more=""):
    task = f'dataset = "{dataset}"\n[[tasks]]\npairs = "zh-en"\nstatistic = "acc-eq"\n{more}'
    return parse_protocol(task, "own.toml")


def test_a_protocol_of_another_data_set_takes_its_switches(expert_scores):
    metrics = ProtocolMetrics(["chrf"], sentinels=False)
    plain, with_humans = (
        run_protocol(protocol_of("mqm", more), expert_scores, metrics).answers[0].n
        for more in ("", "human_systems = true")
    )
    assert with_humans > plain == 8


@pytest.mark.parametrize(
    ("dataset", "more", "stored", "words"),
    [
        ("mqm", "", ["*"], "stored scores stand beside test sets of mt-metrics-eval"),
        ("wmt17", "human_systems = true", [], "human_systems=True, which the data set wmt17 does"),
        ("wmt17", "references = {zh-en = 'refA'}", [], "reference=refA, which the data set wmt17"),
    ],
)
def test_what_another_data_set_does_not_have_is_refused(
    expert_scores, dataset, more, stored, words
):
    with pytest.raises(InvalidSetting, match=words):
        metrics = ProtocolMetrics(["chrf"], stored=stored)
        run_protocol(protocol_of(dataset, more), expert_scores, metrics)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("tasks = 3", Unreadable, "needs one or more"),
        ("[[tasks]\n", Unreadable, "line 1"),
        ('[[tasks]]\npairs = "en-de"', Unreadable, "task 1: a task needs pairs and statistic"),
        ('[[tasks]]\npair = "en-de"\nstatistic = "pearson"', UnknownName, "did you mean pairs"),
        (
            '[[tasks]]\npairs = "en-de"\nstatistic = "pearson"\nlevel = "sys"',
            UnknownName,
            "did you mean system",
        ),
        ('titel = "x"\n[[tasks]]', UnknownName, "did you mean title"),
        (
            'weights = ["language"]\n[[tasks]]\npairs = "en-de"\nstatistic = "pearson"',
            UnknownName,
            "attribute",
        ),
    ],
)
def test_a_protocol_that_is_wrong_says_what_and_where(text, error, words):
    with pytest.raises(error, match=words):
        parse_protocol(text, "my.toml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--protocol", "wmt26"], "did you mean wmt2"),
        (["wmt17", "--protocol", "wmt24"], "--protocol decides a data set itself"),
        (["--protocol", "wmt24", "--pairs", "en-de"], "--protocol decides --pairs itself"),
        (["--protocol", "wmt24", "--stored", "blue"], "did you mean BLEU"),
        (["--protocol", "nothing.toml"], "nothing.toml"),
        ([], "name a data set"),
    ],
)
def test_a_wrong_call_is_one_line(wmt24, capsys, arguments, words):
    code = run(["evaluate", "--data", str(wmt24), *arguments])
    error = capsys.readouterr().err
    assert code != 0 and words in error and "Traceback" not in error
