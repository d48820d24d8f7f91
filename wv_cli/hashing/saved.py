"""Reads back a hasher that `wv hash --save-hasher` wrote, of any method that hashes vectors. Not bioword's, which codes
texts (bioword.py)."""

import importlib
import os

from wv_cli.errors import BadFile, show_value
from wv_cli.hashing import HASHERS
from wv_cli.hashing.base import ReadHasher, VectorHasher
from wv_cli.io import container
from wv_cli.io.input import open_input


def load_hasher(path: str | os.PathLike[str]) -> VectorHasher:
    """Raises BadFile, WvError."""
    with open_input(path, "a hasher") as source:
        if source.peek(9) == b"wv codes ":
            problem = "these are codes, not the hasher that made them (`wv hash --save-hasher FILE` writes one)"
            raise BadFile(source.name, problem, byte=0)
        reader = container.Reader(source, "hasher", advice="make it again with --save-hasher")
        method = reader.fact("method", str)
        known = [name for name, row in HASHERS.items() if row.learns_from == "vectors"]
        if method not in known:
            reader.refuse(f"expected a hasher of one of the methods {', '.join(known)}, found {show_value(method)}")
        read: ReadHasher = importlib.import_module(HASHERS[method].loader).read_hasher
        return read(reader)
