"""Signatures: one line, long or short, with every setting that a score depends on.

    long     metric:twmd|model:NAME#53aa5117|tokenizer:…|config:…|precision:fp32|…|monge:0.1.0
    short    twmd[layers=4,encoder.max_length=256]|NAME#53aa5117-…-…|stats:idf=…|monge:0.1.0#9f2c

The short form begins with the metric as `-m` accepts it: its name and the changes from the preset
of that name. Then come the digests of model, tokenizer and configuration, those of statistics where
there are any, and after the last `#` the digest of the long form. `full` rebuilds the long form and
compares its digest: a short form written by a version with other defaults is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from monge.errors import InvalidSetting, MongeError, StatisticsMismatch, UnknownName
from monge.metrics.axes import AXES, Idf, LanguageModel
from monge.metrics.blend import BLENDS, BlendSpec, LinearSum, LinearTerm, MemberSpec
from monge.metrics.codec import read_choice, split_changes
from monge.metrics.labels import changes_from_row, list_blend_changes, list_changes
from monge.metrics.lexical import LEXICAL, LexicalSpec
from monge.metrics.linear_signature import (
    FORMULA,
    LINEAR,
    lengthen_linear_signature,
    shorten_linear_signature,
    split_linear_signature,
)
from monge.metrics.metric import OPTIONAL, MetricSpec
from monge.metrics.plugins import PluginSpec
from monge.metrics.presets import Spec, find_preset, split_name
from monge.types import Signature

Fields = tuple[tuple[str, str], ...]
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
"""By axis, values of fields that older signatures lack; a signature's own field overrides them."""
FILE = "file"
CPU = "cpu"
"""The default device, which signatures leave out."""
PLUGIN = "plugin"
"""The key of a user's metric: NAME@VERSION#digest."""
_OF_RUN = ("device", "nrefs")
"""Keys that describe the run: a replay on another device or with more references may differ."""


@cache
def _version() -> str:
    """Return the version of monge; cached, because looking it up parses a file."""
    return version("monge")


@dataclass(frozen=True)
class ModelIdentity:
    """A model's name, the digests of its files, its precision and its device."""

    name: str
    weights: str
    tokenizer: str
    config: str
    precision: str = "fp32"
    device: str = CPU

    @property
    def key(self) -> str:
        """The cache key of vectors besides texts and code: all fields but the name, in full."""
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
    """Return the signature of a spec whose layers are numbers.

    `stats` are digests by kind, `stopwords` and `language_model` are hashes of the files that the
    spec names, `references` is the number of references per segment, or `var`.
    """
    fields = [("metric", name), ("model", f"{quoted(model.name)}#{model.weights[:8]}")]
    fields += [("tokenizer", model.tokenizer[:8]), ("config", model.config[:8])]
    fields += [] if model.device == CPU else [("device", model.device)]
    fields += _settings(_mark_files(spec, stopwords, language_model))
    return Signature(
        (*fields, ("nrefs", references), ("stats", _write_digests(stats)), ("monge", _version()))
    )


def _settings(spec: MetricSpec) -> list[tuple[str, str]]:
    """Return the fields of the encoder and of every axis, as text."""
    written = replace(spec, encoder=replace(spec.encoder, model="auto")).written()
    encoder = dict(part.split("=", 1) for part in written["encoder"].split(","))
    chosen = [axis for axis, usual in OPTIONAL.items() if written[axis] != usual]
    fields = [(key, encoder[name]) for key, name in _ENCODER_KEYS.items()]
    return fields + [(axis, written[axis]) for axis in (*_WRITTEN, *chosen)]


def _write_digests(stats: Mapping[str, str]) -> str:
    return ",".join(f"{kind}={digest}" for kind, digest in stats.items()) or "none"


def sign_lexical(spec: LexicalSpec, library: str) -> Signature:
    """Return the signature of a lexical metric: its settings and its library's signature."""
    fields = (
        ("metric", spec.name),
        ("options", _write_options(spec)),
        *Signature.parse(library).fields,
        *_side_field(spec.against),
    )
    return Signature((*fields, ("monge", _version())))


