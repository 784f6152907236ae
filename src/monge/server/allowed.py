"""What settings of a request may name: shipped lists, loaded models, bounded numbers; no files."""

from __future__ import annotations

from collections.abc import Collection

from monge.errors import InvalidSetting
from monge.metrics.axes import Idf, LanguageModel, Spectrum, Tempered
from monge.metrics.blend import BlendSpec
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import MetricSpec
from monge.metrics.plugins import PluginSpec
from monge.metrics.presets import Spec
from monge.metrics.signature import named_corpus
from monge.text import stopwords

MOST_SWEEPS, MOST_NGRAM, MOST_NUMBERS, MOST_ORDER = 10_000, 16, 16, 16
FETCHED = ("spm", "flores101", "flores200", "spBLEU-1K")
"""Tokenizers whose library would fetch them from the network."""


def check_settings(spec: Spec, models: Collection[str], precision: str) -> None:
    """Raise where a setting is not offered by this service, or asks for unbounded work."""
    if isinstance(spec, LexicalSpec):
        _check_words(spec)
        return
    if isinstance(spec, PluginSpec):  # only those that the operator named are loaded
        return
    members = list(spec.members.values()) if isinstance(spec, BlendSpec) else [spec]
    for member in members:
        if isinstance(member, LexicalSpec):
            _check_words(member)
        else:
            _check_vectors(member, models, precision)


def _check_words(spec: LexicalSpec) -> None:
    tokenizer = spec.options.get("tokenize")
    if tokenizer in FETCHED:
        raise InvalidSetting(
            f"{spec.name}: tokenize={tokenizer} is fetched from the network, which a service does "
            "not"
        )
    for option in ("char_order", "word_order", "orders", "order", "beta"):
        if isinstance(spec.options.get(option), int) and spec.options[option] > MOST_ORDER:
            raise InvalidSetting(
                f"{spec.name}: {option} is at most {MOST_ORDER} here, got {spec.options[option]}"
            )


def _check_vectors(spec: MetricSpec, models: Collection[str], precision: str) -> None:
    encoder, fluency, units = spec.encoder, spec.fluency, spec.units
    _check_one_of("encoder.model", encoder.model, ("auto", *models))
    _check_one_of("encoder.precision", encoder.precision, (precision,))
    _check_one_of("encoder.unknown", encoder.unknown, ("drop", "zero"))
    _check_one_of("units.stopwords", units.stopwords, ("none", *stopwords.names()))
    if isinstance(fluency, LanguageModel):
        _check_one_of("fluency.model", fluency.model, models)
    if isinstance(spec.weights, Idf) and not named_corpus(spec.weights.corpus):
        raise InvalidSetting(
            "weights.corpus takes references, each-side, both-sides or sources here, got "
            f"{spec.weights.corpus!r}; fit other texts with POST /v1/stats and give their id"
        )
    if isinstance(spec.transport, Tempered):
        _check_at_most("transport.sweeps", spec.transport.sweeps, MOST_SWEEPS)
    if isinstance(spec.readout, Spectrum):
        _check_at_most(
            "numbers in readout.temperatures", len(spec.readout.temperatures), MOST_NUMBERS
        )
    _check_at_most("units.ngram", units.ngram, MOST_NGRAM)
    _check_at_most("exponents of layers", len(spec.layers.exponents), MOST_NUMBERS)


def _check_one_of(target: str, value: str, accepted: Collection[str]) -> None:
    if value not in accepted:
        raise InvalidSetting(
            f"{target} takes {', '.join(accepted) or 'nothing'} in this service, got {value[:80]!r}"
        )


def _check_at_most(target: str, value: int, most: int) -> None:
    if value > most:
        raise InvalidSetting(f"{target}: at most {most} in this service, got {value}")
