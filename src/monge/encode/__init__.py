"""Texts to hidden layers."""
