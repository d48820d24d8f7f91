from typing import final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

@final
class Model:
    def __init__(
        self,
        contents: Buffer,
        hashed: bool,
        words: int,
        vocabulary: tuple[int, int],
        unigrams: tuple[int, int, int],
        levels: NDArray[np.int64],
        name: str = "the model",
    ) -> None: ...
    @property
    def name(self) -> str: ...
    def find(self, blob: Buffer, starts: NDArray[np.int64]) -> NDArray[np.int32]: ...
    def begin(self, ends: bool = True) -> NDArray[np.int32]: ...
    def score(
        self, ids: NDArray[np.int32], state: NDArray[np.int32], ends: bool = True
    ) -> tuple[NDArray[np.float32], NDArray[np.uint8], NDArray[np.int32]]: ...
    def all(self, state: NDArray[np.int32]) -> NDArray[np.float32]: ...
    def unpack(
        self, length: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]: ...
