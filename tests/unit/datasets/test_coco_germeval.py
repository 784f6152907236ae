"""COCO's systems and GermEval's summaries in miniature, and broken files of both."""

import json

import pytest

from monge.datasets import open_dataset
from monge.errors import Unreadable
from monge.types import Segment

TEAMS = {"Team A": (0.3, 0.4), "Nearest Neighbor": (0.2, 0.5), "Human": (0.6, 0.7)}
OUTPUTS = {
    "TeamA": {1: "a dog", 2: "a cat", 3: "a tree"},
    "nearest_neighbor": {2: "two cats", 1: "the dog"},
}
REFERENCES = {1: ["dog one", "dog two"], 2: ["cat one"], 3: ["tree"]}


def write_coco(root, *, teams=TEAMS, outputs=OUTPUTS, references=REFERENCES):
    root.mkdir(exist_ok=True)
    board = [
        {"team": {"name": name, "id": k}, "results": json.dumps({"q1": m1, "q2": m2})}
        for k, (name, (m1, m2)) in enumerate(teams.items())
    ]
    (root / "cap_challenge2015.json").write_text(json.dumps(board))
    for system, captions in outputs.items():
        rows = [{"image_id": image, "caption": text} for image, text in captions.items()]
        (root / f"captions_val2014_{system}_results.json").write_text(json.dumps(rows))
    annotations = [
        {"image_id": image, "id": 7, "caption": text}
        for image, texts in references.items()
        for text in texts
    ]
    document = {"images": [], "annotations": annotations}
    (root / "captions_val2014.json").write_text(json.dumps(document))
    return root


def test_coco_systems_with_captions_and_scores(tmp_path):
    judged = open_dataset("mscoco", write_coco(tmp_path / "coco"), level="system")
    group = judged.groups["mscoco"]
    assert group.systems == {"Nearest Neighbor": 0.2, "Team A": 0.3}
    assert group.segments == (
        Segment("1", "the dog", ("dog one", "dog two"), None, "Nearest Neighbor"),
        Segment("2", "two cats", ("cat one",), None, "Nearest Neighbor"),
        Segment("1", "a dog", ("dog one", "dog two"), None, "Team A"),
        Segment("2", "a cat", ("cat one",), None, "Team A"),
    )
    assert judged.excluded == {
        "captions of images that not all systems have": 1,
        "teams without captions": 1,
    }
    assert judged.statistic == "pearson" and judged.human == "m1"
    second = open_dataset("mscoco", tmp_path / "coco", level="system", human="m2")
    assert second.groups["mscoco"].systems == {"Nearest Neighbor": 0.5, "Team A": 0.4}


def test_a_system_without_a_team_is_named(tmp_path):
    outputs = {**OUTPUTS, "mine": {1: "x", 2: "y"}}
    judged = open_dataset("mscoco", write_coco(tmp_path / "c", outputs=outputs), level="system")
    assert set(judged.groups["mscoco"].systems) == {"Nearest Neighbor", "Team A"}
    assert judged.warnings == (
        "mine: no team of the leaderboard has this name; the system is left out",
    )


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("cap_challenge2015.json", "[", r"cap_challenge2015\.json: not JSON"),
        ("cap_challenge2015.json", "{}", r"expected a JSON list, got dict"),
        ("cap_challenge2015.json", '[{"team": {"name": "x"}}]', "entry 1: no field 'results'"),
        ("cap_challenge2015.json", '[{"team": 3}]', "entry 1, team: expected an object, got int"),
        (
            "cap_challenge2015.json",
            '[{"team": {"name": "Team A"}, "results": "{"}]',
            "entry 1: results are not JSON",
        ),
        (
            "cap_challenge2015.json",
            '[{"team": {"name": "Team A"}, "results": {"q1": "high"}}]',
            "entry 1: expected a finite number, got 'high'",
        ),
        (
            "cap_challenge2015.json",
            '[{"team": {"name": "other"}, "results": {"q1": 1}}]',
            "a ranking needs two systems with captions and a human score, got 0: captions of "
            "TeamA, nearest_neighbor; scores of other",
        ),
        (
            "captions_val2014_TeamA_results.json",
            '[{"image_id": 1, "caption": "a"}, {"image_id": 1, "caption": "b"}]',
            "caption 2: image 1 has a caption already",
        ),
        ("captions_val2014_TeamA_results.json", "[]", "TeamA_results.json: no captions"),
        (
            "captions_val2014_TeamA_results.json",
            '[{"image_id": "1", "caption": "a"}]',
            "caption 1: expected a whole number as image_id, got '1'",
        ),
        (
            "captions_val2014_TeamA_results.json",
            '[{"image_id": 9, "caption": "a"}]',
            "no image has a caption of every system",
        ),
        (
            "captions_val2014.json",
            '{"annotations": [{"image_id": 1, "caption": "a"}]}',
            "image 2 has captions of systems but no reference in captions_val2014.json",
        ),
        ("captions_val2014.json", '{"images": []}', "no field 'annotations'"),
    ],
)
def test_broken_files_of_coco_are_refused_in_one_line(tmp_path, name, content, says):
    root = write_coco(tmp_path / "coco")
    (root / name).write_text(content)
    with pytest.raises(Unreadable, match=says) as error:
        open_dataset("mscoco", root, level="system")
    assert "\n" not in str(error.value)


