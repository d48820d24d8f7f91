"""`word-analogy` of word2vec: a is to b as c is to ?"""

from collections.abc import Sequence

from wv_cli.cli.compat import CompatCommand, say
from wv_cli.cli.compat.neighbor_rows import ROWS, load, places, read_queries, require_file, table

_TOO_FEW = "Only {} words were entered.. three words are needed at the input to perform the calculation\n"


def main(words: Sequence[str]) -> int:
    from wv_cli.vectors.neighbors.exact import Neighbors

    vectors = load(require_file(words, "word-analogy"))
    search = Neighbors(vectors.matrix)
    for line in read_queries("Enter three words (EXIT to break): "):
        if len(line) < 3:
            say(_TOO_FEW.format(len(line)))
            continue
        # Position 0 means unknown here, so the first row is unknown as well.
        rows = places(vectors, line, lambda row: row > 0, 0)
        if rows is not None:
            weights = [-1.0, 1.0, 1.0] + [0.0] * (len(rows) - 3)  # a fourth word is only left out of the answers
            hits, scores = search.nearest([rows], ROWS, weights=[weights])
            table(vectors, "Distance", hits[0].tolist(), scores[0].tolist(), 0.0)
    return 0


command = CompatCommand(
    "word-analogy",
    main,
    "word-analogy FILE: asks for three words a b c on standard input and answers what c is to as a is to b.",
)
