"""What a metric is, as data. Importable without torch."""
