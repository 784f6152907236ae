"""Lexical metrics, and the selection of units from strings and pieces."""
