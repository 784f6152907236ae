"""Strings and pieces to units."""
