from collections.abc import Callable, Sequence
from typing import Self, final

import numpy as np
from numpy.typing import NDArray

LETTER: int
SPACE: int
ALONE: int
SYMBOL: int
HARD: int
BYTES: int
PAGE: int
MOST_CHARACTERS: int

_Tokens = tuple[bytes, NDArray[np.int64], NDArray[np.int32]]

@final
class PieceReader:
    def __new__(
        cls,
        first: _Tokens,
        rest: _Tokens,
        added: _Tokens,
        page: Callable[[int], bytes],
        order: Callable[[str], str],
        *,
        is_whole: bool,
        unknown: int,
        dropped: int,
        most_characters: int,
    ) -> Self: ...
    def read(
        self, texts: Sequence[str], most: int = 0
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_]]: ...
