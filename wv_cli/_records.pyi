from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

GOOD: int
BLANK: int
NO_OBJECT: int
SYNTAX: int
UTF8: int
TOO_DEEP: int
NO_FIELD: int
NO_TEXT: int
TAKEN: int
COLUMNS: int
OPEN_QUOTE: int
AFTER_QUOTE: int
DEPTH: int
KEEP: int
SPACE: int
DROP: int

@final
class JsonScanner:
    def __new__(cls, name: bytes, parts: list[bytes], added: list[bytes], newline: int) -> Self: ...
    def scan(self, block: Buffer, start: int = 0) -> tuple[bytes, NDArray[np.int64], int]: ...

@final
class CsvScanner:
    def __new__(cls, delimiter: bytes, column: int, columns: int, newline: int, quotes: bool = True) -> Self: ...
    def scan(self, block: Buffer, start: int = 0, final: bool = False) -> tuple[bytes, NDArray[np.int64], int]: ...
