"""The files of one fastText run: the model, the vectors of its words as text (.vec), its output rows as text (.output).

The text is word2vec's, with five significant digits and the words of the model, so `</s>` among them.
"""

from collections.abc import Callable, Sequence

import numpy as np

from wv_cli.io.host import processors
from wv_cli.io.output import open_output
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.fasttext import FastTextModel
from wv_cli.vectors.formats.base import FASTTEXT_PRECISION, WriteOptions
from wv_cli.vectors.formats.fasttext_write import save_model
from wv_cli.vectors.formats.word2vec_text import write

VECTORS, OUTPUT = ".vec", ".output"


def file_writers(paths: Sequence[str], model: FastTextModel) -> list[tuple[str, Callable[[str], None]]]:
    """The `paths`, each with what writes to it what its ending says, the model where it is another one."""

    def save(path: str) -> None:
        if path.endswith(VECTORS):
            _save_text(path, Embeddings(model.words, model.all_word_vectors()))
        elif path.endswith(OUTPUT):
            names = model.labels if model.is_classifier else model.words
            _save_text(path, Embeddings(names, model.output.take(np.arange(len(names)))))
        else:
            save_model(path, model)

    return [(path, save) for path in paths]


def _save_text(path: str, vectors: Embeddings) -> None:
    with open_output(path) as stream:
        write(stream, vectors, WriteOptions(FASTTEXT_PRECISION, processors()))
