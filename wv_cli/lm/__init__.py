"""N-gram language models: counting, smoothing, files of them, and what they say about a text."""
