"""The runs, studies and claims of the papers' page: each names something that exists and is kept."""

import json
import re

import make_paper_studies as studies
import make_reproduction as make
import paper_judges as judges
import paper_verdicts as verdicts
import pytest
from paper_measures import MEASURES
from paper_study_pages import SECTIONS, TITLES
from sensitivity_pages.claims import CLAIMS as SENSITIVITY_CLAIMS

from monge.papers.tables import LOG, tables

CLAIMS = verdicts.read_claims()
DECIDES = ("trials", "tuned", "margins", "judged", "tests", "cannot")


def test_the_page_has_a_row_per_claim_and_counts_them():
    text = make.make_short_page()
    rows = [line for line in text.splitlines() if line.startswith("| ") and line.endswith("** |")]
    assert len(rows) == len(CLAIMS) + len(SENSITIVITY_CLAIMS)
    counts = [int(number) for number in re.findall(r"(\d+) (?:hold|do not|are not|cannot)", text)]
    assert sum(counts[:5]) == len(CLAIMS)
    assert len(text) < 40_000


def test_every_run_is_of_a_table_and_is_kept_under_its_own_name():
    assert {line.split()[0] for line in make.RUNS} <= {*tables(), LOG}
    assert len({make.result_path(line) for line in make.RUNS}) == len(make.RUNS)
    assert {path.name for path in make.RUN_RESULTS.glob("*.json")} <= {
        make.result_path(line).name for line in make.RUNS
    }


def test_no_directory_of_a_machine_is_kept():
    for path in make.RUN_RESULTS.rglob("*.json"):
        text = path.read_text("utf-8")
        assert " below /" not in text and "/root/" not in text and "/work/" not in text, path.name


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim["says"] for claim in CLAIMS])
def test_every_claim_says_what_decides_it_and_that_exists(claim):
    deciders = {key for key in DECIDES if key in claim}
    assert len(deciders) == 1 or deciders in ({"trials", "tuned"}, {"trials", "judged"})
    assert claim["paper"] in make.CITATIONS and claim["where"]
    printed = {entry.says for table in tables().values() for entry in table.claims}
    assert {*claim.get("trials", ()), *claim.get("also", ())} <= printed
    assert claim.get("judged", "judge_layers") in judges.JUDGES
    assert len(verdicts.find_changes(claim)) == len(claim.get("tuned", ()))
    for reference in claim.get("margins", ()):
        study, _, says = reference.partition(": ")
        kept = studies.read_study(study).get("margins")
        assert kept is None or says in {margin["says"] for margin in kept}, reference


def test_every_claim_of_a_table_is_on_the_page():
    """A claim that a table declares is one of the page, or one that the paper does not make."""
    printed = {entry.says for table in tables().values() for entry in table.claims}
    used = {says for claim in CLAIMS for key in ("trials", "also") for says in claim.get(key, ())}
    assert printed - used == {
        "BERTScore beats MoverScore on one model",
        "F beats precision and recall",
        "F prefers candidate 2 of example 1",
        "Lazy-EMD prefers candidate 1, as people do",
        "precision prefers candidate 2 of example 1",
        "the best slacks depend on the model",
        "the unsupervised metric beats a supervised one",
    }


def test_every_study_has_a_section_and_a_title():
    assert {*studies.read_plan(), *MEASURES} == set(SECTIONS) == set(TITLES)
    assert {path.stem for path in studies.STUDIES.glob("*.json")} <= set(SECTIONS)


@pytest.mark.parametrize(
    ("low", "high", "rule", "verdict"),
    [
        (0.01, 0.02, "", "holds"),
        (-0.01, 0.02, "", "not settled"),
        (-0.02, -0.01, "", "does not hold"),
        (-0.02, -0.01, "below 0", "holds"),
        (-0.005, 0.009, "within 0.01", "holds"),
        (-0.005, 0.011, "within 0.01", "not settled"),
        (0.011, 0.02, "within 0.01", "does not hold"),
        (0.011, 0.02, "above 0.01", "holds"),
        (0.001, 0.006, "above 0.01", "does not hold"),
        (0.001, 0.02, "above 0.01", "not settled"),
    ],
)
def test_an_interval_decides_a_claim(low, high, rule, verdict):
    assert verdicts.judge_interval(low, high, rule) == verdict


