"""Recorded runs in which ours does something else than the original, and why: the rows of data/DIFFERENCES.md."""

_TOKENS = "words of any length; VT, FF and NUL part words; the last word counts without a line end"
DIFFERS: dict[str, str] = {
    "word2phrase/no-output": "one line says what is missing, on stderr; the original crashes",
    "word2phrase/odd-text": _TOKENS,
}