def sign_plugin(spec: PluginSpec, references: str) -> Signature:
    """Return the signature of a user's metric: its name, version and digest."""
    fields = (("metric", spec.name), (PLUGIN, spec.registered.identity), ("nrefs", references))
    return Signature((*fields, ("monge", _version())))


def _write_options(spec: LexicalSpec) -> str:
    usual = LexicalSpec(spec.name).written()
    return ",".join(
        f"{option}={value}"
        for option, value in spec.written().items()
        if option not in spec.preset.later or value != usual[option]
    )


def sign_blend(name: str, parts: Mapping[str, Signature], stats: Mapping[str, str]) -> Signature:
    """Return the signature of a blend: the fields of the first member's encoder, each member's axes
    and what differs in its encoder, fitted ranges.
    """
    first = next(iter(parts.values()))
    shared = [(key, value) for key, value in first.fields if key in (*_SHARED_KEYS, "device")]
    own = _own_fields({part: dict(signature.fields) for part, signature in parts.items()})
    last = (
        *_side_field(first.get("against")),
        ("nrefs", first["nrefs"]),
        ("stats", _write_digests(stats)),
        ("monge", _version()),
    )
    return Signature((("metric", name), *shared, *own, *last))


def _own_fields(members: Mapping[str, Mapping[str, str]]) -> Fields:
    """Return the fields of each member as MEMBER.KEY: those of its encoder only where they differ
    from the first member's.
    """
    shared = {"device": CPU, **next(iter(members.values()))}
    own = []
    for member, fields in members.items():
        values = {"device": CPU, **fields}
        differing = [key for key in (*_SHARED_KEYS, "device") if values.get(key) != shared.get(key)]
        own += [(f"{member}.{key}", values[key]) for key in (*differing, *_WRITTEN)]
    return tuple(own)


def _side_field(side: str) -> tuple[tuple[str, str], ...]:
    """Return the field of the compared side; none for references, the default."""
    return () if side in ("", OPTIONAL["against"]) else (("against", side),)


def _mark_files(spec: MetricSpec, stopwords: str, language_model: str) -> MetricSpec:
    """Replace file paths in a spec by file names with hashes of the contents."""
    if spec.units.stopwords != "none":
        spec = replace(
            spec, units=replace(spec.units, stopwords=_mark_file(spec.units.stopwords, stopwords))
        )
    if isinstance(spec.fluency, LanguageModel):
        spec = replace(
            spec,
            fluency=replace(spec.fluency, model=_mark_file(spec.fluency.model, language_model)),
        )
    if isinstance(spec.weights, Idf) and not named_corpus(spec.weights.corpus):
        spec = replace(spec, weights=replace(spec.weights, corpus=FILE))
    return spec


def _mark_file(file: str, digest: str) -> str:
    """Return NAME#DIGEST: the name of a file or directory and the hash of its contents."""
    return f"{quoted(Path(file).name)}#{digest}"


def quoted(name: str) -> str:
    """Quote a name: grammar characters and unprintable characters become %XX."""
    return "".join(
        character
        if character.isprintable() and character not in "%|,#=()"
        else quote(character, safe="", errors="surrogateescape")
        for character in name
    )


def _unquote(name: str) -> str:
    return unquote(name, errors="surrogateescape")


def named_corpus(corpus: str) -> bool:
    """Return whether an idf corpus is one of the run's own sides, rather than a file."""
    return corpus in ("references", "each-side", "both-sides", "sources")


