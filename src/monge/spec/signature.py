"""The line that says how a score was made: complete, readable back, comparable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from monge.errors import MongeError, StatisticsMismatch
from monge.spec.axes import AXES, Encoder, Idf, LanguageModel
from monge.spec.blend import BLENDS, BlendSpec
from monge.spec.codec import read_choice, show_choice, split_changes
from monge.spec.lexical import LEXICAL, LexicalSpec
from monge.spec.metric import OPTIONAL, MetricSpec
from monge.spec.presets import Spec, row
from monge.types import Signature

_MODEL_KEYS = ("model", "tokenizer", "config")
_ENCODER_KEYS = {
    "precision": "precision",
    "length": "max_length",
    "overlong": "overlong",
    "prefix": "prefix",
    "unknown": "unknown",
}
_SHARED_KEYS = (*_MODEL_KEYS, *_ENCODER_KEYS)
_WRITTEN = tuple(axis for axis in AXES if axis not in ("encoder", *OPTIONAL))
_BEFORE = {"units": "unknown=match"}
"""By axis, what signatures mean that were written before a field was there; a field that they name wins."""
FILE = "file"


@dataclass(frozen=True)
class ModelIdentity:
    """A model's name and the digests that tell it from others of the same name."""

    name: str
    weights: str
    tokenizer: str
    config: str


def sign(
    name: str,
    spec: MetricSpec,
    model: ModelIdentity,
    *,
    stats: Mapping[str, str],
    stopwords: str = "",
    language_model: str = "",
) -> Signature:
    """The signature of a concrete spec; `stats` are digests by kind, the last two hashes of what the spec names."""
    encoder = dict(part.split("=", 1) for part in show_choice(replace(spec.encoder, model="auto")).split(","))
    fields = [("metric", name), ("model", f"{quoted(model.name)}#{model.weights[:8]}")]
    fields += [("tokenizer", model.tokenizer[:8]), ("config", model.config[:8])]
    fields += [(key, encoder[field]) for key, field in _ENCODER_KEYS.items()]
    digests = {"units": stopwords, "fluency": language_model}
    chosen = [axis for axis, usual in OPTIONAL.items() if spec.choice(axis).name != usual]
    fields += [(axis, _signed(spec, axis, digests.get(axis, ""))) for axis in (*_WRITTEN, *chosen)]
    fields.append(("stats", ",".join(f"{kind}={digest}" for kind, digest in stats.items()) or "none"))
    fields.append(("monge", version("monge")))
    return Signature(tuple(fields))


def sign_lexical(spec: LexicalSpec, library: str) -> Signature:
    """The signature of a lexical metric: its settings, and the signature of the library that computed it."""
    options = ",".join(f"{name}={value}" for name, value in spec.written().items())
    fields = ("metric", spec.name), ("options", options), *Signature.parse(library).fields, *_faced(spec.against)
    return Signature((*fields, ("monge", version("monge"))))


def sign_blend(name: str, parts: Mapping[str, Signature], stats: Mapping[str, str]) -> Signature:
    """The signature of a blend: what its parts share, each part's axes under its name, and the fitted ranges."""
    first = next(iter(parts.values()))
    shared = [(key, value) for key, value in first.fields if key in _SHARED_KEYS]
    own = [(f"{part}.{axis}", said[axis]) for part, said in parts.items() for axis in _WRITTEN]
    digests = ",".join(f"{kind}={digest}" for kind, digest in stats.items()) or "none"
    faced = _faced(first.get("against"))
    return Signature((("metric", name), *shared, *own, *faced, ("stats", digests), ("monge", version("monge"))))


def _faced(side: str) -> tuple[tuple[str, str], ...]:
    """What a signature says of the side that hypotheses were compared with: nothing of references, as ever."""
    return () if side in ("", OPTIONAL["against"]) else (("against", side),)


def _signed(spec: MetricSpec, axis: str, digest: str) -> str:
    if axis == "units" and spec.units.stopwords != "none":
        return show_choice(replace(spec.units, stopwords=_marked(spec.units.stopwords, digest)))
    if isinstance(spec.fluency, LanguageModel) and axis == "fluency":
        return show_choice(replace(spec.fluency, model=_marked(spec.fluency.model, digest)))
    if axis == "weights" and isinstance(spec.weights, Idf) and not named_corpus(spec.weights.corpus):
        return show_choice(replace(spec.weights, corpus=FILE))
    return show_choice(spec.choice(axis))


def _marked(file: str, digest: str) -> str:
    """The name of a file or directory without its path, and the hash of what is in it."""
    return f"{quoted(Path(file).name)}#{digest}"


def quoted(name: str) -> str:
    """A name as it stands in a signature: what the grammar uses, and what is no visible character, as %XX."""

    def written(character: str) -> str:
        plain = character.isprintable() and character not in "%|,#=()"
        return character if plain else quote(character, safe="", errors="surrogateescape")

    return "".join(map(written, name))


def _unquoted(name: str) -> str:
    return unquote(name, errors="surrogateescape")


def named_corpus(corpus: str) -> bool:
    """Whether an idf corpus is one of the run's own sides, rather than a file."""
    return corpus in ("references", "each-side", "sources")


