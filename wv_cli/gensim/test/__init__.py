"""gensim's toy texts."""
