"""Text -> tokens of the inverted index: those of search.bm25, and the parts of identifiers."""

import functools
import re

from wv_cli.retrieval.config import TextConfig
from wv_cli.search.bm25 import STOP_WORDS, tokenize
from wv_cli.text.stemming import stem_english

# A word with a letter on both sides of an underscore, or with a change from small to capital letters in it.
_IDENTIFIER = re.compile(r"\b(?=\w*(?:[^\W_]_+[^\W_]|[a-z\d][A-Z]|[A-Z]{2}[a-z]))\w+")
_BORDER = re.compile(r"_+|(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def parts_of(identifier: str) -> list[str]:
    """Its parts between underscores and changes of case, such as HTTP, Server and port2 of HTTPServer_port2."""
    return _BORDER.split(identifier)


class TokenReader:
    """The tokens of texts by these settings. The stem of each word is made once."""

    def __init__(self, config: TextConfig) -> None:
        self._stop_words = STOP_WORDS if config.stop_words == "drop" else frozenset()
        self._stem = functools.cache(stem_english) if config.stem == "english" else None
        self._splits = config.identifiers == "split"

    def tokens(self, text: str) -> list[str]:
        found = tokenize(text, stop_words=self._stop_words, stem=self._stem)
        if self._splits:
            for identifier in _IDENTIFIER.findall(text):
                found += tokenize(" ".join(parts_of(identifier)), stop_words=self._stop_words, stem=self._stem)
        return found
