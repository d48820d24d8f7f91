"""What distance and word-analogy have in common: vectors of a file, a prompt, forty rows of words and cosines."""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wv_cli.cli.compat import Exit, say
from wv_cli.errors import WvError

if TYPE_CHECKING:
    from wv_cli.vectors.embeddings import Embeddings

ROWS = 40
_USAGE = "Usage: ./{} <FILE>\nwhere FILE contains word projections in the BINARY FORMAT\n"
_MISSING_FILE = 255


def require_file(words: Sequence[str], program: str) -> str:
    """The file that the command line names. Without one tells how the program is called and raises Exit(0)."""
    if not words:
        say(_USAGE.format(program))
        raise Exit(0)
    return words[0]


def load(path: str, limit: int | None = None) -> "Embeddings":
    """The vectors of a file in any format; the originals know word2vec's binary alone. Ends as they do when it is not
    there. Raises WvError for a file that holds no vectors."""
    from wv_cli.vectors import formats

    if not Path(path).exists():
        say("Input file not found\n")
        raise Exit(_MISSING_FILE)
    found = formats.load(path, limit=limit)
    if not hasattr(found, "matrix"):
        raise WvError(f"{path}: expected vectors, found codes; ask them with `wv nn`")
    return found


def read_queries(prompt: str) -> Iterator[list[str]]:
    """The words of each line of standard input, after a prompt, until EXIT or the end of input, where the originals go
    on for ever. Words part at single blanks, so that of two the second belongs to the next word."""
    from wv_cli.io.marks import without_mark
    from wv_cli.words import decode

    lines = without_mark(iter(sys.stdin.buffer.readline, b""))
    while True:
        say(prompt)
        sys.stdout.buffer.flush()
        line = next(lines, b"")
        text = decode(line.removesuffix(b"\n").rstrip(b"\r"))
        if not line or (text == "EXIT" and line.endswith(b"\n")):
            return
        yield _words(text)


def _words(line: str) -> list[str]:
    """Parted at blanks; a blank after a blank, or at the start, is the first character of a word."""
    words: list[str] = []
    start = 0
    while True:
        end = line.find(" ", start + 1)
        if end < 0:
            return [*words, line[start:]]
        words.append(line[start:end])
        start = end + 1


def places(vectors: "Embeddings", words: Sequence[str], known: Callable[[int], bool], unknown: int) -> list[int] | None:
    """The rows of `words`, each told; None after the first that is not `known`, told with the number `unknown`."""
    found = []
    for word in words:
        row = vectors.words.find(word)
        say(f"\nWord: {word}  Position in vocabulary: {row if known(row) else unknown}\n")
        if not known(row):
            say("Out of dictionary word!\n")
            return None
        found.append(row)
    return found


def table(vectors: "Embeddings", heading: str, hits: Sequence[int], scores: Sequence[float], least: float) -> None:
    """Forty rows, the nearest first; rows that no word above `least` fills have none, and that number."""
    say(f"\n{' ' * 46}Word       {heading:>15}\n{'-' * 72}\n")
    rows = [(row, score) for row, score in zip(hits, scores, strict=True) if row >= 0 and score > least]
    for row, score in rows:
        say(f"{_right(vectors.words[row])}\t\t{score:f}\n")
    say(f"{' ' * 50}\t\t{least:f}\n" * (ROWS - len(rows)))


def _right(word: str) -> str:
    """At the right of 50 bytes: C counts bytes."""
    return " " * (50 - len(word.encode("utf-8", "surrogateescape"))) + word
