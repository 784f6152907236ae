"""Controlled errors in texts: the catalogue of kinds, and pure functions that carry them out."""
