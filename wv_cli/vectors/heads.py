"""How vector files begin: the table by which their formats are found without importing all of them."""

import re
from collections.abc import Iterator

# The first line of word2vec's files: rows and numbers in one.
HEADER = re.compile(rb"[ \t]*(\d{1,18})[ \t]+(\d{1,18})[ \t\r]*\n")
_NONE = rb"(?!)"
# A first line with a number behind its first word, whole or cut.
_ROW = rb"(?i)[^\n]*?[ \t](?:[-+]?\.?\d|[-+]?(?:nan|inf(?:inity)?)(?:\s|$))"
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
# How the name of the second file ends, which has the words of a format of numbers only.
WORDS_ENDINGS = {"npy": ".words.txt", "projector-tsv": ".metadata.tsv"}


def may_be(head: bytes) -> Iterator[str]:
    """The formats that a file which begins with `head` may be of, by name."""
    return (name for name, (_, first) in ROWS.items() if re.match(first, head))
