"""PackedModel: a model of n-grams by bits (csrc/core/packedlm.h), as it lies in a file and is asked.
lm.packed makes one.

Numbers stand in buffers, of which NumPy makes arrays where it is needed: importing it takes longer than many a text.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from wv_cli import _packedlm

if TYPE_CHECKING:
    from wv_cli.io.shelf import Shelf
    from wv_cli.words import WordList

Numbers: TypeAlias = Any  # a memoryview, or an array
LOG_ZERO = -100.0  # KenLM's; SRILM writes -99


@dataclass(frozen=True, eq=False)
class PackedModel:
    """The arguments of _packedlm.Packed, and the words: `spellings` end to end and where each begins (WordList). `name`
    is that of the file, for messages about its damage; `shelf` has what was made here."""

    spellings: tuple[bytes, Numbers]
    sizes: Numbers
    widths: Numbers
    index: Numbers
    tables: Numbers
    bits: Numbers
    closed: bool
    name: str = "the model"
    shelf: "Shelf | None" = None

    @property
    def order(self) -> int:
        return len(self.sizes)

    @cached_property
    def words(self) -> "WordList":
        import numpy as np

        from wv_cli.words import WordList

        return WordList(self.spellings[0], np.asarray(self.spellings[1], np.int64))

    @cached_property
    def scorer(self) -> _packedlm.Packed:
        """The same for C. Raises ValueError where the parts do not fit each other."""
        return _packedlm.Packed(self.sizes, self.widths, self.index, self.tables, self.bits, self.closed, self.name)