@dataclass(frozen=True)
class Parsed:
    """What a signature says: the metric, its spec, and the digests a replay must meet.

    For a lexical metric `stats` are the fields of the library that computed it, and there is no model.
    Of a blend, `members` has what the signature says of each member: its stopwords are its own.
    """

    metric: str
    spec: Spec
    stats: Mapping[str, str]
    monge: str
    weights: str = ""
    tokenizer: str = ""
    config: str = ""
    stopwords: str = ""
    language_model: str = ""
    members: Mapping[str, Parsed] = field(default_factory=dict)


def parse(line: str) -> Parsed:
    """Read a signature back; raises where a key is missing, unknown, or has a value nothing accepts."""
    signature = Signature.parse(line)
    if signature.get("metric") in LEXICAL:
        return _parsed_lexical(signature)
    if signature.get("metric") in BLENDS:
        return _parsed_blend(signature)
    expected = ["metric", *_SHARED_KEYS, *_WRITTEN, "stats", "monge"]
    keys = [key for key, _ in signature.fields]
    if "config" not in keys and "tokenizer" in keys:
        raise StatisticsMismatch(
            "the signature lacks 'config', the digest of the model's configuration: it is of a version of monge that "
            "did not sign it, though it moves scores; score again by name (-m) for a signature that replays"
        )
    for key in expected:
        if key not in keys:
            raise StatisticsMismatch(f"the signature lacks {key!r}")
    for key in keys:
        if key not in (*expected, *OPTIONAL):
            raise StatisticsMismatch(f"the signature has an unknown key {key!r}")
    try:
        return _parsed(signature)
    except StatisticsMismatch:
        raise
    except MongeError as error:
        raise StatisticsMismatch(f"the signature cannot be read: {error}") from None


def _parsed(signature: Signature) -> Parsed:
    name, _, weights = signature["model"].rpartition("#")
    text = ",".join(f"{field}={signature[key]}" for key, field in _ENCODER_KEYS.items() if key != "prefix")
    encoder = read_choice("encoder", f"{text},prefix={signature['prefix']}")
    assert isinstance(encoder, Encoder)
    encoder = replace(encoder, model=_unquoted(name))
    said = {axis: signature.get(axis) or OPTIONAL.get(axis, "") for axis in (*_WRITTEN, *OPTIONAL)}
    said |= {axis: f"{before},{said[axis]}" for axis, before in _BEFORE.items()}
    chosen: dict[str, Any] = {axis: read_choice(axis, text) for axis, text in said.items()}
    spec: MetricSpec = replace(row(signature["metric"]).spec, encoder=encoder, **chosen)
    name, mark, words = spec.units.stopwords.partition("#")
    if mark:
        spec = replace(spec, units=replace(spec.units, stopwords=_unquoted(name)))
    spoken = ""
    if isinstance(spec.fluency, LanguageModel):
        name, _, spoken = spec.fluency.model.rpartition("#")
        spec = replace(spec, fluency=replace(spec.fluency, model=_unquoted(name)))
    return Parsed(
        signature["metric"],
        spec,
        _stats(signature),
        signature["monge"],
        weights=weights,
        tokenizer=signature["tokenizer"],
        config=signature["config"],
        stopwords=words,
        language_model=spoken,
    )


def _stats(signature: Signature) -> dict[str, str]:
    """The digests of the statistics by kind."""
    if signature["stats"] == "none":
        return {}
    pairs = [part.partition("=") for part in signature["stats"].split(",")]
    if not all(kind and digest for kind, _, digest in pairs):
        raise StatisticsMismatch(f"the signature's stats are not kind=digest pairs: {signature['stats']!r}")
    return {kind: digest for kind, _, digest in pairs}


def _parsed_lexical(signature: Signature) -> Parsed:
    fields = dict(signature.fields)
    for key in ("options", "monge"):
        if key not in fields:
            raise StatisticsMismatch(f"the signature lacks {key!r}")
    try:
        spec = LexicalSpec(signature["metric"]).changed(split_changes(signature["options"]))
        spec = spec.facing(fields.get("against", OPTIONAL["against"]))
    except MongeError as error:
        raise StatisticsMismatch(f"the signature cannot be read: {error}") from None
    return Parsed(spec.name, spec, library_fields(signature), signature["monge"])


def _parsed_blend(signature: Signature) -> Parsed:
    """Each member read as a signature of its own, under any metric's name."""
    members: dict[str, Parsed] = {}
    shared = [(key, value) for key, value in signature.fields if "." not in key and key != "metric"]
    for name in BLENDS[signature["metric"]].spec.members:
        own = [(key.removeprefix(f"{name}."), value) for key, value in signature.fields if key.startswith(f"{name}.")]
        members[name] = parse(str(Signature((("metric", "wmd"), *shared, *own))))
    specs = {name: said.spec for name, said in members.items() if isinstance(said.spec, MetricSpec)}
    first = next(iter(members.values()))
    return Parsed(signature["metric"], BlendSpec(specs), first.stats, first.monge, members=members)


def library_fields(signature: Signature) -> dict[str, str]:
    """What the library of a lexical metric says of itself, the number of references left out."""
    left_out = ("metric", "options", "against", "monge", "nrefs")
    return {key: value for key, value in signature.fields if key not in left_out}


def difference(one: str, other: str) -> list[tuple[str, str, str]]:
    """The keys in which two signatures differ, with both values ('' where one has no such key)."""
    first, second = Signature.parse(one), Signature.parse(other)
    keys = list(dict.fromkeys([key for key, _ in first.fields] + [key for key, _ in second.fields]))
    return [(key, first.get(key), second.get(key)) for key in keys if first.get(key) != second.get(key)]
