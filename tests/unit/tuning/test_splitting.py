"""What is held out is not learned from: no source, reference or output stands on both sides,
whatever the lessons.
"""

import json
from dataclasses import replace

import numpy as np
import pytest

from monge.errors import DataError
from monge.tuning import tune, tuning

SYLLABLES = ["ba", "do", "fi", "gu", "la", "me", "no", "ru", "si", "ta"]


def texts_of_row(row):
    return {
        text.strip().lower()
        for text in (row.hypothesis, *row.references, row.source or "")
        if text.strip()
    }


def texts_learned(ready):
    """Every text that some objective of the loop learns from, and those of a ranking's rows."""
    learned = set()
    for objective in ready.loop.objectives:
        examples = objective.examples
        if hasattr(examples, "pairs"):
            learned |= {text.lower() for pair in examples.pairs for text in pair}
        else:
            learned |= {text for row in examples.rows for text in texts_of_row(row)}
    return learned


def texts_held(ready):
    return {text for row in ready.held.rows for text in texts_of_row(row)}


def sentence(*numbers):
    return " ".join("".join(SYLLABLES[int(digit)] for digit in str(number)) for number in numbers)


@pytest.fixture
def recurring(tmp_path):
    """240 judgements in 4 groups: the 60 references recur in every group, some sources and outputs
    in two.
    """
    random = np.random.default_rng(3)
    lines = ["group\tsource\thypothesis\treference\treference_2\thuman"]
    for k in range(240):
        item, group = k % 60, k // 60
        source = sentence(1, item // 2) if group == 0 else sentence(2, group, item)
        output = sentence(3, item // 3) if group == 1 else sentence(4, group, item)
        second = sentence(1, item // 2) if group == 2 else sentence(5, group, item)
        lines.append(
            f"g{group}\t{source}\t{output}\t{sentence(6, item)}\t{second}\t{random.normal():.3f}"
        )
    path = tmp_path / "recurring.tsv"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "lessons",
    ["table", ["table", "correlation:table"], ["table", "paraphrase:table(human_range=-9/9)"]],
    ids=["one", "two", "sentences"],
)
def test_no_text_is_on_both_sides(plan, recurring, lessons, seed):
    schedule = replace(plan.schedule, seed=seed)
    ready = tuning._open_plan(
        replace(plan, data=recurring, lessons=lessons, dev=0.2, schedule=schedule)
    )
    assert not texts_held(ready) & texts_learned(ready)
    assert 24 <= len(ready.held) <= 48


@pytest.mark.parametrize("dev", ["table(human_range=0/5)", "table(pairs=all)"])
def test_dev_under_another_name_is_not_what_is_learned_from(plan, dev):
    with pytest.raises(
        DataError, match="each of its 64 judgements shares a source, reference or output with"
    ):
        tuning._open_plan(replace(plan, dev=dev))


def test_what_shares_a_text_with_dev_is_left_out_and_counted(plan, recurring, tmp_path):
    lines = recurring.read_text().splitlines()
    own = [
        f"own\t{sentence(7, k)}\t{sentence(8, k)}\t{sentence(9, k)}\t{sentence(9, 9, k)}\t{k}"
        for k in range(40)
    ]
    both = tmp_path / "both.tsv"
    both.write_text("\n".join([*lines[:61], *own]) + "\n")
    first = lines[1].split("\t")
    shared = ["other", *own[0].split("\t")[1:4], first[4], "3"]
    both.write_text(both.read_text() + "\t".join(shared) + "\n")
    chosen = replace(
        plan,
        data=both,
        lessons="table(pairs=own/other)",
        dev="table(pairs=g0)",
        schedule=replace(plan.schedule, epochs=1),
    )
    with pytest.raises(DataError, match="human scores are all the same"):
        tuning._open_plan(chosen)  # a group with a single judgement
    both.write_text(both.read_text() + "\t".join(["other", *own[1].split("\t")[1:5], "4"]) + "\n")
    made = tune(chosen, tmp_path / "adapter")
    card = json.loads((tmp_path / "adapter" / "card.json").read_text())
    assert made.card["learned_from"][0]["left_out"] == 1
    assert card["learned_from"][0]["judgements"] == 41
    assert card["held_out"]["texts_also_learned"] == 0
    said = (tmp_path / "adapter" / "README.md").read_text()
    assert "0 were learned from; judgements that share one were left out: 1 of table." in said


def test_one_set_of_connected_judgements_does_not_swallow_the_held_out_part(plan, tmp_path):
    """Every output is the reference of the next judgement: all are connected, so some are left out
    on the way.
    """
    random = np.random.default_rng(5)
    lines = ["hypothesis\treference\thuman"]
    lines += [f"{sentence(1, k)}\t{sentence(1, k + 1)}\t{random.normal():.3f}" for k in range(200)]
    chain = tmp_path / "chain.tsv"
    chain.write_text("\n".join(lines) + "\n")
    ready = tuning._open_plan(replace(plan, data=chain, dev=0.1))
    assert not texts_held(ready) & texts_learned(ready)
    assert len(ready.held) == 20
    assert len(ready.lessons[0]) + ready.parts.left_out[0] + 20 == 200
    assert 140 <= len(ready.lessons[0]) <= 179
