"""Sentences of a Python caller as a text: any iterable of lists of tokens, or of str, read once and kept in a file.

Everything else reads the file, as often as it wants to (phrases and checkpoints do). No more than some thousand
sentences are in memory at once.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from wv_cli._text import SEPARATORS
from wv_cli.errors import WvError, reason
from wv_cli.io.places import is_stream
from wv_cli.words import encode

Sentences = Iterable[str | Iterable[str]]  # NumPy's arrays and pandas' Series of str are such iterables

_AT_ONCE = 4096
_EXPECTED = "a list of tokens as str, or a line as str"


@contextlib.contextmanager
def spool_sentences(
    sentences: Sentences, beside: str | None = None, *, name: str = "sentences", may_be_empty: bool = False
) -> Iterator[str]:
    """The path of a file with the sentences, one a line, in the folder of `beside` (None, a pipe: that of temporary
    files). It goes when the block ends. Raises what `blocks_of` and the iterable raise, EmptyVocabulary for no word in
    them, which messages call `name`, unless they `may_be_empty`, and WvError where the folder cannot keep the file."""
    folder = None if beside is None or is_stream(beside) else str(Path(os.path.realpath(beside)).parent)
    blocks = blocks_of(sentences)
    with contextlib.ExitStack() as stack:
        with _disk_errors(folder):
            made = stack.enter_context(tempfile.TemporaryDirectory(prefix=".wv-", dir=folder))
            path = Path(made, "sentences")
            stream = stack.enter_context(path.open("wb", buffering=0))
        lines, are_empty = 0, not may_be_empty
        for block in blocks:
            are_empty = are_empty and not block.translate(None, SEPARATORS)
            lines += block.count(b"\n") if are_empty else 0
            with _disk_errors(folder):
                view = memoryview(block)
                while view:
                    view = view[stream.write(view) :]
        stream.close()
        if are_empty:
            raise _no_words(name, lines)
        yield str(path)


def _no_words(name: str, lines: int) -> WvError:
    from wv_cli.text.vocab import EmptyVocabulary

    one, all_are = (name.removesuffix("s"), "empty") if lines == 1 else (name, "all empty")
    found = f"{lines:,} {one}, {all_are}" if lines else "none"
    return EmptyVocabulary(f"{name}: no words; expected lists of words, found {found}")


def blocks_of(sentences: Sentences) -> Iterator[bytes]:
    """The text of sentences in blocks of whole lines, one line each; a line end in a str becomes a space. Raises
    TypeError for a sentence or a token of another type, ValueError for a token that no text can hold, such as one
    with white space."""
    if isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
        kind = type(sentences).__name__
        message = f"sentences: expected several sentences, each {_EXPECTED}; found {kind}"
        raise TypeError(message)
    each, first = iter(sentences), 0
    while batch := list(islice(each, _AT_ONCE)):
        yield _block(batch, first)
        first += len(batch)


def _block(batch: list[Any], first: int) -> bytes:
    """The lines of some sentences, the first of which has the number `first`."""
    lines, tokens = [], 0
    for place, sentence in enumerate(batch):
        if isinstance(sentence, str):
            line: str = sentence.replace("\n", " ") if "\n" in sentence else sentence
            tokens += 1 + _separators(encode(line))
        else:
            listed = sentence if isinstance(sentence, list | tuple) else _list_tokens(sentence, first + place)
            batch[place] = listed
            try:
                line = " ".join(listed)
            except TypeError:
                raise _wrong_token(listed, first + place) from None
            tokens += len(listed) or 1
        lines.append(line)
    lines.append("")
    block = encode("\n".join(lines))
    # As many words stand in the lines as tokens were given.
    if _separators(block) != tokens or b"  " in block or b"\n " in block or b" \n" in block or block[:1] == b" ":
        _require_words(batch, first)
    return block


def _separators(text: bytes) -> int:
    return len(text) - len(text.translate(None, SEPARATORS))


def _list_tokens(sentence: Any, number: int) -> Sequence[str]:
    if isinstance(sentence, bytes | bytearray) or not isinstance(sentence, Iterable):
        decode = "; decode it" if isinstance(sentence, bytes | bytearray) else ""
        message = f"sentences: expected {_EXPECTED}, found {sentence!r:.60} as number {number}{decode}"
        raise TypeError(message)
    return list(sentence)


def _wrong_token(tokens: Sequence[Any], number: int) -> TypeError:
    token = next(token for token in tokens if not isinstance(token, str))
    message = f"sentences: expected tokens as str, found {type(token).__name__} {token!r:.40} in number {number}"
    return TypeError(message)


def _require_words(batch: list[Any], first: int) -> None:
    """Raises ValueError for the first token that is no word of a text."""
    for number, sentence in enumerate(batch, first):
        for token in () if isinstance(sentence, str) else sentence:
            if not token or _separators(encode(token)):
                message = (
                    f"sentences: expected tokens without white space, found {token!r:.60} in number {number}; "
                    "join its words with _"
                )
                raise ValueError(message)


@contextlib.contextmanager
def _disk_errors(folder: str | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = f"{folder or tempfile.gettempdir()}: cannot keep the sentences in a file here: {reason(error)}"
        raise WvError(message) from error
