"""The mathematics: pure torch functions over batches."""
