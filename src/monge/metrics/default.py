"""The metric that is used where none is named."""

DEFAULT_METRIC = "monge"
