"""Exact nearest neighbours, of vectors and of codes."""
