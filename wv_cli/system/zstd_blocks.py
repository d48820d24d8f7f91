"""Where the blocks of a zstd frame begin (RFC 8878, section 3.1.1), so that a decoder can be fed a few at a time.

A block unpacks to 128 KiB at most, from as little as 4 bytes, and the package zstandard unpacks all that it is given.
"""

BLOCK_BYTES = 128 << 10  # unpacked, at most
_SKIPPABLE = 0x184D2A50  # the last four bits are free
_RLE = 1  # a block of one byte, repeated
_DICTIONARY_BYTES = (0, 1, 2, 4)


class BlockCutter:
    """Follows one frame. What is damaged is left to the decoder to find."""

    def __init__(self) -> None:
        self._head = bytearray()
        self._left = 0  # bytes to the next header
        self._in_blocks = self._last = False

    def cut(self, data: bytes, blocks: int) -> int:
        """How many bytes of `data`, the next ones of the frame, hold the beginnings of `blocks` blocks (1 or more).
        What stands behind the last block does not count: it unpacks to nothing."""
        at = 0
        while at < len(data):
            if self._left:
                step = min(self._left, len(data) - at)
                self._left -= step
                at += step
            elif self._last:
                return len(data)
            elif blocks == 0:
                return at
            else:
                self._head.append(data[at])
                at += 1
                blocks -= self._take_header()
        return at

    def _take_header(self) -> bool:
        """Reads the header once all of it is there; whether it was a block's."""
        head = self._head
        if self._in_blocks and len(head) == 3:
            value = int.from_bytes(head, "little")
            self._last = bool(value & 1)
            self._left = 1 if value >> 1 & 3 == _RLE else value >> 3
            head.clear()
            return True
        if not self._in_blocks and len(head) >= 5:
            if int.from_bytes(head[:4], "little") & ~15 == _SKIPPABLE:
                self._last = True
            elif len(head) == _frame_header_bytes(head[4]):
                self._in_blocks = True
                head.clear()
        return False


def _frame_header_bytes(descriptor: int) -> int:
    """The magic number, its fifth byte `descriptor`, window, dictionary and size of the content."""
    single, size = descriptor >> 5 & 1, descriptor >> 6
    return 5 + (not single) + _DICTIONARY_BYTES[descriptor & 3] + ((1 << size) if size or single else 0)
