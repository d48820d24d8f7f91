"""Recorded runs in which ours does something else than the original, and why: the rows of data/DIFFERENCES.md."""

DIFFERS: dict[str, str] = {}
