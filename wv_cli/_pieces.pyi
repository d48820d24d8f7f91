from typing import final

import numpy as np
from numpy.typing import NDArray

@final
class Unigram:
    def __init__(
        self,
        pieces: list[tuple[bytes, int, float]],
        rules: bytes,
        *,
        adds_prefix: bool,
        removes_blanks: bool,
        escapes: bool,
        unknown: int,
        unknown_score: float,
    ) -> None: ...
    def cut(self, texts: list[bytes]) -> tuple[NDArray[np.int32], bytes, NDArray[np.int64]]: ...
