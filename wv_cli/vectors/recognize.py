"""Vectors, models and codes, and our own files, recognized where running text is expected.

Imports no format: most texts begin like no vector file, and are read without NumPy.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from wv_cli.io import meta
from wv_cli.io.kinds import kind_of
from wv_cli.text.inputs import Texts
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.vectors.heads import FORMATS, WORDS_ENDINGS

if TYPE_CHECKING:
    from wv_cli.text.parts import Part, Shard
    from wv_cli.text.records.labels import LabelFields


def input_texts(
    inputs: Sequence[str],
    *,
    log: Callable[[str], None],
    written: Sequence[str] = (),
    reading: ReadingConfig | None = None,
    one_line: bool = False,
    part: "Part | Shard | None" = None,
    advise: bool = False,
    labels: "LabelFields | None" = None,
) -> Texts:
    """`inputs` of a command that reads running text: see Texts."""
    given = (written, reading or ReadingConfig(), one_line or labels is not None, part, advise)
    return Texts(inputs, recognize, is_sidecar, log, *given, labels=labels)


def recognize(head: bytes) -> str | None:
    """What a file is that begins with `head` (kinds.HEAD_BYTES of it), None when it may be running text."""
    return kind_of(head, certain=True)


def is_sidecar(path: str) -> bool:
    """Whether a file stands beside another one that is there: facts about it, or its words."""
    if path.endswith(meta.ENDING):
        return True
    return any(FORMATS[name].stands_beside(path) for name, ending in WORDS_ENDINGS.items() if path.endswith(ending))
