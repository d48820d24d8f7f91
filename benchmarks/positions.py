"""Suite `positions`: what `--share-positions` buys and costs beside one position after the other.

    python benchmarks/run.py corpus.txt --suite positions --models skipgram-ns,cbow-ns --epochs 5 --rounds 3

`cpu seconds` are of training alone, by one thread, without encoding and the output; `times as fast` is the median over
the rounds of what one position after the other took, in those of the shared run of the same round. `loss` and scores
are those of the finished model (benchmarks/turns.py, which says how much worse is no worse).
"""

from pathlib import Path
from typing import Any

from record import Run
from turns import Trained, compared, configured, timed

from wv_cli.models.word2vec import Word2vec
from wv_cli.text.corpus import Corpus


def positions(options: Any, result: Run, say: Any) -> bool:
    """See turns.compared()."""

    def by(shared: bool) -> Trained:
        def trained(corpus: Corpus, name: str, seed: int, vectors: Path) -> Run:
            config = configured(options, name, seed=seed, threads=1, share_positions=shared)
            return timed(corpus, config, Word2vec, vectors)

        return trained

    def beside(found: Run, alone: Run) -> Run:
        return {"times_as_fast": alone["cpu_seconds"] / found["cpu_seconds"]}

    return compared(options, result, say, {"alone": by(False), "shared": by(True)}, beside)
