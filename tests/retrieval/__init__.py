"""Tests of wv_cli/retrieval."""
