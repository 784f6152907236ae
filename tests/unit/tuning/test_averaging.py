"""Means of adapters: their changes, their cards, and what cannot be averaged."""

import json
from dataclasses import replace

import pytest
import torch

import monge
from monge.encoders.adapter import IN, OUT, read_adapter
from monge.errors import InvalidSetting
from monge.tuning import Lesson, Method, tune
from monge.tuning.averaging import average_adapters


@pytest.fixture(scope="module")
def adapters(judged, tiny_bert, tmp_path_factory):
    """Two adapters that learned from the same judgements by other losses."""
    from monge.tuning import Plan, Schedule

    folder = tmp_path_factory.mktemp("adapters")
    plan = Plan(
        "twmd", [Lesson("table")], judged, dev=0.25, model=str(tiny_bert), settings=("layers=3",),
        schedule=Schedule(epochs=2, batch=8, rate=5e-3, checks=1, seed=3), method=Method(rank=2),
    )  # fmt: skip
    tune(plan, folder / "score")
    tune(replace(plan, lessons=[Lesson("table", "correlation")]), folder / "correlation")
    return folder / "score", folder / "correlation"


def change(adapter, name):
    tensors = adapter.tensors
    return tensors[name + OUT].double() @ tensors[name + IN].double()


def test_the_mean_of_changes_with_weights(adapters, judged, tmp_path):
    texts = [f"{adapters[0]}*0.75", f"{adapters[1]}*0.25"]
    card = average_adapters(texts, tmp_path / "mean", data=judged)
    first, second = map(read_adapter, adapters)
    mean = read_adapter(tmp_path / "mean")
    names = [name.removesuffix(OUT) for name in first.tensors if name.endswith(OUT)]
    assert names
    for name in names:
        wanted = 0.75 * change(first, name) + 0.25 * change(second, name)
        assert torch.allclose(change(mean, name), wanted, atol=2e-4)
    assert card["rank"] == 4
    assert card["parameters"] == sum(tensor.numel() for tensor in mean.tensors.values())
    assert [part["weight"] for part in card["averaged"]] == [0.75, 0.25]


def test_a_rank_keeps_the_largest_singular_values(adapters, judged, tmp_path):
    average_adapters(list(map(str, adapters)), tmp_path / "mean", data=judged, rank=1)
    first, second, mean = (read_adapter(path) for path in (*adapters, tmp_path / "mean"))
    name = next(name.removesuffix(OUT) for name in first.tensors if name.endswith(OUT))
    wanted = (change(first, name) + change(second, name)) / 2
    left, values, right = torch.linalg.svd(wanted, full_matrices=False)
    nearest = values[0] * left[:, :1] @ right[:1]
    assert torch.allclose(change(mean, name), nearest, atol=2e-4)
    assert mean.card["rank"] == 1


def test_the_mean_of_an_adapter_with_itself_scores_as_it_does(
    adapters, judged, tiny_bert, tmp_path
):
    card = average_adapters([str(adapters[0])] * 2, tmp_path / "mean", data=judged)
    texts = ["the cat sat", "a dog ran"], ["the dog sat", "a house"]
    scores = [
        monge.score(*texts, "twmd", model=f"{tiny_bert}+{folder}", layers=3).segments.tolist()
        for folder in (adapters[0], tmp_path / "mean")
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-3)
    own = json.loads((adapters[0] / "card.json").read_text())
    assert card["held_out"]["judgements"] == own["held_out"]["judgements"] == 16
    assert card["held_out"]["agreement"] == pytest.approx(own["held_out"]["agreement"], abs=2e-3)
    human = monge.score(
        *texts, "twmd", model=f"{tiny_bert}+{tmp_path / 'mean'}", settings=["scale=human"]
    )
    line = card["affine"]
    assert human.segments == pytest.approx(
        [line["slope"] * score + line["intercept"] for score in scores[1]], abs=1e-6
    )
    assert "monge adapter average" in (tmp_path / "mean" / "README.md").read_text()


def test_what_cannot_be_averaged_is_refused_by_name(adapters, judged, tmp_path):
    first, second = map(str, adapters)
    out = tmp_path / "mean"
    with pytest.raises(InvalidSetting, match="two adapters or more"):
        average_adapters([first], out, data=judged)
    with pytest.raises(InvalidSetting, match=r"an adapter is DIR or DIR\*WEIGHT"):
        average_adapters([first, f"{second}*much"], out, data=judged)
    with pytest.raises(InvalidSetting, match="above 0 and at most 1, got 2"):
        average_adapters([first, f"{second}*2"], out, data=judged)
    with pytest.raises(InvalidSetting, match="rank 0 must be 1 or more"):
        average_adapters([first, second], out, data=judged, rank=0)
    assert not out.exists()
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "mine.txt").write_text("kept")
    with pytest.raises(InvalidSetting, match="not an empty directory: choose another -o"):
        average_adapters([first, second], taken, data=judged)
    assert [path.name for path in taken.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("layers", [2], r"its layers is \[2\], that of .* is \[3\]"),
        ("metric", "bertscore", "its metric is bertscore"),
        ("seed", 4, "held out other judgements than"),
    ],
)
def test_adapters_of_other_kinds_are_refused(adapters, judged, tmp_path, key, value, message):
    other = tmp_path / "other"
    other.mkdir()
    for file in ("adapter.safetensors", "card.json"):
        (other / file).write_bytes((adapters[1] / file).read_bytes())
    card = json.loads((other / "card.json").read_text())
    if key == "seed":
        card["plan"]["schedule"]["seed"] = value
    else:
        card[key] = value
    (other / "card.json").write_text(json.dumps(card))
    with pytest.raises(InvalidSetting, match=message):
        average_adapters([str(adapters[0]), str(other)], tmp_path / "mean", data=judged)
