"""The package that the program reads and writes zstd with, under one name for every Python."""

import sys

if sys.version_info >= (3, 14):
    from compression import zstd as zstd

    NAME, REMEDY = "compression.zstd", "use a Python that has compression.zstd"
else:
    from backports import zstd as zstd

    NAME, REMEDY = "backports.zstd", "pip install backports.zstd"


def pack(data: bytes, level: int = 3, checksum: bool = False, size: bool = True) -> bytes:
    """One frame, with a checksum and the size of its content as asked."""
    parameter = zstd.CompressionParameter
    options = {
        parameter.compression_level: level,
        parameter.checksum_flag: checksum,
        parameter.content_size_flag: size,
    }
    return zstd.compress(data, options=options)