@dataclass(frozen=True)
class ParsedSignature:
    """The contents of a signature: the metric, its spec, and the digests that a replay must meet.

    For a lexical metric `stats` are the fields of the library that computed it, and there is no
    model. For a blend, `members` has the parsed signature of each member.
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
    members: Mapping[str, ParsedSignature] = field(default_factory=dict)


def parse(line: str) -> ParsedSignature:
    """Parse a long or short signature; raise StatisticsMismatch for a bad key or value."""
    signature = full(line)
    if signature.get(FORMULA):
        return _parse_linear_blend(signature)
    if signature.get("metric") in LEXICAL:
        return _parse_lexical(signature)
    if signature.get(PLUGIN):
        return _parse_plugin(signature)
    if signature.get("metric") in BLENDS:
        return _parse_blend(signature)
    expected = ["metric", *_SHARED_KEYS, *_WRITTEN, "stats", "monge"]
    keys = [key for key, _ in signature.fields]
    if "config" not in keys and "tokenizer" in keys:
        raise StatisticsMismatch(
            "the signature lacks 'config', the digest of the model's configuration, which older "
            "versions of monge did not write; score again by name (-m) for one that replays"
        )
    for key in expected:
        if key not in keys:
            raise StatisticsMismatch(f"the signature lacks {key!r}")
    for key in keys:
        if key not in (*expected, *OPTIONAL, *_OF_RUN):
            raise StatisticsMismatch(f"the signature has an unknown key {key!r}")
    try:
        return _parse_transport(signature)
    except StatisticsMismatch:
        raise
    except MongeError as error:
        raise StatisticsMismatch(f"the signature cannot be read: {error}") from None


def _read_spec(signature: Signature) -> MetricSpec:
    """Return the spec of a signature, without the model and with hashes of files."""
    fields = dict(signature.fields)
    text = ",".join(
        f"{name}={fields[key]}" for key, name in _ENCODER_KEYS.items() if key != "prefix"
    )
    settings = {axis: fields.get(axis) or OPTIONAL.get(axis, "") for axis in (*_WRITTEN, *OPTIONAL)}
    settings |= {axis: f"{before},{settings[axis]}" for axis, before in _BEFORE.items()}
    chosen: dict[str, Any] = {axis: read_choice(axis, value) for axis, value in settings.items()}
    encoder: Any = read_choice("encoder", f"{text},prefix={fields['prefix']}")
    return replace(find_preset(fields["metric"]).spec, encoder=encoder, **chosen)


def _parse_transport(signature: Signature) -> ParsedSignature:
    name, _, weights = signature["model"].rpartition("#")
    spec = _read_spec(signature)
    spec = replace(spec, encoder=replace(spec.encoder, model=_unquote(name)))
    name, mark, words = spec.units.stopwords.partition("#")
    if mark:
        spec = replace(spec, units=replace(spec.units, stopwords=_unquote(name)))
    language_model_digest = ""
    if isinstance(spec.fluency, LanguageModel):
        name, _, language_model_digest = spec.fluency.model.rpartition("#")
        spec = replace(spec, fluency=replace(spec.fluency, model=_unquote(name)))
    return ParsedSignature(
        signature["metric"],
        spec,
        _read_digests(signature),
        signature["monge"],
        weights=weights,
        tokenizer=signature["tokenizer"],
        config=signature["config"],
        stopwords=words,
        language_model=language_model_digest,
    )


def _read_digests(signature: Signature) -> dict[str, str]:
    """Return the digests of the statistics by kind."""
    if signature["stats"] == "none":
        return {}
    pairs = [part.partition("=") for part in signature["stats"].split(",")]
    if not all(kind and digest for kind, _, digest in pairs):
        raise StatisticsMismatch(
            f"the signature's stats are not kind=digest pairs: {signature['stats']!r}"
        )
    return {kind: digest for kind, _, digest in pairs}


def _parse_lexical(signature: Signature) -> ParsedSignature:
    fields = dict(signature.fields)
    for key in ("options", "monge"):
        if key not in fields:
            raise StatisticsMismatch(f"the signature lacks {key!r}")
    try:
        spec = LexicalSpec(signature["metric"]).changed(split_changes(signature["options"]))
        spec = spec.with_side(fields.get("against", OPTIONAL["against"]))
    except MongeError as error:
        raise StatisticsMismatch(f"the signature cannot be read: {error}") from None
    return ParsedSignature(spec.name, spec, library_fields(signature), signature["monge"])


def _parse_plugin(signature: Signature) -> ParsedSignature:
    """Parse the signature of a user's metric, which need not be installed."""
    fields = dict(signature.fields)
    keys = ("metric", PLUGIN, "nrefs", "monge")
    wrong = next(
        (key for key in {**dict.fromkeys(keys), **fields} if (key in fields) != (key in keys)), None
    )
    if wrong is not None:
        has = "has an unknown key" if wrong in fields else "lacks"
        raise StatisticsMismatch(f"the signature {has} {wrong!r}")
    name = fields["metric"]
    return ParsedSignature(name, PluginSpec(name), {PLUGIN: fields[PLUGIN]}, fields["monge"])


