"""Vectors of words and n-grams on standard output."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.cli.unknown import Unknown
    from wv_cli.transforms.composition import Composer
    from wv_cli.vectors.file_options import Precision


def print_vectors(
    kind: str,
    names: Sequence[str | bytes],
    vectors: "NDArray[np.float32]",
    file: str,
    precision: "Precision",
    as_json: bool,
) -> None:
    """One line each, or one JSON object that calls the name `kind`. Raises WvError for a vector of `file` that is not
    finite."""
    from wv_cli.vectors.formats.lines import json_lines, require_finite, text_lines

    require_finite(vectors, names, file)
    made = json_lines(kind, names, vectors, precision) if as_json else text_lines(names, vectors, precision)
    sys.stdout.buffer.write(made)


def print_words(
    source: "Composer",
    batches: Iterable[list[str]],
    file: str,
    precision: "Precision",
    as_json: bool,
    unknown: "Unknown",
    *,
    piped: bool,
) -> int:
    """The vectors of the words of lines, in their order. Returns the exit code, as `unknown` has it."""
    from wv_cli.transforms.composition import runs, word_vectors
    from wv_cli.vectors.formats.lines import without_vector

    before = 0
    for lines in batches:
        for asked, places, vectors, known in word_vectors(source, lines):
            unknown.count(known)
            for first, end, has_vectors in runs(known | (unknown.oov == "zero")):
                if has_vectors:
                    print_vectors("word", asked[first:end], vectors[first:end], file, precision, as_json)
                    continue
                for word, place in zip(asked[first:end], places[first:end], strict=True):
                    unknown.tell(f"{word!r} has no vector in {file}", before + place + 1 if piped else None)
                    if unknown.oov == "empty":
                        sys.stdout.buffer.write(without_vector(word) if as_json else b"\n")
        sys.stdout.buffer.flush()
        before += len(lines)
    return unknown.exit_code()