@pytest.mark.parametrize(
    ("trials", "verdict"),
    [
        (["holds", "holds"], "holds"),
        (["holds", "not settled"], "holds in part"),
        (["holds", "does not hold"], "holds in part"),
        (["holds", "does not hold", "does not hold"], "does not hold"),
        (["not settled", "does not hold"], "does not hold"),
        (["not settled"], "not settled"),
    ],
)
def test_trials_join_to_a_verdict(trials, verdict):
    assert verdicts.join_verdicts(trials) == verdict


def test_a_p_gives_the_interval_of_a_margin():
    low, high = verdicts.read_interval(0.02, 0.05)
    assert (low, high) == pytest.approx((0.0, 0.04), abs=1e-9)
    low, high = verdicts.read_interval(-0.02, 0.001)
    assert -0.033 < low < -0.031 and -0.009 < high < -0.008
    assert verdicts.read_interval(0.0, 1.0) == (-float("inf"), float("inf"))


def test_a_result_that_tables_repeat_is_one_trial():
    outcome = {"says": "a", "ours": 0.1, "low": 0.05, "high": 0.2, "holds": True, "sure": True}
    rows = [("table-1", "", outcome), ("table-7", "", dict(outcome))]
    assert len(verdicts.find_trials({"trials": ["a"]}, rows)) == 1


def test_a_run_says_what_was_sampled():
    def trial(place):
        return verdicts.Trial(place, 0.1, 0.0, 0.2, "holds")

    whole, part = trial("lazy-emd-2"), trial("lazy-emd-2 (e5-small, sampled wmt18 200)")
    assert verdicts.name_runs([whole]) == "`lazy-emd-2`"
    assert verdicts.name_runs([part]) == "`lazy-emd-2` (sampled: wmt18 200)"
    assert verdicts.name_runs([whole, part]) == "`lazy-emd-2` (in part sampled: wmt18 200)"
    assert verdicts.name_runs([trial("[a](b.md#a)")]) == "[a](b.md#a)"


def test_a_trial_says_which_adapter_stood_in(tmp_path):
    line = "t --stand-in roberta-base-tuned=MODELS/e5-small+ADAPTERS/e5-8 --sample 9"
    claim = {"says": "a", "ours": 0.1, "low": 0.0, "high": 0.2}
    readings = [{"reading": "", "notes": [], "verdict": {"claims": [claim]}}]
    kept = tmp_path / "t.json"
    kept.write_text(json.dumps({"results": [{"readings": readings}]}))
    ((table, condition, _),) = verdicts.list_trials([line], lambda _: kept)
    assert (table, condition) == ("t", "e5-8 for roberta-base-tuned")


def test_a_claim_can_keep_one_reading_of_a_table():
    outcome = {"says": "a", "ours": 0.1, "low": 0.05, "high": 0.2, "holds": True, "sure": True}
    other = {**outcome, "ours": 0.3}
    rows = [("t", "with human peers", outcome), ("t", "without human peers", other)]
    claim = {"trials": ["a"], "reading": "with human peers"}
    assert [trial.margin for trial in verdicts.find_trials(claim, rows)] == [0.1]


def test_tables_decide_before_a_judge_of_its_own():
    outcome = {"says": "a", "ours": 0.1, "low": 0.05, "high": 0.2, "holds": True, "sure": True}
    claim = {"trials": ["a"], "judged": "judge_summaries_against_s3"}
    assert judges.make_finding(claim, [("t", "", outcome)]).run == "`t`"
    assert judges.make_finding(claim, []).verdict == "not settled"
