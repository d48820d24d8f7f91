"""`distance` of word2vec: the forty words nearest to the words of each line."""

from collections.abc import Sequence

from wv_cli.cli.compat import CompatCommand
from wv_cli.cli.compat.neighbor_rows import ROWS, load, places, read_queries, require_file, table


def main(words: Sequence[str]) -> int:
    from wv_cli.vectors.neighbors.exact import Neighbors

    vectors = load(require_file(words, "distance"))
    search = Neighbors(vectors.matrix)
    for line in read_queries("Enter word or sentence (EXIT to break): "):
        rows = places(vectors, line, lambda row: row >= 0, -1)
        if rows is not None:
            # The mean of the unit vectors has the direction of their sum.
            hits, scores = search.nearest([rows], ROWS)
            table(vectors, "Cosine distance", hits[0].tolist(), scores[0].tolist(), -1.0)
    return 0


command = CompatCommand(
    "distance",
    main,
    "distance FILE: asks for words on standard input and shows the forty nearest, until EXIT or the end of input.",
)
