from collections.abc import Callable
from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

LONGEST_TEXT: int
LETTER: int
SIGMA: int
HARD: int
CASED: int
IGNORED: int
BEGINS_MARKED: int
ENDS_MARKED: int
BYTES: int
PAGE: int
GROWTH: int

@final
class WordWriter:
    def __new__(cls, *, blanks: bool, drop_punctuation: bool, digits: int, sentences: bool) -> Self: ...
    def write(self, text: Buffer) -> bytes: ...

@final
class Folder:
    def __new__(cls, page: Callable[[int], bytes], line: Callable[[bytes], bytes]) -> Self: ...
    def fold(self, text: bytes) -> bytes: ...

def boundaries(text: Buffer) -> NDArray[np.uint8]: ...
def kinds() -> NDArray[np.uint16]: ...
