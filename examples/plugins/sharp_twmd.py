"""A transport metric with settings of its own, under a name of its own."""

metric = "twmd[transport.temperature=0.02,units.punctuation=drop]"
