"""Files of words: the vocabulary that a model is limited to."""

from wv_cli.errors import BadFile
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.text.source import Source
from wv_cli.words import WordList, split_words


def read_words(path: str) -> WordList:
    """The words of a file, divided by blanks or line ends; `-` is standard input. Raises BadFile when it has none, or
    is no text, and what Source raises."""
    text = b"".join(Source([path]))
    refuse_other_kinds(text[:HEAD_BYTES], path, "words")
    words = split_words(text.decode("utf-8", "surrogateescape").replace("\n", " "))
    if not words:
        problem = "expected words divided by spaces or line ends, found none"
        raise BadFile(path, problem)
    return WordList.from_words(words)
