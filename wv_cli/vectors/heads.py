"""How vector files begin and how their names end: their formats are found by that without importing all of them.

Readers of anything else, in every room, name these files by io.kinds, too, once this module is imported.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from wv_cli.io import kinds
from wv_cli.io.compression import inner_name
from wv_cli.registry import LazyRegistry

if TYPE_CHECKING:
    from wv_cli.vectors.formats.base import Format

# The first line of word2vec's files: rows and numbers in one.
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n")
_NONE = rb"(?!)"
# A first line with a number behind its first word which ends as a number does; one that is cut may end in anything.
_ROW = rb"(?i)(?=[^\n]*+(?:\Z|(?<=[\d.nfy\s])\n))[^\n]*?[ \t](?:[-+]?\.?\d|[-+]?(?:nan|inf(?:inity)?)(?:\s|$))"
# The row of each format in wv_cli.vectors.formats, and what its files begin with: a module is imported for a file that
# may be of its format. In the order in which files are tried, and in which a suffix is looked up.
ROWS = {
    "word2vec-text": ("word2vec_text:FORMAT", HEADER.pattern),
    "word2vec-binary": ("word2vec_binary:FORMAT", HEADER.pattern),
    "glove-text": ("glove_text:FORMAT", _ROW),
    "floret": ("floret:FORMAT", rb"(?:\d+ ){6}\S"),
    "codes": ("codes:FORMAT", rb"wv codes "),
    "codes-text": ("codes:TEXT_FORMAT", rb"# wv codes "),
    "npy": ("npy:FORMAT", rb"\x93NUMPY"),
    "projector-tsv": ("projector:FORMAT", _NONE),
    "parquet": ("tables:PARQUET", _NONE),
    "sqlite": ("tables:SQLITE", _NONE),
    "fasttext-bin": ("fasttext_bin:FORMAT", rb"\xba\x16\x4f\x2f|(?s:...)\0"),  # the magic number, or the dimension
    "safetensors": ("static:FORMAT", rb"(?s:.{8})\{"),
    "text-model": ("document_models:FORMAT", rb"wv text-model "),
}
# The endings that choose the format of a file to be written, also before the module of the format is imported.
SUFFIXES = {
    "word2vec-text": (".vec", ".txt"),
    "word2vec-binary": (".bin",),
    "glove-text": (".glove",),
    "floret": (".floret",),
    "codes": (".codes",),
    "npy": (".npy",),
    "projector-tsv": (".tsv",),
    "parquet": (".parquet",),
    "sqlite": (".sqlite", ".db"),
    "fasttext-bin": (".bin", ".ftz"),
    "text-model": (".d2v",),
}
# How the name of the second file ends, which has the words of a format of numbers only.
WORDS_ENDINGS = {"npy": ".words.txt", "projector-tsv": ".metadata.tsv"}

FORMATS: "LazyRegistry[Format]" = LazyRegistry(
    "format", {name: f"{__package__}.formats.{place}" for name, (place, _) in ROWS.items()}
)


def candidates(head: bytes) -> "Iterator[Format]":
    """The formats that a file which begins with `head` may be of."""
    return (FORMATS[name] for name, (_, first) in ROWS.items() if re.match(first, head))


def _certainly(head: bytes) -> str | None:
    return next((what for row in candidates(head) if (what := row.what_is_certainly(head))), None)


def _probably(head: bytes) -> str | None:
    return next((what for row in candidates(head) if (what := row.what_is(head))), None)


kinds.KINDS += [kinds.Kind(_certainly), kinds.Kind(_probably, certain=False)]


def may_have_words(path: str) -> bool:
    """Whether the ending of `path` is that of a format whose words are in a second file."""
    return any(inner_name(path).endswith(SUFFIXES[name]) for name in WORDS_ENDINGS)
