"""BERTScore of content words, from the spec of a preset."""

from monge import MetricPlugin
from monge.metrics.presets import resolve

_, bertscore = resolve("bertscore")
spec = bertscore.changed(["units.stopwords=en", "units.punctuation=drop"])
metric = MetricPlugin(spec, title="BERTScore of content words", cites="Zhang et al. 2020")
