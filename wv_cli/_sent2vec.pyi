import numpy as np
from numpy.typing import NDArray

from wv_cli import _training

def survey(
    options: object,
    ids: NDArray[np.int32],
    words: int,
    hashes: NDArray[np.int32] | None = None,
    bucket_row: NDArray[np.int32] | None = None,
    isa: str | None = None,
) -> tuple[int, int]: ...

class Run(_training.Run):
    def __init__(
        self,
        options: object,
        *,
        ids: NDArray[np.int32],
        longest: int,
        input: NDArray[np.float32],
        output: NDArray[np.float32],
        sampler: NDArray[np.uint32],
        keep: NDArray[np.uint32] | None = None,
        hashes: NDArray[np.int32] | None = None,
        bucket_row: NDArray[np.int32] | None = None,
        isa: str | None = None,
    ) -> None: ...
