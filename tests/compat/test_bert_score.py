"""`monge.compat.bert_score` beside the package bert-score 0.3.13: the same call, the same shapes,
the same numbers.

On 500 pairs: tests/parity/test_bertscore.py.
"""

from __future__ import annotations

import inspect
import json
import shutil
import sys
from pathlib import Path

import pytest
import torch

import monge
from monge.compat import bert_score as ours

LAYER, COUNT, TOLERANCE = 4, 8, 2e-6
pytestmark = pytest.mark.usefixtures("quietly")


def both(peer, *given, **settings):
    found = [
        module.score(*given, num_layers=LAYER, device="cpu", **settings) for module in (ours, peer)
    ]
    for one, other in zip(*found, strict=True):
        assert one.dtype == other.dtype == torch.float32
        assert one.shape == other.shape
    return found


def worst(one, other):
    return max(float((a - b).abs().max()) for a, b in zip(one, other, strict=True))


def test_every_parameter_of_the_package_is_there(peer_bert_score):
    for name in ("score", "plot_example"):
        theirs, mine = (
            inspect.signature(getattr(one, name)).parameters for one in (peer_bert_score, ours)
        )
        assert [(p.name, p.default) for p in theirs.values()] == [
            (p.name, p.default) for p in mine.values()
        ][:-1]
    theirs, mine = (inspect.signature(one.BERTScorer).parameters for one in (peer_bert_score, ours))
    assert list(theirs) == list(mine)[:-2]
    theirs, mine = (
        inspect.signature(one.BERTScorer.score).parameters for one in (peer_bert_score, ours)
    )
    assert list(theirs) == list(mine)


def test_every_layer_at_once(pairs, embedded, peer_bert_score):
    mine, theirs = both(peer_bert_score, *pairs, embedded, all_layers=True)
    assert mine[0].shape == (7, COUNT)
    assert worst(mine, theirs) <= TOLERANCE


def test_several_references_take_the_best_of_each_part_v19(pairs, embedded, peer_bert_score):
    hypotheses, references = pairs
    several = [[one, references[(k + 7) % COUNT]] for k, one in enumerate(references)]
    assert worst(*both(peer_bert_score, hypotheses, several, embedded, idf=True)) <= TOLERANCE


def test_prepared_idf(pairs, embedded, peer_bert_score):
    hypotheses, references = pairs
    from bert_score.utils import get_idf_dict, get_tokenizer

    table = get_idf_dict(references, get_tokenizer(embedded), nthreads=1)
    mine, theirs = both(peer_bert_score, hypotheses, references, embedded, idf=table)
    assert worst(mine, theirs) <= TOLERANCE
    assert worst(mine, ours.score(hypotheses, references, embedded, LAYER, idf=True)) <= 1e-6
    with pytest.raises(ValueError, match="whole numbers"):
        ours.score(
            hypotheses, references, embedded, LAYER, idf=type(table)(lambda: 3.0, {7: 0.123})
        )
    with pytest.raises(ValueError, match="got dict"):
        ours.score(hypotheses, references, embedded, LAYER, idf={7: 0.5})


def test_rescaled_by_a_file_of_baselines(pairs, embedded, peer_bert_score, tmp_path):
    file = tmp_path / "baseline.csv"
    file.write_text(
        "LAYER,P,R,F\n" + "".join(f"{k},0.{k + 1}1,0.{k + 1}2,0.{k + 1}3\n" for k in range(7))
    )
    rescaled = {"lang": "en", "rescale_with_baseline": True, "baseline_path": str(file)}
    for settings in ({}, {"idf": True}, {"all_layers": True}):
        assert (
            worst(*both(peer_bert_score, *pairs, embedded, **rescaled, **settings)) <= 2 * TOLERANCE
        )
    scorers = [
        one.BERTScorer(embedded, LAYER, device="cpu", **rescaled) for one in (ours, peer_bert_score)
    ]
    assert worst(*(one.score(*pairs) for one in scorers)) <= 2 * TOLERANCE
    assert "scale:baseline" in scorers[0].hash


