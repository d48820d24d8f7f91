"""What a vector file or a model is in memory."""
