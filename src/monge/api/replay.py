"""Load the metric that a signature describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from monge.api.metric import Metric, bind
from monge.errors import InvalidSetting, StatisticsMismatch, UsageError
from monge.metrics.blend import BlendSpec
from monge.metrics.lexical import LexicalSpec
from monge.metrics.metric import MetricSpec
from monge.metrics.plugins import PluginSpec
from monge.metrics.signature import ParsedSignature, parse

if TYPE_CHECKING:
    from monge.scoring.bound import BoundMetric


def replay(
    line: str,
    *,
    model: str = "auto",
    device: str = "auto",
    online: bool = False,
    settings: Sequence[str] = (),
) -> tuple[Metric, dict[str, str]]:
    """Return the metric that a signature describes, and the statistics digests it must meet.

    Raises where the weights are not those of the signature. `settings` may only give what a
    signature cannot carry: a stopword file, the path of a language model, or that of the model of a
    blend's member.
    """
    parsed = parse(line)
    if isinstance(parsed.spec, PluginSpec):
        return bind(parsed.metric, parsed.spec.changed(settings)), dict(parsed.stats)
    if isinstance(parsed.spec, LexicalSpec):
        if settings:
            raise UsageError(
                f"{parsed.metric} compares words, not vectors: it has no "
                f"{settings[0].partition('=')[0]!r}"
            )
        return bind(parsed.metric, parsed.spec), dict(parsed.stats)
    _check_settings(settings)
    spec = parsed.spec.changed(settings)
    model_name = model if model != "auto" else _model_of(parsed.spec)
    spec = spec.changed(_model_changes(parsed.spec, spec, model_name))
    try:
        metric = bind(parsed.metric, spec, device=device, online=online)
    except InvalidSetting as error:
        raise StatisticsMismatch(f"the signature does not fit {model_name}: {error}") from None
    for name, member in metric.scorer.members.items():
        if member.vector_metric is not None:
            _check_identity(member.vector_metric, parsed.members.get(name, parsed))
    return metric, dict(parsed.stats)


def _check_settings(settings: Sequence[str]) -> None:
    """Raise for a setting that a signature carries."""
    for setting in settings:
        target = setting.partition("=")[0]
        names_file = target in ("units.stopwords", "fluency.model")
        if not names_file and not target.endswith(".encoder.model"):
            raise UsageError(
                f"a signature says every setting: {setting!r} would compute something else; give "
                "-m and --set"
            )


def _model_of(spec: MetricSpec | BlendSpec) -> str:
    """Return the model of a metric, or of the first member that has one; auto where none has."""
    specs = spec.transports.values() if isinstance(spec, BlendSpec) else (spec,)
    return next((transport.encoder.model for transport in specs), "auto")


def _model_changes(
    signed: MetricSpec | BlendSpec, spec: MetricSpec | BlendSpec, model_name: str
) -> list[str]:
    """Return the changes that name the models to open: `model_name` stands for the model of the
    first member, and of every member that was signed with the same.
    """
    if isinstance(signed, MetricSpec) or isinstance(spec, MetricSpec):
        return [f"encoder.model={model_name}"]
    first = _model_of(signed)
    return [
        f"{name}.encoder.model={model_name}"
        for name, member in spec.transports.items()
        if signed.transports[name].encoder.model == member.encoder.model == first
    ]


def _check_identity(metric: BoundMetric, parsed: ParsedSignature) -> None:
    """Raise if the model or the stopword list differs from that of a signature."""
    model, language_model = metric.identity.model, metric.language_model
    for subject, now, was in (
        ("weights are", model.weights[:8], parsed.weights),
        ("tokenizer is", model.tokenizer[:8], parsed.tokenizer),
        ("configuration is", model.config[:8], parsed.config),
        ("stopwords are", metric.identity.stopwords[:8], parsed.stopwords),
        (
            "language model is",
            "" if language_model is None else language_model.digest,
            parsed.language_model,
        ),
    ):
        if now != was:
            raise StatisticsMismatch(
                f"the signature's {subject} {was or 'none'}, {model.name} has {now or 'none'}"
            )
