from typing import Self, final

import numpy as np
from numpy.typing import NDArray

LARGEST_ORDER: int
NO_NODE: int

@final
class Windows:
    def __init__(self, stream: NDArray[np.int32], order: int, words: int) -> None: ...
    def take(self, records: NDArray[np.int32]) -> int: ...

def merge(
    order: int,
    records: NDArray[np.int32],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    more: NDArray[np.uint8],
    pending: NDArray[np.int32],
    out: NDArray[np.int32],
) -> int: ...

@final
class Builder:
    def __new__(cls, order: int) -> Self: ...
    def add(self, records: NDArray[np.int32]) -> None: ...
    def level(self, length: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]: ...

def link(
    levels: NDArray[np.int64], word: NDArray[np.int32], first: NDArray[np.int32]
) -> tuple[NDArray[np.int32], int]: ...

@final
class Model:
    def __init__(
        self,
        levels: NDArray[np.int64],
        word: NDArray[np.int32],
        first: NDArray[np.int32],
        suffix: NDArray[np.int32],
        prob: NDArray[np.float32],
        backoff: NDArray[np.float32],
    ) -> None: ...
    def begin(self) -> int: ...
    def step(self, state: int, word: int) -> tuple[float, int, int]: ...
    def score(
        self, ids: NDArray[np.int32], state: int, ends: bool = True
    ) -> tuple[NDArray[np.float32], NDArray[np.uint8], int]: ...
    def below(self, length: int) -> NDArray[np.float32]: ...
    def all(self, state: int) -> NDArray[np.float32]: ...
