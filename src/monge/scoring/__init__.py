"""The pipeline: fit, score, explain."""