def _parse_blend(signature: Signature) -> ParsedSignature:
    """Parse the signature of a blend, each member like that of a transport metric."""
    members = {
        name: parse(str(_member_signature(signature, name)))
        for name in BLENDS[signature["metric"]].spec.members
    }
    specs = {
        name: parsed.spec for name, parsed in members.items() if isinstance(parsed.spec, MetricSpec)
    }
    first = next(iter(members.values()))
    return ParsedSignature(
        signature["metric"], BlendSpec(specs), first.stats, first.monge, members=members
    )


def _parse_linear_blend(signature: Signature) -> ParsedSignature:
    """Parse the signature of a linear blend: each member like a metric of its own."""
    for key in ("metric", "monge"):
        if not signature.get(key):
            raise StatisticsMismatch(f"the signature lacks {key!r}")
    lines, formula = split_linear_signature(signature)
    members = {name: parse(str(line)) for name, line in lines.items()}
    specs: dict[str, MemberSpec] = {}
    terms: dict[str, LinearTerm] = {}
    stats: dict[str, str] = {}
    for name, parsed in members.items():
        if not isinstance(parsed.spec, MetricSpec | LexicalSpec):
            raise StatisticsMismatch(
                f"the signature's member {name} is neither a transport metric nor a lexical one"
            )
        digests = (parsed.weights, parsed.tokenizer, parsed.config)
        terms[name] = replace(formula.terms[name], model="-".join(filter(None, digests)))
        specs[name] = parsed.spec
        stats |= {f"{name}.{kind}": digest for kind, digest in parsed.stats.items()}
    spec = BlendSpec(specs, LinearSum(terms))
    return ParsedSignature(signature["metric"], spec, stats, signature["monge"], members=members)


def _member_signature(signature: Signature, name: str) -> Signature:
    """Return the fields of one member of a blend as a signature of its own."""
    shared = {key: value for key, value in signature.fields if "." not in key}
    own = {
        key.removeprefix(f"{name}."): value
        for key, value in signature.fields
        if key.startswith(f"{name}.")
    }
    fields = {**shared, **own, "metric": "wmd"}
    if own.get("device") == CPU:
        del fields["device"]
    return Signature(tuple(fields.items()))


def library_fields(signature: Signature) -> dict[str, str]:
    """Return the fields that a lexical metric's library wrote, without `nrefs`."""
    left_out = ("metric", "options", "against", "monge", "nrefs")
    return {key: value for key, value in signature.fields if key not in left_out}


def difference(first_line: str, second_line: str) -> list[tuple[str, str, str]]:
    """Return the keys in which two signatures differ, with both values ('' if absent)."""
    first, second = full(first_line), full(second_line)
    keys = list(dict.fromkeys([key for key, _ in first.fields] + [key for key, _ in second.fields]))
    return [
        (key, first.get(key), second.get(key)) for key in keys if first.get(key) != second.get(key)
    ]


def shortened(line: str) -> str:
    """Return the short form of a signature, or the line itself where that would lose data."""
    signature = full(line)
    try:
        return _shorten(signature)
    except (MongeError, KeyError):  # a field that this version of monge does not write
        return line


