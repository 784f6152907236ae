"""The line that says how a score was made: complete, readable back, comparable; and its short form.

    long     metric:twmd|model:NAME#53aa5117|tokenizer:…|config:…|precision:fp32|…|transport:…|stats:none|monge:0.1.0
    short    twmd[layers=4,encoder.max_length=256]|NAME#53aa5117-…-…|stats:idf=…|monge:0.1.0#9f2c1a7e

The short form begins with the metric as `-m` takes it: its name and what differs from the row of that name. Then
come the digests of model, tokenizer and configuration, those of statistics where there are any, and behind the last
`#` the digest of the long form. `full` writes the long form again and compares: nothing is lost, and a short form
that a version with other defaults would read otherwise is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from monge.errors import MongeError, StatisticsMismatch
from monge.spec.axes import AXES, Idf, LanguageModel
from monge.spec.blend import BLENDS, BlendSpec
from monge.spec.codec import read_choice, show_choice, split_changes
from monge.spec.labels import changes_from_row
from monge.spec.lexical import LEXICAL, LexicalSpec
from monge.spec.metric import OPTIONAL, MetricSpec
from monge.spec.presets import Spec, row, split_name
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
_SHORT = re.compile(r"(?!metric:)([^|]+)\|(.*\|)?monge:([^|#]*)#([0-9a-f]{8})")
_BEFORE = {"units": "unknown=match"}
"""By axis, what signatures mean that were written before a field was there; a field that they name wins."""
FILE = "file"
CPU = "cpu"
"""The device that a signature does not name."""
_OF_RUN = ("device", "nrefs")
"""Keys that say how a run was made: a replay on another device, or with more references, says its own."""


@cache
def _version() -> str:
    """Of monge; finding it means parsing a file, and every result is signed."""
    return version("monge")


@dataclass(frozen=True)
class ModelIdentity:
    """A model's name, the digests that tell it from others of the same name, and how it computes."""

    name: str
    weights: str
    tokenizer: str
    config: str
    precision: str = "fp32"
    device: str = CPU

    @property
    def key(self) -> str:
        """Everything that vectors depend on besides the texts and our code: all fields but the name, in full."""
        return "/".join((self.weights, self.tokenizer, self.config, self.precision, self.device))


def sign(
    name: str,
    spec: MetricSpec,
    model: ModelIdentity,
    *,
    stats: Mapping[str, str],
    stopwords: str = "",
    language_model: str = "",
    references: str = "1",
) -> Signature:
    """The signature of a concrete spec.

    `stats` are digests by kind, `stopwords` and `language_model` hashes of what the spec names, `references` is the
    number of references of a segment, or `var`.
    """
    fields = [("metric", name), ("model", f"{quoted(model.name)}#{model.weights[:8]}")]
    fields += [("tokenizer", model.tokenizer[:8]), ("config", model.config[:8])]
    fields += [] if model.device == CPU else [("device", model.device)]
    fields += _settings(_marked_spec(spec, stopwords, language_model))
    return Signature((*fields, ("nrefs", references), ("stats", _digests(stats)), ("monge", _version())))


def _settings(spec: MetricSpec) -> list[tuple[str, str]]:
    """The fields of the encoder and of every axis, as text."""
    encoder = dict(part.split("=", 1) for part in show_choice(replace(spec.encoder, model="auto")).split(","))
    chosen = [axis for axis, usual in OPTIONAL.items() if spec.choice(axis).name != usual]
    fields = [(key, encoder[name]) for key, name in _ENCODER_KEYS.items()]
    return fields + [(axis, show_choice(spec.choice(axis))) for axis in (*_WRITTEN, *chosen)]


def _digests(stats: Mapping[str, str]) -> str:
    return ",".join(f"{kind}={digest}" for kind, digest in stats.items()) or "none"


def sign_lexical(spec: LexicalSpec, library: str) -> Signature:
    """The signature of a lexical metric: its settings, and the signature of the library that computed it."""
    options = ",".join(f"{name}={value}" for name, value in spec.written().items())
    fields = ("metric", spec.name), ("options", options), *Signature.parse(library).fields, *_faced(spec.against)
    return Signature((*fields, ("monge", _version())))


