"""`wv vectors --sentences --pooling`: lines of text as weighted means of word vectors."""

import sys
from typing import TYPE_CHECKING, Any

from wv_cli.cli.options import conflict, given_options, refuse_options
from wv_cli.cli.unknown import tell_zeros
from wv_cli.commands.parts.pooling import OWN
from wv_cli.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.vectors.file_options import BadRowsName, Precision
    from wv_cli.vectors.lookup import Case


def pooling_of(options: dict[str, Any]) -> dict[str, Any]:
    """The parameters of pool_lines among the options of a command."""
    return {name: options[name] for name in ("pooling", "counts", "case", "output")}


def wants_pooling(
    options: dict[str, Any], sentences: bool, as_json: bool, precision: "Precision", dask: str | None
) -> bool:
    """Raises UsageError for options of pooling without it, and for what it cannot do."""
    if options["pooling"] is None:
        for name, flag in (("output", "-o"), ("counts", "--counts")):
            if options[name] is not None:
                message = f"{flag} needs --pooling mean, sif or idf{', or own' * (name == 'output')}"
                raise UsageError(message)
        refuse_options(case="pooling")
        return False
    refuse_options(counts="pooling=sif|idf", case="pooling!=own")
    if not sentences:
        message = "--pooling needs --sentences"
        raise UsageError(message)
    if as_json:
        error = conflict("--pooling", "--json", "--pooling writes numbers, or with -o a vector file")
        raise error
    if dask is not None:
        raise conflict("--pooling", "--dask", "workers make the vectors that FILE itself has for lines")
    if options["output"] is not None and "precision" in given_options():
        from wv_cli.vectors.formats import format_for_output

        format_for_output(options["output"]).require_precision(precision)
    return True


def pool_lines(
    lines: list[str],
    file: str,
    from_format: str | None,
    precision: "Precision",
    quiet: bool,
    *,
    piped: bool,
    bad_rows: "BadRowsName",
    pooling: str,
    counts: str | None,
    case: "Case",
    output: str | None,
) -> None:
    """Writes one vector a line, made of the vectors in `file`, to `output` or, as numbers only, to standard output."""
    import numpy as np

    from wv_cli.cli.reading import load_vectors, open_composer
    from wv_cli.io.output import check_writable
    from wv_cli.io.places import refuse_reading
    from wv_cli.text.vocab import read_vocab
    from wv_cli.transforms.sentences import sentence_vectors
    from wv_cli.vectors.lookup import Lookup

    if output is not None:
        refuse_reading([output], [file, *filter(None, [counts])])
        check_writable(output)
    if pooling == OWN:
        source = open_composer(file, from_format, quiet, piped=piped, bad_rows=bad_rows)
        own = source.lines(lines)
        _write(own, precision, output)
        if not quiet:
            tell_zeros(int(np.count_nonzero(~own.any(axis=1))), len(lines))
        return
    vectors = load_vectors(file, from_format, quiet, piped=piped, bad_rows=bad_rows)
    vocab = read_vocab(counts) if counts is not None else None
    made, empty = sentence_vectors(lines, vectors, Lookup(vectors, case), pooling, vocab=vocab)
    _write(made.astype(np.float32), precision, output)
    if not quiet:
        tell_zeros(int(empty.sum()), len(lines))


def _write(vectors: "NDArray[np.float32]", precision: "Precision", output: str | None) -> None:
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.formats import save
    from wv_cli.vectors.formats.lines import text_lines
    from wv_cli.vectors.formats.npy import number_words

    if output is not None:
        save(output, Embeddings(number_words(0, len(vectors)), vectors), precision=precision)
    elif len(vectors):
        sys.stdout.buffer.write(text_lines(None, vectors, precision))
        sys.stdout.buffer.flush()