def _shorten(signature: Signature) -> str:
    """Return the short form; raise KeyError or MongeError for a missing or an unknown field."""
    fields = dict(signature.fields)
    name = fields["metric"]
    if FORMULA in fields:
        return shorten_linear_signature(signature, shortened, _digest(signature))
    if name in LEXICAL:
        spec = LexicalSpec(name).changed(split_changes(fields["options"]))
        if _write_options(spec) != fields["options"]:
            raise InvalidSetting(f"options are left out: {fields['options']!r}")
        changes, left_out = changes_from_row(name, spec), ("metric", "options", "monge")
        middle = [f"{key}:{value}" for key, value in fields.items() if key not in left_out]
    elif PLUGIN in fields:
        changes = []
        middle = [f"{key}:{value}" for key, value in fields.items() if key in (PLUGIN, "nrefs")]
    else:
        middle = ["-".join(fields[key] for key in _MODEL_KEYS)]
        if name in BLENDS:
            middle += _shorten_members(signature)
        middle += [f"{key}:{fields[key]}" for key in _OF_RUN if fields.get(key)]
        middle += [f"stats:{fields['stats']}"] * (fields["stats"] != "none")
        if name in BLENDS:
            members = {
                member: _member_signature(signature, member) for member in BLENDS[name].spec.members
            }
            written = {member: _written_settings(own) for member, own in members.items()}
            changes = list_blend_changes(name, written)
        else:
            changes = list_changes(find_preset(name).spec.written(), _written_settings(signature))
    inner = ",".join(changes)
    if split_changes(inner) != changes:
        raise InvalidSetting(f"{inner!r} is not the text of these changes")
    first = f"{name}[{inner}]" if changes else name
    return "|".join([first, *middle, f"monge:{fields['monge']}#{_digest(signature)}"])


def _shorten_members(signature: Signature) -> list[str]:
    """Return the models of the members of a blend that have one of their own: MEMBER.model:…"""
    short = []
    for member in BLENDS[signature["metric"]].spec.members:
        fields = dict(_member_signature(signature, member).fields)
        if any(f"{member}.{key}" in dict(signature.fields) for key in _MODEL_KEYS):
            short.append(f"{member}.model:{'-'.join(fields[key] for key in _MODEL_KEYS)}")
        if signature.get(f"{member}.device"):
            short.append(f"{member}.device:{signature[f'{member}.device']}")
    return short


def _written_settings(signature: Signature) -> dict[str, str]:
    """Return the settings of a transport metric's signature by axis, as `MetricSpec.written` does.

    The model is written as `auto`. Raises UnknownName for a key that no setting has.
    """
    fields = {**OPTIONAL, **dict(signature.fields)}
    accepted = {"metric", *_SHARED_KEYS, *_OF_RUN, *_WRITTEN, *OPTIONAL, "stats", "monge"}
    for key in fields:
        if key not in accepted:
            raise UnknownName("signature key", key, accepted)
    encoder = [f"{name}={fields[key]}" for key, name in _ENCODER_KEYS.items()]
    fields["encoder"] = ",".join(["model=auto", *encoder])
    return {axis: fields[axis] for axis in AXES}


