"""A language model's share of a score, with a tiny GPT-2 of random weights made here."""

import json
import math
import shutil

import pytest
import torch

from monge import api
from monge.cli.app import run
from monge.encoders.causal import open_causal
from monge.errors import InvalidSetting, ModelError, StatisticsMismatch
from monge.metrics.presets import resolve
from monge.metrics.signature import parse

TRAINING = ["the cat sat on the mat . the dog ran to the house , and the cat slept ."] * 4
TEXTS = [
    "the cat sat on the mat .",
    "mat the on",
    "the dog ran to the house , and the cat slept .",
    "a <|end|> b",
]
SOURCES = ["die Katze sitzt .", "Matte die", "der Hund lief .", "x"]


@pytest.fixture(scope="module")
def tiny_gpt2(tmp_path_factory):
    """Byte-level BPE, two layers of 16, 24 positions."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<|end|>"], initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(TRAINING, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<|end|>", eos_token="<|end|>"
    )
    torch.manual_seed(5)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=24, n_embd=16, n_layer=2, n_head=2, initializer_range=0.5,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("causal") / "tiny-gpt2"
    GPT2LMHeadModel(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return path


def xmover(model, tiny_bert, *more):
    settings = [f"fluency=lm({model})", *more]
    return api.load("xmoverscore", settings=settings, model=str(tiny_bert))


def expected(path, text):
    """-NLL as the transformers model itself computes it, a text alone."""
    from transformers import AutoTokenizer, GPT2LMHeadModel

    model, tokenizer = (
        GPT2LMHeadModel.from_pretrained(path).eval(),
        AutoTokenizer.from_pretrained(path),
    )
    ids = torch.tensor([tokenizer(text, split_special_tokens=True)["input_ids"][:24]])
    with torch.no_grad():
        return -float(model(ids, labels=ids).loss)


def authors_probability(path, text):
    """(1 / e^NLL)^(1 / length) as the authors' later code has it: NLL is the model's mean loss,
    length its input's.
    """
    from transformers import AutoTokenizer

    length = len(
        AutoTokenizer.from_pretrained(path)(text, split_special_tokens=True)["input_ids"][:24]
    )
    assert length > 1
    return (1 / math.exp(-expected(path, text))) ** (1 / length)


def test_probability_of_a_long_text_counts_the_pieces_that_are_read(tiny_gpt2, tiny_bert):
    long = " ".join(TEXTS[:3] * 4)
    found = xmover(tiny_gpt2, tiny_bert, "fluency.form=probability").score(
        [long, "a"], sources=["x", "y"]
    )
    assert found.parts["fluency"][0] == pytest.approx(
        authors_probability(tiny_gpt2, long), abs=1e-6
    )
    assert found.parts["fluency"][1] == pytest.approx(1 / open_causal(str(tiny_gpt2)).vocabulary)


def test_means_are_those_of_the_model_itself(tiny_gpt2):
    longer = " ".join(TEXTS[:3] * 4)
    found = open_causal(str(tiny_gpt2)).mean_log_likelihoods([*TEXTS, longer])
    assert found == pytest.approx(
        [expected(tiny_gpt2, text) for text in (*TEXTS, longer)], abs=1e-5
    )
    assert len({round(one, 6) for one in found}) == 5


def test_company_does_not_matter(tiny_gpt2, monkeypatch):
    model = open_causal(str(tiny_gpt2))
    together = model.mean_log_likelihoods(TEXTS)
    assert [model.mean_log_likelihoods([text])[0] for text in TEXTS] == pytest.approx(
        together, abs=1e-6
    )
    monkeypatch.setattr("monge.encoders.causal.BATCH_PIECES", 1)
    assert model.mean_log_likelihoods(TEXTS[::-1])[::-1] == pytest.approx(together, abs=1e-6)


@pytest.mark.parametrize("form", ["nll", "probability"])
def test_the_score_is_transport_plus_weight_times_fluency(tiny_gpt2, tiny_bert, form):
    plain = api.load("xmoverscore", model=str(tiny_bert)).score(TEXTS, sources=SOURCES)
    found = xmover(tiny_gpt2, tiny_bert, "fluency.weight=0.3", f"fluency.form={form}").score(
        TEXTS, sources=SOURCES
    )
    fluency = [
        (authors_probability if form == "probability" else expected)(tiny_gpt2, text)
        for text in TEXTS
    ]
    assert found.parts["transport"] == pytest.approx(plain.segments, abs=1e-12)
    assert found.parts["fluency"] == pytest.approx(fluency, abs=1e-5)
    assert found.segments == pytest.approx(plain.segments + 0.3 * found.parts["fluency"], abs=1e-12)
    assert found.higher_is_better


def test_texts_with_nothing_to_predict_get_what_guessing_would(tiny_gpt2, tiny_bert):
    vocabulary = open_causal(str(tiny_gpt2)).vocabulary
    found = xmover(tiny_gpt2, tiny_bert).score(["", "a", *TEXTS], sources=["x", "y", *SOURCES])
    assert found.parts["fluency"][:2] == pytest.approx([-math.log(vocabulary)] * 2)
    assert found.parts["transport"][0] == -1, "an empty hypothesis has the worst transport"


def test_without_it_nothing_changes(tiny_bert):
    metric = api.load("xmoverscore", model=str(tiny_bert))
    result = metric.score(TEXTS, sources=SOURCES)
    assert "fluency" not in str(result.signature) and "fluency" not in result.parts
    assert metric.scorer.language_model is None


def test_it_is_signed_and_replayed(tiny_gpt2, tiny_bert, tmp_path):
    metric = xmover(tiny_gpt2, tiny_bert, "fluency.weight=0.2")
    result = metric.score(TEXTS, sources=SOURCES)
    line, digest = str(result.signature), open_causal(str(tiny_gpt2)).digest
    assert f"fluency:lm,model=tiny-gpt2#{digest},weight=0.2,form=nll" in line
    assert parse(line).language_model == digest and parse(line).spec.fluency.model == "tiny-gpt2"
    again, stats = api.replay(line, model=str(tiny_bert), settings=[f"fluency.model={tiny_gpt2}"])
    assert stats == {}
    repeated = again.score(TEXTS, sources=SOURCES)
    assert repeated.segments.tolist() == result.segments.tolist()
    assert str(repeated.signature) == line
    other = shutil.copytree(tiny_gpt2, tmp_path / "other")
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    (other / "tokenizer.json").write_text(
        json.dumps({**tokenizer, "normalizer": {"type": "Lowercase"}})
    )
    with pytest.raises(StatisticsMismatch, match="language model is"):
        api.replay(line, model=str(tiny_bert), settings=[f"fluency.model={other}"])


def test_scores_are_kept_apart_in_a_store(tiny_gpt2, tiny_bert, tmp_path):
    with_it, without = xmover(tiny_gpt2, tiny_bert), api.load("xmoverscore", model=str(tiny_bert))
    for _ in range(2):
        found = [
            api.score_segments(
                [one], api.segments_of(TEXTS, None, SOURCES), cache=tmp_path / "store"
            )[0]
            for one in (with_it, without)
        ]
        assert (found[0].segments != found[1].segments).all()
        assert found[0].segments == pytest.approx(
            with_it.score(TEXTS, sources=SOURCES).segments, abs=1e-12
        )


def test_an_explanation_has_the_score_of_the_pair(tiny_gpt2, tiny_bert):
    metric = xmover(tiny_gpt2, tiny_bert)
    found = metric.explain(TEXTS[0], SOURCES[0])
    assert found.score == pytest.approx(
        metric.score(TEXTS[:1], sources=SOURCES[:1]).score, abs=1e-9
    )
    assert found.parts["fluency"] == pytest.approx(expected(tiny_gpt2, TEXTS[0]), abs=1e-5)


def test_scores_from_0_to_1(tiny_gpt2, tiny_bert):
    found = xmover(tiny_gpt2, tiny_bert, "scale=unit").score(["", *TEXTS], sources=["x", *SOURCES])
    raw = xmover(tiny_gpt2, tiny_bert).score(["", *TEXTS], sources=["x", *SOURCES])
    assert (found.segments > 0).all() and (found.segments < 1).all()
    assert found.segments.argsort().tolist() == raw.segments.argsort().tolist()


@pytest.mark.parametrize(
    ("name", "settings", "said"),
    [
        ("xmoverscore", ["fluency=lm"], "fluency.model=DIRECTORY"),
        ("baryscore", ["fluency=lm(x)"], "higher for better"),
        ("bertscore", ["fluency=lm(x)", "scale=baseline"], "scale=raw or unit"),
        ("sentsim", ["fluency=lm(x)"], "a blend has no language model"),
        ("xmoverscore", ["fluency=lm(x)", "fluency.weight=-1"], "a positive finite number"),
        ("xmoverscore", ["fluency.weight=1"], "belongs to fluency=lm"),
    ],
)
def test_what_does_not_go_together_is_told(name, settings, said):
    with pytest.raises(InvalidSetting, match=said):
        resolve(name, tuple(settings))


def test_only_causal_models_with_their_head_are_taken(tiny_gpt2, tiny_bert, tmp_path):
    with pytest.raises(ModelError, match=r"no causal language model.*BertModel"):
        open_causal(str(tiny_bert))
    headless = shutil.copytree(tiny_gpt2, tmp_path / "headless")
    config = json.loads((headless / "config.json").read_text())
    (headless / "config.json").write_text(json.dumps({**config, "tie_word_embeddings": False}))
    with pytest.raises(ModelError, match=r"they lack lm_head"):
        open_causal(str(headless))
    coded = shutil.copytree(tiny_gpt2, tmp_path / "coded")
    (coded / "config.json").write_text(
        json.dumps({**config, "auto_map": {"AutoModelForCausalLM": "x.Y"}})
    )
    with pytest.raises(ModelError, match="its own code"):
        open_causal(str(coded))
    pickled = shutil.copytree(tiny_gpt2, tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(ModelError, match="can run code"):
        open_causal(str(pickled))
    with pytest.raises(ModelError, match="not a directory"):
        open_causal("no/such-model")


def test_the_command(tiny_gpt2, tiny_bert, tmp_path, capsys):
    for name, lines in (("hyp", TEXTS), ("src", SOURCES)):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    texts = ["-t", str(tmp_path / "hyp"), "-s", str(tmp_path / "src"), "--model", str(tiny_bert)]
    assert (
        run(["score", *texts, "-m", f"xmoverscore[fluency=lm({tiny_gpt2})]", "--format", "json"])
        == 0
    )
    (found,) = json.loads(capsys.readouterr().out)["results"]
    assert found["score"] == pytest.approx(
        xmover(tiny_gpt2, tiny_bert).score(TEXTS, sources=SOURCES).score, abs=1e-9
    )
    assert "fluency:lm" in found["signature"] and set(found["parts"]) == {"transport", "fluency"}
