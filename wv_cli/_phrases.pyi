from collections.abc import Iterable, Iterator
from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

MOST_CONNECTORS: int

@final
class Chains:
    def __new__(cls, words: int, connects: NDArray[np.uint8] | None = None) -> Self: ...
    def chain(self, ids: Iterable[int]) -> int: ...
    def steps(self) -> NDArray[np.int32]: ...

@final
class PairCounts:
    def __new__(cls, bounds: NDArray[np.float32], limit: int, chains: Chains | None = None) -> Self: ...
    def add(self, ids: NDArray[np.int32]) -> None: ...
    def next_part(self) -> bool: ...
    def selected(self, least: int) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]: ...

@final
class Joiner:
    @property
    def joined(self) -> int: ...
    def __new__(
        cls,
        first: NDArray[np.int64],
        second: NDArray[np.int64],
        phrase: NDArray[np.int32],
        counts: NDArray[np.int64],
        chains: Chains | None = None,
    ) -> Self: ...
    def join(self, ids: NDArray[np.int32], out: NDArray[np.int32]) -> int: ...

@final
class Renderer:
    def __new__(cls, blob: Buffer, starts: NDArray[np.int64]) -> Self: ...
    def text(self, ids: NDArray[np.int32]) -> bytearray: ...