def _digest(signature: Signature) -> str:
    """Return the digest of all fields but the version, which does not affect scores."""
    written = "|".join(f"{key}:{value}" for key, value in signature.fields if key != "monge")
    return sha256(written.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def full(line: str) -> Signature:
    """Return the long form of a signature; raise if a short one does not match its digest."""
    match = _SHORT.fullmatch(line.strip())
    if match is None:
        return Signature.parse(line)
    first, middle, monge, digest = match.groups()
    try:
        signature = _lengthen(
            *split_name(first), [field for field in (middle or "").split("|") if field], monge
        )
    except StatisticsMismatch:
        raise
    except MongeError as error:
        raise StatisticsMismatch(f"the short signature cannot be read: {error}") from None
    if _digest(signature) != digest:
        raise StatisticsMismatch(
            f"the short signature ends in #{digest}, but {first} here gives #{_digest(signature)}: "
            f"it was changed, or made by a version of monge with other defaults ({monge}; this is "
            f"{version('monge')}); the long signature replays (-f json, or --signature-form long)"
        )
    return signature


def _lengthen(name: str, inner: str, middle: list[str], monge: str) -> Signature:
    """Return the long signature of NAME[inner] with the middle fields of a short one."""
    if middle and middle[0] == LINEAR:
        return lengthen_linear_signature(name, middle[1:], monge, full)
    changes = split_changes(inner)
    if name in LEXICAL:
        options = _write_options(LexicalSpec(name).changed(changes))
        library = Signature.parse("|".join(middle)).fields if middle else ()
        return Signature((("metric", name), ("options", options), *library, ("monge", monge)))
    if middle and middle[0].startswith(f"{PLUGIN}:"):
        own = Signature.parse("|".join(middle)).fields
        return Signature((("metric", name), *own, ("monge", monge)))
    members = tuple(BLENDS[name].spec.members) if name in BLENDS else ()
    identity, last, identities = _read_middle(middle, members)
    if name in BLENDS:
        axes = _blend_axes(BLENDS[name].spec.changed(changes), dict(identity), identities)
    else:
        axes = tuple(_settings(find_preset(name).spec.changed(changes)))
    return Signature((("metric", name), *identity, *axes, *last, ("monge", monge)))


def _read_middle(
    middle: Sequence[str], members: Sequence[str]
) -> tuple[Fields, Fields, dict[str, dict[str, str]]]:
    """Return the fields of the model and of the run in `MODEL#DIGESTS`, `nrefs:…`, `stats:…`, and
    those of the models of a blend's members in `MEMBER.model:MODEL#DIGESTS`.
    """
    rest = dict(field.split(":", 1) for field in middle[1:] if ":" in field)
    own_keys = {f"{member}.{key}" for member in members for key in ("model", "device")}
    if len(rest) < len(middle) - 1 or rest.keys() - {*_OF_RUN, "stats", *own_keys}:
        raise StatisticsMismatch(_NOT_SHORT)
    identity = _read_model(middle[0] if middle else "")
    identity += (("device", rest["device"]),) if "device" in rest else ()
    reference_count = (("nrefs", rest["nrefs"]),) if "nrefs" in rest else ()
    identities: dict[str, dict[str, str]] = {member: {} for member in members}
    for member, fields in identities.items():
        if f"{member}.model" in rest:
            fields.update(_read_model(rest[f"{member}.model"]))
        if f"{member}.device" in rest:
            fields["device"] = rest[f"{member}.device"]
    return identity, (*reference_count, ("stats", rest.get("stats", "none"))), identities


_NOT_SHORT = (
    "not a short signature: expected "
    "NAME[changes]|MODEL#WEIGHTS-TOKENIZER-CONFIG|nrefs:…|stats:…|monge:VERSION#DIGEST"
)


def _read_model(text: str) -> Fields:
    """Return the fields in `MODEL#WEIGHTS-TOKENIZER-CONFIG`."""
    model, mark, digests = text.rpartition("#")
    parts = digests.split("-")
    if not mark or len(parts) != len(_MODEL_KEYS):
        raise StatisticsMismatch(_NOT_SHORT)
    return tuple(zip(_MODEL_KEYS, (f"{model}#{parts[0]}", *parts[1:]), strict=True))


def _blend_axes(
    spec: BlendSpec, shared: Mapping[str, str], identities: Mapping[str, Mapping[str, str]]
) -> Fields:
    """Return the fields of a blend: the first member's encoder, the members' own, and the side."""
    members = {
        member: {**shared, **identities[member], **dict(_settings(member_spec))}
        for member, member_spec in spec.transports.items()
    }
    first = next(iter(members.values()))
    encoder = [(key, first[key]) for key in _ENCODER_KEYS]
    return (*encoder, *_own_fields(members), *_side_field(first.get("against", "")))