def sign_blend(name: str, parts: Mapping[str, Signature], stats: Mapping[str, str]) -> Signature:
    """The signature of a blend: what its parts share, each part's axes under its name, and the fitted ranges."""
    first = next(iter(parts.values()))
    shared = [(key, value) for key, value in first.fields if key in (*_SHARED_KEYS, "device")]
    own = [(f"{part}.{axis}", said[axis]) for part, said in parts.items() for axis in _WRITTEN]
    last = (*_faced(first.get("against")), ("nrefs", first["nrefs"]), ("stats", _digests(stats)), ("monge", _version()))
    return Signature((("metric", name), *shared, *own, *last))


def _faced(side: str) -> tuple[tuple[str, str], ...]:
    """What a signature says of the side that hypotheses were compared with: nothing of references, as ever."""
    return () if side in ("", OPTIONAL["against"]) else (("against", side),)


def _marked_spec(spec: MetricSpec, stopwords: str, language_model: str) -> MetricSpec:
    """The spec with files called by their names and the hashes of what is in them, instead of by their paths."""
    if spec.units.stopwords != "none":
        spec = replace(spec, units=replace(spec.units, stopwords=_marked(spec.units.stopwords, stopwords)))
    if isinstance(spec.fluency, LanguageModel):
        spec = replace(spec, fluency=replace(spec.fluency, model=_marked(spec.fluency.model, language_model)))
    if isinstance(spec.weights, Idf) and not named_corpus(spec.weights.corpus):
        spec = replace(spec, weights=replace(spec.weights, corpus=FILE))
    return spec


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
    """Read a signature back, long or short; raises where a key is missing, unknown, or has a value nothing accepts."""
    signature = full(line)
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
        if key not in (*expected, *OPTIONAL, *_OF_RUN):
            raise StatisticsMismatch(f"the signature has an unknown key {key!r}")
    try:
        return _parsed(signature)
    except StatisticsMismatch:
        raise
    except MongeError as error:
        raise StatisticsMismatch(f"the signature cannot be read: {error}") from None


def _marked_again(signature: Signature) -> MetricSpec:
    """The spec that a signature was written from: the model left open, files with their hashes."""
    text = ",".join(f"{name}={signature[key]}" for key, name in _ENCODER_KEYS.items() if key != "prefix")
    said = {axis: signature.get(axis) or OPTIONAL.get(axis, "") for axis in (*_WRITTEN, *OPTIONAL)}
    said |= {axis: f"{before},{said[axis]}" for axis, before in _BEFORE.items()}
    chosen: dict[str, Any] = {axis: read_choice(axis, one) for axis, one in said.items()}
    encoder: Any = read_choice("encoder", f"{text},prefix={signature['prefix']}")
    return replace(row(signature["metric"]).spec, encoder=encoder, **chosen)


def _parsed(signature: Signature) -> Parsed:
    name, _, weights = signature["model"].rpartition("#")
    spec = _marked_again(signature)
    spec = replace(spec, encoder=replace(spec.encoder, model=_unquoted(name)))
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
    members = {name: parse(str(_member(signature, name))) for name in BLENDS[signature["metric"]].spec.members}
    specs = {name: said.spec for name, said in members.items() if isinstance(said.spec, MetricSpec)}
    first = next(iter(members.values()))
    return Parsed(signature["metric"], BlendSpec(specs), first.stats, first.monge, members=members)


def _member(signature: Signature, name: str) -> Signature:
    """What the signature of a blend says of a member, as a signature of its own."""
    shared = [(key, value) for key, value in signature.fields if "." not in key and key != "metric"]
    own = [(key.removeprefix(f"{name}."), value) for key, value in signature.fields if key.startswith(f"{name}.")]
    return Signature((("metric", "wmd"), *shared, *own))


def library_fields(signature: Signature) -> dict[str, str]:
    """What the library of a lexical metric says of itself, the number of references left out."""
    left_out = ("metric", "options", "against", "monge", "nrefs")
    return {key: value for key, value in signature.fields if key not in left_out}


def difference(one: str, other: str) -> list[tuple[str, str, str]]:
    """The keys in which two signatures differ, with both values ('' where one has no such key)."""
    first, second = full(one), full(other)
    keys = list(dict.fromkeys([key for key, _ in first.fields] + [key for key, _ in second.fields]))
    return [(key, first.get(key), second.get(key)) for key in keys if first.get(key) != second.get(key)]