def test_published_baselines_serve_idf_too():
    from monge.metrics.baselines import find_published
    from monge.metrics.presets import resolve

    plain, idf = (
        resolve("bertscore@release", ("layers=17", "scale=baseline", f"weights={weights}"))[1]
        for weights in ("uniform", "idf")
    )
    assert find_published(plain, "roberta-large") == find_published(idf, "roberta-large")
    assert find_published(plain, "roberta-large")["f1"] == pytest.approx(0.8315, abs=1e-3)


def test_a_missing_baseline_is_an_error_in_both_calls(pairs, tiny_bert):
    asked = {"lang": "en", "rescale_with_baseline": True}
    with pytest.raises(ValueError, match="Baseline not found"):
        ours.BERTScorer(str(tiny_bert), 2, **asked)
    with pytest.raises(
        ValueError, match="Baseline not found"
    ):  # the package prints a line, and signs "-rescaled"
        ours.score(*pairs, str(tiny_bert), 2, **asked)


def test_empty_texts(pairs, embedded, peer_bert_score):
    hypotheses, references = ["", pairs[0][0]], [pairs[1][0], pairs[1][0]]
    with pytest.raises(AttributeError):  # with transformers 5 the package cannot read an empty text
        peer_bert_score.score(hypotheses, references, embedded, LAYER)
    _, _, f1 = ours.score(hypotheses, references, embedded, LAYER)
    assert f1[0] == 0
    assert f1[1] > 0.5


def test_a_tokenizer_that_names_no_length(pairs, embedded, peer_bert_score, tmp_path):
    """Such a one says 1e30 pieces: the package fails on the number, we read as much as the model
    has positions for.
    """
    model = Path(shutil.copytree(embedded, tmp_path / "model"))
    settings = json.loads((model / "tokenizer_config.json").read_text("utf-8"))
    (model / "tokenizer_config.json").write_text(
        json.dumps(settings | {"model_max_length": int(1e30)}), "utf-8"
    )
    with pytest.raises(OverflowError):
        peer_bert_score.score(*pairs, str(model), LAYER, device="cpu")
    right = peer_bert_score.score(*pairs, embedded, LAYER, device="cpu")
    assert worst(ours.score(*pairs, str(model), LAYER), right) <= TOLERANCE


def test_parts_of_several_references_come_from_several_of_them(embedded, peer_bert_score):
    """The package takes the best of each column: its F1 is not that of its precision and recall. So
    do we here.

    Its maintainer says it is the mean of the references, which is a third number; `bertscore` of
    monge takes all three from the reference that is best.
    """
    candidate, several = (
        "the cat sat on the mat",
        ["the cat", "yesterday the old cat sat on the mat for some hours"],
    )
    p, r, f = (
        one.item()
        for one in peer_bert_score.score([candidate], [several], embedded, LAYER, device="cpu")
    )
    each = torch.stack(
        peer_bert_score.score([candidate] * 2, several, embedded, LAYER, device="cpu")
    )
    assert (p, r, f) == pytest.approx(each.max(dim=1).values.tolist(), abs=TOLERANCE)
    assert each[0].argmax() != each[1].argmax()  # precision is one reference's, recall the other's
    harmonic = 2 * p * r / (p + r)
    assert harmonic - f > 0.01
    assert abs(each[2].mean().item() - f) > 0.01
    assert [
        one.item() for one in ours.score([candidate], [several], embedded, LAYER)
    ] == pytest.approx([p, r, f], abs=TOLERANCE)
    parts = monge.score(
        [candidate], [several], metric="bertscore", model=embedded, layers=LAYER
    ).parts
    one = [float(parts[name][0]) for name in ours.PARTS]
    assert one[2] == pytest.approx(2 * one[0] * one[1] / (one[0] + one[1]), abs=1e-9)


def test_idf_of_one_text(embedded, peer_bert_score):
    one = ["a cat"], ["profits rose"]
    assert torch.isnan(torch.stack(peer_bert_score.score(*one, embedded, LAYER, idf=True))).any()
    with pytest.raises(ValueError, match="idf from 1 text"):
        ours.score(*one, embedded, LAYER, idf=True)


