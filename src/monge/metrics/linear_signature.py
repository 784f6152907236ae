"""Signatures of linear blends: the constants of every member, and the signature of each.

    long     metric:NAME|formula:linear|twmd.metric:twmd|twmd.weight:0.4|twmd.mean:…|
             twmd.deviation:…|twmd.model:…|…|chrf++.metric:chrf++|…|nrefs:1|monge:0.1.0
    short    NAME|linear|twmd:0.4/…/…|twmd.0:twmd[layers=4]|twmd.1:MODEL#…-…-…|twmd.digest:9f2c|…|
             monge:0.1.0#51aa

Behind `MEMBER.` stand the fields of the member's own signature; in the short form those of its own
short form, by number, and the digest that this ends in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

from monge.errors import InvalidSetting, StatisticsMismatch
from monge.metrics.blend import LinearSum, LinearTerm
from monge.types import Signature

FORMULA, LINEAR = "formula", "linear"
_CONSTANTS = ("weight", "mean", "deviation")
_SHARED = ("nrefs", "monge")
"""Fields behind the members: the references of a segment, which each member has too, and the
version.
"""


def sign_linear_blend(name: str, members: Mapping[str, Signature], formula: LinearSum) -> Signature:
    """Return the signature of a linear blend from the signatures of its members."""
    fields = [("metric", name), (FORMULA, LINEAR)]
    for member, signature in members.items():
        term = formula.terms[member]
        fields.append((f"{member}.metric", signature["metric"]))
        fields += [(f"{member}.{key}", repr(float(getattr(term, key)))) for key in _CONSTANTS]
        own = ("metric", "monge")
        fields += [(f"{member}.{key}", text) for key, text in signature.fields if key not in own]
    counts = [signature["nrefs"] for signature in members.values() if signature.get("nrefs")]
    shared = (("nrefs", counts[0]),) if counts else ()
    monge = next(iter(members.values()))["monge"]
    return Signature((*fields, *shared, ("monge", monge)))


def split_linear_signature(signature: Signature) -> tuple[dict[str, Signature], LinearSum]:
    """Return the signature of every member, and the constants; raise for a field that is not there.

    The terms have no digests of models: these stand in the members' signatures.
    """
    if signature[FORMULA] != LINEAR:
        raise StatisticsMismatch(
            f"the signature has formula {signature[FORMULA]!r}; this monge knows {LINEAR}"
        )
    own: dict[str, dict[str, str]] = {}
    for key, text in signature.fields:
        member, dot, rest = key.partition(".")
        if dot:
            own.setdefault(member, {})[rest] = text
        elif key not in ("metric", FORMULA, *_SHARED):
            raise StatisticsMismatch(f"the signature has an unknown key {key!r}")
    if not own:
        raise StatisticsMismatch("the signature of a blend names no member")
    members, terms = {}, {}
    for member, fields in own.items():
        for key in ("metric", *_CONSTANTS):
            if key not in fields:
                raise StatisticsMismatch(f"the signature lacks {member}.{key}")
        constants = {key: fields.pop(key) for key in _CONSTANTS}
        terms[member] = _read_term(member, fields["metric"], constants)
        members[member] = Signature((*fields.items(), ("monge", signature["monge"])))
    return members, LinearSum(terms)


def _read_term(member: str, metric: str, constants: Mapping[str, str]) -> LinearTerm:
    """Return the term of a member from the texts of its constants."""
    weight, mean, deviation = (
        _read_number(f"{member}.{key}", constants[key]) for key in _CONSTANTS
    )
    return LinearTerm(metric, weight, mean, deviation)


def _read_number(key: str, text: str) -> float:
    """Return a constant of a signature; raise where it is not a finite number, or no deviation."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not isfinite(value) or (key.endswith(".deviation") and value <= 0):
        raise StatisticsMismatch(f"the signature's {key} is not a usable number: {text!r}")
    return value


def shorten_linear_signature(
    signature: Signature, shorten: Callable[[str], str], digest: str
) -> str:
    """Return the short form; raise InvalidSetting where a member has none.

    `shorten` returns the short form of a member's signature; `digest` is that of the long form.
    """
    members, formula = split_linear_signature(signature)
    fields = [signature["metric"], LINEAR]
    for member, own in members.items():
        term, short = formula.terms[member], shorten(str(own))
        if short == str(own):
            raise InvalidSetting(f"{member} has no short signature")
        *parts, last = short.split("|")
        fields.append(f"{member}:{'/'.join(repr(getattr(term, key)) for key in _CONSTANTS)}")
        fields += [f"{member}.{k}:{part}" for k, part in enumerate(parts)]
        fields.append(f"{member}.digest:{last.rpartition('#')[2]}")
    return "|".join([*fields, f"monge:{signature['monge']}#{digest}"])


def lengthen_linear_signature(
    name: str, middle: Sequence[str], monge: str, lengthen: Callable[[str], Signature]
) -> Signature:
    """Return the long form of a short one, whose fields behind `linear` are `middle`.

    `lengthen` returns the long form of a member's short signature.
    """
    constants: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    for field in middle:
        key, _, text = field.partition(":")
        member, dot, _ = key.partition(".")
        if dot:
            parts.setdefault(member, []).append(text)
        else:
            constants[member] = text
    members, terms = {}, {}
    for member, text in constants.items():
        *own, digest = parts.get(member, [""])
        members[member] = lengthen("|".join([*own, f"monge:{monge}#{digest}"]))
        numbers = text.split("/")
        if len(numbers) != len(_CONSTANTS):
            raise StatisticsMismatch(
                f"not a short signature: {member} has no weight/mean/deviation"
            )
        by_key = dict(zip(_CONSTANTS, numbers, strict=True))
        terms[member] = _read_term(member, members[member]["metric"], by_key)
    if not members:
        raise StatisticsMismatch("the short signature of a blend names no member")
    return sign_linear_blend(name, members, LinearSum(terms))
