"""gensim's scripts that convert files."""
