"""Connectors: words such as `of` that may stand inside a phrase but neither begin nor end one."""

from pathlib import Path

from wv_cli.errors import BadFile, UsageError
from wv_cli.io.kinds import HEAD_BYTES, refuse_other_kinds
from wv_cli.text.config import is_one_word
from wv_cli.text.source import Source
from wv_cli.words import decode

# The articles, and the prepositions and conjunctions that names hold.
ENGLISH = ("a", "an", "the", "for", "of", "with", "without", "at", "from", "to", "in", "on", "by", "and", "or")


def names_file(value: str) -> bool:
    """Whether the connectors stand in a file of this name."""
    return value not in ("", "english") and Path(value).is_file()


def read_connectors(value: str) -> tuple[str, ...]:
    """The connectors that an option names: `english`, a file of words, or words with commas between. Raises
    UsageError, WvError, BadFile."""
    if value == "english":
        return ENGLISH
    if names_file(value):
        text = b"".join(Source([value]))
        refuse_other_kinds(text[:HEAD_BYTES], value, "connectors")
        words = tuple(decode(text).split())
        if not words:
            raise BadFile(value, "expected connectors, separated by blanks or lines; found none")
        return words
    listed = tuple(filter(None, value.split(",")))
    for word in listed:
        if not is_one_word(word) or "/" in word or word.endswith(".txt"):
            message = f"--connectors {value}: expected words with commas between, a file, or english; {word!r} is none"
            raise UsageError(message)
    return listed
