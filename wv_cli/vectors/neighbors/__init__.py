"""Exact nearest neighbors among rows of numbers: of vectors and of codes. Words and files are unknown here."""
