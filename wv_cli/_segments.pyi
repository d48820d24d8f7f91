from typing import Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Buffer

LONGEST_TEXT: int

@final
class WordWriter:
    def __new__(cls, *, blanks: bool, drop_punctuation: bool, digits: int, sentences: bool) -> Self: ...
    def write(self, text: Buffer) -> bytes: ...

def boundaries(text: Buffer) -> NDArray[np.uint8]: ...
def kinds() -> NDArray[np.uint16]: ...
