from collections.abc import Callable
from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

LETTER: int
SPACE: int
DIGIT: int
SIGMA: int
HARD: int
MARK: int
CASED: int
IGNORED: int
BYTES: int
PAGE: int
GROWTH: int
MOST_HASHES: int

def xxhash64(data: Buffer, seed: int = 0) -> int: ...

@final
class Signer:
    def __new__(
        cls,
        page: Callable[[int], bytes],
        words: Callable[[bytes], bytes],
        shingle: int,
        bands: int,
        rows: int,
        a: NDArray[np.uint64],
        b: NDArray[np.uint64],
    ) -> Self: ...
    def words(self, text: Buffer) -> bytes: ...
    def keys(self, texts: list[bytes]) -> NDArray[np.uint64]: ...
    def numbers(self, texts: list[bytes]) -> NDArray[np.uint64]: ...
