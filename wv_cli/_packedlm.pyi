from typing import final

import numpy as np
from numpy.typing import NDArray

BLOCK: int
AT_ONCE: int
PADDING: int
PROB_WIDTH: int
BACKOFF_WIDTH: int

def write(numbers: NDArray[np.uint32], width: int) -> NDArray[np.uint8]: ...
def write_offsets(first: NDArray[np.int32]) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]: ...

@final
class Packed:
    def __init__(
        self,
        sizes: NDArray[np.int64],
        widths: NDArray[np.int64],
        index: NDArray[np.uint32],
        tables: NDArray[np.float32],
        bits: NDArray[np.uint8],
        closed: bool,
        name: str = "the model",
    ) -> None: ...
    @property
    def name(self) -> str: ...
    def begin(self, ends: bool = True) -> NDArray[np.int32]: ...
    def score(
        self, ids: NDArray[np.int32], state: NDArray[np.int32], ends: bool = True
    ) -> tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.int32]]: ...
    def all(self, state: NDArray[np.int32]) -> NDArray[np.float32]: ...
    def words(self, length: int) -> NDArray[np.int32]: ...
    def probs(self, length: int) -> NDArray[np.float32]: ...
    def backoffs(self, length: int) -> NDArray[np.float32]: ...
    def children(self, length: int) -> NDArray[np.int32]: ...
