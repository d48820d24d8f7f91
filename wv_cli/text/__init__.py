"""Text: sources, vocabularies, and streams of word ids that every model reads."""
