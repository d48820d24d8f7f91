"""Reads back a hasher that `wv hash --save-hasher` wrote, of either kind: projections or product quantisation. Not
bioword's, which codes texts (bioword.py)."""

import os

from wv_cli.errors import BadFile
from wv_cli.hashing.linear import LinearHasher, linear_hasher
from wv_cli.hashing.product import ProductHasher, product_hasher
from wv_cli.system import container
from wv_cli.system.input import open_input

Hasher = LinearHasher | ProductHasher


def load_hasher(path: str | os.PathLike[str]) -> Hasher:
    """Raises BadFile, WvError."""
    with open_input(path) as source:
        if source.peek(9) == b"wv codes ":
            problem = "these are codes, not the hasher that made them (`wv hash --save-hasher FILE` writes one)"
            raise BadFile(source.name, problem, byte=0)
        facts, arrays = container.read(source, "hasher")
        hasher = product_hasher(facts, arrays) if "centroids" in arrays else linear_hasher(facts, arrays)
        if hasher is None:
            problem = "the header and the arrays do not make a hasher; make it again with --save-hasher"
            raise BadFile(source.name, problem, byte=len(container.magic("hasher")))
        return hasher
