"""A signature -> the metric it describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from monge.api.metric import Metric, bind
from monge.errors import InvalidSetting, StatisticsMismatch, UsageError
from monge.spec.blend import BlendSpec
from monge.spec.lexical import LexicalSpec
from monge.spec.signature import ParsedSignature, parse

if TYPE_CHECKING:
    from monge.scoring.transport import TransportMetric


def replay(
    line: str, *, model: str = "auto", device: str = "auto", online: bool = False, settings: Sequence[str] = ()
) -> tuple[Metric, dict[str, str]]:
    """The metric a signature describes, and the statistics digests it must meet; refuses other weights.

    `settings` may name again what a signature cannot carry: a stopword file, where a language model lies.
    """
    said = parse(line)
    if isinstance(said.spec, LexicalSpec):
        if settings:
            raise UsageError(f"{said.metric} compares words, not vectors: it has no {settings[0].partition('=')[0]!r}")
        return bind(said.metric, said.spec), dict(said.stats)
    other = next((one for one in settings if not one.startswith(("units.stopwords=", "fluency.model="))), None)
    if other is not None:
        raise UsageError(f"a signature says every setting: {other!r} would compute something else; give -m and --set")
    spec = said.spec.changed(settings)
    first = next(iter(spec.members.values())) if isinstance(spec, BlendSpec) else spec
    wanted = model if model != "auto" else first.encoder.model
    spec = spec.changed([f"encoder.model={wanted}"])
    try:
        metric = bind(said.metric, spec, device=device, online=online)
    except InvalidSetting as error:
        raise StatisticsMismatch(f"the signature does not fit {wanted}: {error}") from None
    for name, member in metric.scorer.members.items():
        _check_identity(cast("TransportMetric", member), said.members.get(name, said))
    return metric, dict(said.stats)


def _check_identity(metric: TransportMetric, said: ParsedSignature) -> None:
    """Raise where a model or a stopword list is not the one that a signature was made with."""
    model, language_model = metric.identity.model, metric.language_model
    for what, now, was in (
        ("weights are", model.weights[:8], said.weights),
        ("tokenizer is", model.tokenizer[:8], said.tokenizer),
        ("configuration is", model.config[:8], said.config),
        ("stopwords are", metric.identity.stopwords[:8], said.stopwords),
        ("language model is", "" if language_model is None else language_model.digest, said.language_model),
    ):
        if now != was:
            raise StatisticsMismatch(f"the signature's {what} {was or 'none'}, {model.name} has {now or 'none'}")