def test_the_hash_tells_what_the_package_does_not(pairs, embedded, peer_bert_score):
    hypotheses, references = pairs
    given = [{"idf_sents": references}, {"idf_sents": references[:4]}]
    mine, theirs = (
        [module.BERTScorer(embedded, LAYER, idf=True, device="cpu", **one).hash for one in given]
        for module in (ours, peer_bert_score)
    )
    assert (
        theirs[0] == theirs[1]
    )  # other weights, the same hash; and version=0.3.12 in the wheel 0.3.13
    assert "version=0.3.12" in theirs[0]
    assert mine[0] != mine[1]
    (_, signature) = ours.BERTScorer(embedded, LAYER, idf=True, **given[0]).score(
        hypotheses, references, False, 64, True
    )
    assert signature == mine[0]


def test_batch_size_changes_nothing(pairs, embedded):
    small, large = (
        ours.BERTScorer(embedded, LAYER, batch_size=size).score(*pairs, batch_size=size)
        for size in (1, 64)
    )
    assert worst(small, large) == 0


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        (
            lambda m: ours.score(["a", "b"], ["a"], m),
            AssertionError,
            "2 candidates but 1 references",
        ),
        (lambda m: ours.score(["a"], ["a"]), AssertionError, "Either lang or model_type"),
        (lambda m: ours.BERTScorer(m, rescale_with_baseline=True), AssertionError, "needs lang"),
        (lambda m: ours.BERTScorer(m, 99), AssertionError, "99"),
        (
            lambda m: ours.BERTScorer(m, idf=True).score(["a"], ["b"]),
            AssertionError,
            "not computed",
        ),
        (lambda m: ours.BERTScorer(m).compute_idf(["a", "b"]), ValueError, "idf=True"),
        (lambda m: ours.plot_example(3, "a", m), AssertionError, "got int"),
        (
            lambda m: ours.score(["a"], ["a"], lang="en"),
            ours.MongeError,
            "'roberta-large'.*online=True",
        ),
    ],
)
def test_errors_are_of_the_kind_that_users_catch(embedded, call, kind, said):
    with pytest.raises(kind, match=said):
        call(embedded)


def test_plot_example_writes_its_figure(embedded, tmp_path):
    file = tmp_path / "plot.png"
    ours.plot_example(
        "a cat", "a dog", embedded, LAYER, lang="en", rescale_with_baseline=True, fname=str(file)
    )
    assert file.read_bytes().startswith(b"\x89PNG")


def test_the_command(pairs, embedded, peer_bert_score, tmp_path, monkeypatch, capsys):
    from bert_score_cli.score import main as theirs

    files = []
    for name, texts in zip(("hyps", "refs"), pairs, strict=True):
        files.append(tmp_path / name)
        files[-1].write_text("".join(f"{text}\n" for text in texts), "utf-8")
    given = [
        "-c",
        str(files[0]),
        "-r",
        str(files[1]),
        str(files[1]),
        "-m",
        embedded,
        "-l",
        str(LAYER),
        "-s",
    ]
    monkeypatch.setattr(sys, "argv", ["bert-score", *given])
    theirs()
    reported = capsys.readouterr().out.splitlines()
    assert ours.main(given) == 0
    mine = capsys.readouterr().out.splitlines()
    assert mine[0].startswith("metric:bertscore@release|")
    assert len(mine) == len(reported) == COUNT + 1
    for one, other in zip(mine[1:], reported[1:], strict=True):
        assert [float(x) for x in one.split("\t")] == pytest.approx(
            [float(x) for x in other.split("\t")], abs=3e-6
        )
    assert ours.main(["-c", str(files[0]), "-r", "nowhere.txt", "-m", embedded]) == 1
    assert capsys.readouterr().err == "bert-score (monge): nowhere.txt: no such file\n"
    assert ours.main(["-c", "a cat", "-r", "a dog", "-m", embedded, "--idf"]) == 1
    assert ours.main(["-c", "a cat", "-r", "a dog", "-m", embedded]) == 0
