"""Recorded runs in which ours does something else than the original, with reasons: rows of guides/differences.md."""

from tests.compat.differs_fasttext import DIFFERS_FASTTEXT
from tests.compat.differs_glove_tools import DIFFERS_GLOVE_TOOLS

_TOKENS = "words of any length; VT, FF and NUL part words; the last word counts without a line end"
DIFFERS: dict[str, str] = {
    "word2vec/bad-number": "-size 0 is refused: vectors without numbers",
    "word2vec/iter-0": "-iter 0 is refused, on stderr; the original never ends",
    "word2vec/min-count-huge": "refused: no word is left to train",
    "word2vec/negative-0-hs-0": "refused: nothing would be trained",
    "word2vec/odd-text": _TOKENS,
    "word2vec/odd-text-train": _TOKENS,
    "word2phrase/no-output": "one line says what is missing, on stderr; the original crashes",
    "word2phrase/odd-text": _TOKENS,
    "vocab_count/odd-text": _TOKENS,
    **DIFFERS_GLOVE_TOOLS,
    **DIFFERS_FASTTEXT,
}
