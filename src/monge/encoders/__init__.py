"""Encoders: from texts to hidden layers and pooled vectors."""
