"""fastText's commands that look into a model: vectors of words, lines and n-grams, neighbors, analogies, its parts."""

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from wv_cli.cli.compat import Exit, say, tell
from wv_cli.cli.compat.fasttext_args import answer_count
from wv_cli.cli.compat.fasttext_model import load, require_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MODEL = "\n  <model>      model filename\n"
_COUNT = "  <k>          (optional; 10 by default) predict top k labels\n"
_USAGES = {
    "print-word-vectors": f"usage: fasttext print-word-vectors <model>\n{_MODEL}\n",
    "print-sentence-vectors": f"usage: fasttext print-sentence-vectors <model>\n{_MODEL}\n",
    "print-ngrams": f"usage: fasttext print-ngrams <model> <word>\n{_MODEL}  <word>       word to print\n\n",
    "nn": f"usage: fasttext nn <model> <k>\n{_MODEL}{_COUNT}\n",
    "analogies": f"usage: fasttext analogies <model> <k>\n{_MODEL}{_COUNT}\n",
    "dump": f"usage: fasttext dump <model> <option>\n{_MODEL}  <option>     option from args,dict,input,output\n",
}
_PARTS = ("args", "dict", "input", "output")
_NEIGHBORS = 10
_WORDS_AT_ONCE = 10_000


def print_word_vectors(words: Sequence[str]) -> int:
    from wv_cli.cli.queries import piped_lines
    from wv_cli.words import split_words

    _require(len(words) == 1, "print-word-vectors", tell)
    model = load(words[0])
    for lines in piped_lines():
        asked = [word for line in lines for word in split_words(line)]
        for first in range(0, len(asked), _WORDS_AT_ONCE):
            part = asked[first : first + _WORDS_AT_ONCE]
            _show(part, model.word_vectors(part))
        sys.stdout.buffer.flush()
    return 0


def print_sentence_vectors(words: Sequence[str]) -> int:
    from wv_cli.cli.queries import piped_lines
    from wv_cli.transforms.composition import OfModel

    _require(len(words) == 1, "print-sentence-vectors", tell)
    source = OfModel(load(words[0]))
    for lines in piped_lines():
        _show(None, source.lines(lines))
        sys.stdout.buffer.flush()
    return 0


def print_ngrams(words: Sequence[str]) -> int:
    from wv_cli.transforms.composition import OfModel

    _require(len(words) == 2, "print-ngrams", tell)
    _show(*OfModel(load(words[0])).ngrams(words[1]))
    return 0


def nn(words: Sequence[str]) -> int:
    _require(1 <= len(words) <= 2, "nn")
    k = _count(words)
    asking = _Asking(words[0], k)
    for (word,) in _read_words("Query word? ", 1):
        asking.answer([word], asking.vectors([word]))
    return 0


def analogies(words: Sequence[str]) -> int:
    """Ends with the input, where the original goes on for ever."""
    _require(1 <= len(words) <= 2, "analogies")
    k = _count(words)
    say(f"Loading model {words[0]}\n")
    asking = _Asking(words[0], k)
    for asked in _read_words("Query triplet (A - B + C)? ", 3):
        a, b, c = (vector / (float((vector @ vector) ** 0.5) + 1e-8) for vector in asking.vectors(asked))
        asking.answer(asked, (a - b + c)[None])
    return 0


def dump(words: Sequence[str]) -> int:
    from wv_cli.vectors.formats.fasttext_dump import parts
    from wv_cli.vectors.quantizer import QuantMatrix

    _require(len(words) >= 2, "dump")
    model, part = load(words[0]), words[1]
    _require(part in _PARTS, "dump")
    if part in ("input", "output") and isinstance(model.input, QuantMatrix):
        tell("Not supported for quantized models.\n")
        return 0
    for piece in parts(model, part):
        sys.stdout.buffer.write(piece)
    return 0


class _Asking:
    """A model and its words' unit vectors, asked for the `k` nearest."""

    def __init__(self, path: str, k: int) -> None:
        from wv_cli.vectors.neighbors.exact import Neighbors

        self._model = load(path)
        self._search = Neighbors(self._model.all_word_vectors())
        self._k = min(k, len(self._model.words))

    def vectors(self, asked: Sequence[str]) -> "NDArray[np.float32]":
        """(len(asked), dim); zero for what has no vector."""
        return self._model.word_vectors(asked)

    def answer(self, asked: Sequence[str], query: "NDArray[np.float32]") -> None:
        """The nearest to the vector `query` (1, dim), which is asked for by these words: they are no answers."""
        known = [self._model.words.find(word) for word in asked]
        hits, cosines = self._search.top_k(query, self._k, exclude=[[row for row in known if row >= 0]])
        for row, cosine in zip(hits[0].tolist(), cosines[0].tolist(), strict=True):
            if row >= 0:
                say(f"{self._model.words[row]} {cosine:g}\n")


def _read_words(prompt: str, count: int) -> Iterator[list[str]]:
    """As many words of standard input at a time, each time after a prompt, until there are no more."""
    from wv_cli.io.marks import without_mark
    from wv_cli.words import decode

    words = (decode(word) for line in without_mark(iter(sys.stdin.buffer.readline, b"")) for word in line.split())
    while True:
        say(prompt)
        sys.stdout.buffer.flush()
        asked = list(islice(words, count))
        if len(asked) < count:
            return
        yield asked


def _count(words: Sequence[str]) -> int:
    k = answer_count(words[1]) if len(words) > 1 else _NEIGHBORS
    require_count(k)
    return k


def _require(right: bool, usage: str, tells: Callable[[str], None] = say) -> None:
    """Shows the usage and raises Exit(1) unless the words are `right`."""
    if not right:
        tells(_USAGES[usage])
        raise Exit(1)


def _show(names: Sequence[str | bytes] | None, vectors: "NDArray[np.float32]") -> None:
    from wv_cli.vectors.formats.base import FASTTEXT_PRECISION
    from wv_cli.vectors.formats.lines import text_lines

    sys.stdout.buffer.write(text_lines(names, vectors, FASTTEXT_PRECISION, trailing_space=True))
