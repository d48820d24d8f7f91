"""Options of reading and writing files of vectors. They import no arrays, so that help is quick."""

from typing import Literal

from wv_cli.config import option

# Decimals of every number (1 .. 9), so many significant digits (-1 .. -6), or the shortest text that reads back to the
# same float32.
Precision = int | Literal["exact"]
BadRowsName = Literal["error", "skip"]
Split = Literal["blanks", "punctuation"]  # where text is cut into words
Dtype = Literal["float32", "float16", "int8"]  # of the numbers of a static embedding
BitOrder = Literal["little", "big"]  # of the bits in a byte: bit 0 is the lowest or the highest
NO_BITS = "product codes are bytes that name centroids, and are not compared by bits"
WORD2VEC_PRECISION = 6


def bad_rows_option(*, only: str = "") -> BadRowsName:
    return option("error", "Rows that cannot be read: stop, or count and skip them.", group="Input", only=only)
