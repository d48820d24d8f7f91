"""Bits in 64-bit words, the lowest bit first (as in Faiss): how codes are kept and compared."""

import numpy as np
from numpy.typing import NDArray


def words_per_code(bits: int) -> int:
    """64-bit words per code."""
    return -(-bits // 64)


def pack_bits(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """(n, bits) true or false -> (n, words_per_code(bits)) uint64; bits after the last are zero."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    out = np.zeros((len(bits), 8 * words_per_code(bits.shape[1])), np.uint8)
    out[:, : packed.shape[1]] = packed
    return out.view("<u8").astype(np.uint64, copy=False)


def unpack_bits(packed: NDArray[np.uint64], bits: int) -> NDArray[np.bool_]:
    """The reverse of pack_bits."""
    octets = np.ascontiguousarray(packed, "<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, count=bits, bitorder="little").view(np.bool_)


def pack_positions(positions: NDArray[np.int32], bits: int) -> NDArray[np.uint64]:
    """(n, active) positions of the bits that are set, 0 .. bits - 1 -> (n, words_per_code(bits)) uint64."""
    out = np.zeros((len(positions), words_per_code(bits)), np.uint64)
    rows = np.arange(len(positions))
    for column in range(positions.shape[1]):
        at = positions[:, column]
        out[rows, at >> 6] |= np.uint64(1) << (at & 63).astype(np.uint64)
    return out