def shortened(line: str) -> str:
    """The short form of a signature; the line itself where its short form would not give all of it back."""
    signature = full(line)
    try:
        parse(line)
        short = _short(signature)
        return short if full(short) == signature else line
    except StatisticsMismatch:
        return line


def _short(signature: Signature) -> str:
    name = signature["metric"]
    if name in LEXICAL:
        spec: Spec = LexicalSpec(name).changed(split_changes(signature["options"]))
        more = [f"{key}:{value}" for key, value in signature.fields if key not in ("metric", "options", "monge")]
    else:
        blend = BLENDS.get(name)
        members = {} if blend is None else {one: _marked_again(_member(signature, one)) for one in blend.spec.members}
        spec = BlendSpec(members) if members else _marked_again(signature)
        more = ["-".join(signature[key] for key in _MODEL_KEYS)]
        more += [f"{key}:{signature[key]}" for key in _OF_RUN if signature.get(key)]
        more += [f"stats:{signature['stats']}"] * (signature["stats"] != "none")
    changes = ",".join(changes_from_row(name, spec))
    first = f"{name}[{changes}]" if changes else name
    return "|".join([first, *more, f"monge:{signature['monge']}#{_digest(signature)}"])


def _digest(signature: Signature) -> str:
    """Of everything but the version, which moves no score."""
    said = "|".join(f"{key}:{value}" for key, value in signature.fields if key != "monge")
    return sha256(said.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def full(line: str) -> Signature:
    """The fields of a signature, long or short; raises where a short one says something else than its digest."""
    match = _SHORT.fullmatch(line.strip())
    if match is None:
        return Signature.parse(line)
    first, middle, monge, digest = match.groups()
    try:
        signature = _lengthened(*split_name(first), [one for one in (middle or "").split("|") if one], monge)
    except StatisticsMismatch:
        raise
    except MongeError as error:
        raise StatisticsMismatch(f"the short signature cannot be read: {error}") from None
    if _digest(signature) != digest:
        raise StatisticsMismatch(
            f"the short signature ends in #{digest}, but {first} here gives #{_digest(signature)}: it was changed, or "
            f"made by a version of monge with other defaults ({monge}; this is {version('monge')}); "
            "the long signature replays (-f json, or --signature-form long)"
        )
    return signature


def _lengthened(name: str, inner: str, middle: list[str], monge: str) -> Signature:
    changes = split_changes(inner)
    if name in LEXICAL:
        said = LexicalSpec(name).changed(changes).written()
        options = ",".join(f"{option}={value}" for option, value in said.items())
        library = Signature.parse("|".join(middle)).fields if middle else ()
        return Signature((("metric", name), ("options", options), *library, ("monge", monge)))
    model, mark, digests = middle[0].rpartition("#") if middle else ("", "", "")
    parts = digests.split("-")
    rest = dict(one.split(":", 1) for one in middle[1:] if ":" in one)
    if not mark or len(parts) != len(_MODEL_KEYS) or len(rest) < len(middle) - 1 or rest.keys() - {*_OF_RUN, "stats"}:
        raise StatisticsMismatch(
            "not a short signature: expected NAME[changes]|MODEL#WEIGHTS-TOKENIZER-CONFIG|nrefs:…|stats:…|"
            "monge:VERSION#DIGEST"
        )
    identity = tuple(zip(_MODEL_KEYS, (f"{model}#{parts[0]}", *parts[1:]), strict=True))
    identity += (("device", rest["device"]),) if "device" in rest else ()
    counted = (("nrefs", rest["nrefs"]),) if "nrefs" in rest else ()
    last = *counted, ("stats", rest.get("stats", "none")), ("monge", monge)
    if name not in BLENDS:
        return Signature((("metric", name), *identity, *_settings(row(name).spec.changed(changes)), *last))
    members = {one: dict(_settings(spec)) for one, spec in BLENDS[name].spec.changed(changes).members.items()}
    first = next(iter(members.values()))
    own = [(f"{one}.{axis}", said[axis]) for one, said in members.items() for axis in _WRITTEN]
    encoder = [(key, first[key]) for key in _ENCODER_KEYS]
    return Signature((("metric", name), *identity, *encoder, *own, *_faced(first.get("against", "")), *last))