def test_missing_files_of_coco_are_named(tmp_path):
    root = write_coco(tmp_path / "coco")
    with pytest.raises(Unreadable, match=r"no captions of test2014, but of val2014 \(switches="):
        open_dataset("mscoco", root, level="system", split="test2014")
    (root / "captions_val2014.json").unlink()
    with pytest.raises(Unreadable, match=r"no file captions_val2014\.json"):
        open_dataset("mscoco", root, level="system")


LONG = "source\treference\tsummary\tscore\n"
WIDE = "Source;Reference;Candidate_1;Score_1;Candidate_2;Score_2\n"


def put(tmp_path, name, text):
    tmp_path.joinpath(name).write_text(text)
    return tmp_path


EXPECTED = (
    Segment("1", "k eins", ("r eins",), "q eins", "1"),
    Segment("1", "k zwei", ("r eins",), "q eins", "2"),
    Segment("2", "k drei", ("r zwei",), "q zwei", "1"),
    Segment("2", "k vier", ("r zwei",), "q zwei", "2"),
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "germeval.tsv",
            LONG
            + "q eins\tr eins\tk eins\t0.5\nq eins\tr eins\tk zwei\t1\n"
            + "q zwei\tr zwei\tk drei\t0\nq zwei\tr zwei\tk vier\t0.25\n",
        ),
        (
            "germeval_task3.csv",
            WIDE + "q eins;r eins;k eins;0,5;k zwei;1\nq zwei;r zwei;k drei;0;k vier;0,25\n",
        ),
    ],
)
def test_germeval_in_both_layouts(tmp_path, name, text):
    judged = open_dataset("germeval", put(tmp_path, name, text))
    group = judged.groups["germeval"]
    assert group.segments == EXPECTED
    assert group.scores.tolist() == [0.5, 1, 0, 0.25]
    assert judged.human_range == (0.0, 1.0) and judged.against == "references"
    assert judged.warnings[:2] == (
        "source text 1: 2 judged candidates, 9 were published",
        "source text 2: 2 judged candidates, 9 were published",
    )
    assert "total: 4 judgements, but 216 were published" in judged.warnings[2]


def test_germeval_leaves_out_what_was_not_judged(tmp_path):
    text = LONG + "q\tr\ta\t0.5\nq\tr\tb\t\nq\tr\tc\t0.1\n"
    judged = open_dataset("germeval", put(tmp_path, "germeval.tsv", text))
    assert judged.excluded == {"no human score": 1}
    assert [segment.hypothesis for segment in judged.groups["germeval"].segments] == ["a", "c"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (LONG + "q\tr\tk\t1.5\n", r"germeval\.tsv:2, field 'score': expected a score from 0 to 1"),
        (LONG + "q\tr\tk\tnan\n", "expected a finite number, got 'nan'"),
        (LONG + "q\tr\tk\tgut\n", "expected a finite number, got 'gut'"),
        (LONG + "q\t \tk\t1\n", r"germeval\.tsv:2, field 'reference': is empty"),
        (LONG + "q\tr\tk\t1\nq\ts\tl\t1\n", r"germeval\.tsv:3: another reference than in line 2"),
        (LONG, "a header but no rows"),
        ("source\tsummary\tscore\nq\tk\t1\n", "no column 'reference'.*the two layouts"),
        ("source\treference\tsummary\nq\tr\tk\n", "no column 'human'.*the two layouts"),
        (
            "source\treference\tcandidate1\tscore1\tcandidate2\nq\tr\ta\t1\tb\n",
            r"number 2 has no score",
        ),
        (
            "source\treference\tsummary\tscore\tsystem\nq\tr\ta\t1\tx\nq\tr\tb\t1\tx\n",
            "source text 1 has two summaries of x",
        ),
        (LONG + "q\tr\tk\n", "expected 4"),
    ],
)
def test_broken_files_of_germeval_are_refused_in_one_line(tmp_path, text, says):
    with pytest.raises(Unreadable, match=says) as error:
        open_dataset("germeval", put(tmp_path, "germeval.tsv", text))
    assert "\n" not in str(error.value)


def test_no_file_of_germeval_is_named(tmp_path):
    with pytest.raises(Unreadable, match=r"germeval: no file germeval\.tsv or germeval\.csv"):
        open_dataset("germeval", tmp_path)
