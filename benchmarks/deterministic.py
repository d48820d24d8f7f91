"""Suite `deterministic`: what `--deterministic` costs beside a thread that runs free, and what is learnt.

    python benchmarks/run.py corpus.txt --suite deterministic --models skipgram-ns,cbow-ns --epochs 5 --rounds 3

`cpu seconds` are of training alone, by one thread, without encoding and the output; `times cpu` is the median over the
rounds of what the deterministic run took, in those of the free one of the same round. `loss` is that of the finished
model over the text, with the same draws for both (benchmarks/turns.py, which says how much worse is no worse), and
`loss percent` what it is above the free one's.
"""

from pathlib import Path
from typing import Any

from record import Run
from turns import Trained, compared, configured, timed

from wv_cli.models.deterministic import DeterministicWord2vec
from wv_cli.models.word2vec import Word2vec
from wv_cli.text.corpus import Corpus


def deterministic(options: Any, result: Run, say: Any) -> bool:
    """See turns.compared()."""

    def by(kind: type[Word2vec]) -> Trained:
        def trained(corpus: Corpus, name: str, seed: int, vectors: Path) -> Run:
            config = configured(options, name, seed=seed, threads=1, deterministic=kind is DeterministicWord2vec)
            return timed(corpus, config, kind, vectors)

        return trained

    def beside(found: Run, free: Run) -> Run:
        times, loss = (found[key] / free[key] for key in ("cpu_seconds", "loss"))
        return {"times_cpu": times, "loss_percent": 100 * (loss - 1)}

    return compared(options, result, say, {"free": by(Word2vec), "deterministic": by(DeterministicWord2vec)}, beside)
