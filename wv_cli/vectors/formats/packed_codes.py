"""Codes as NumPy's array of bytes, for other programs: uint8 (n, ceil(bits / 8)), the words in NAME.words.txt.

The order of the bits in a byte is "little" (bit 0 is the lowest: faiss, sqlite-vec) or "big" (bit 0 is the highest:
numpy.packbits, sentence-transformers, pgvector). Unused bits of the last byte are 0. `wv` does not read such files.
"""

import os

import numpy as np

from wv_cli.errors import WvError
from wv_cli.io.output import commit_together, open_output
from wv_cli.vectors.codes import Codes
from wv_cli.vectors.file_options import NO_BITS, BitOrder
from wv_cli.vectors.formats import npy
from wv_cli.vectors.formats.beside import open_beside
from wv_cli.vectors.formats.escape import require_writable
from wv_cli.vectors.neighbors.codes import unpack_bits

_BLOCK_ROWS = 1 << 14


def save_packed(path: str, codes: Codes, order: BitOrder) -> None:
    """Writes the codes and the words beside them, whole or not at all. Raises WvError; for product codes, and for
    words with a blank or line end, before anything is written."""
    if codes.quantizer is not None:
        raise WvError(f"{path}: {NO_BITS}; write another ending than .npy")
    name, width = os.fspath(path), -(-codes.bits // 8)
    require_writable(codes.words, npy.FORMAT.name, name)
    packed = codes.pack_codes()
    with commit_together(), open_output(path) as stream, open_beside(npy.FORMAT, path, stream) as beside:
        stream.write(npy.header(len(codes), width, b"|u1"))
        for first in range(0, len(codes), _BLOCK_ROWS):
            bits = unpack_bits(packed[first : first + _BLOCK_ROWS], codes.bits)
            stream.write(np.packbits(bits, axis=1, bitorder=order).data)
        beside.add(codes.words)
