"""Suite `deterministic`: the cost of `--deterministic` beside a free-running thread, and what is learnt.

    python benchmarks/run.py corpus.txt --suite deterministic --models skipgram-ns,cbow-ns --epochs 5 --rounds 3

`cpu seconds` are of training alone, by one thread, without encoding and output. `times cpu` divides the deterministic
run by the free one of the same round; it is the median over the rounds. `loss` is that of the finished model over the
text, with the same draws for both runs. `loss percent` is the difference to the free run. Suite `turns` defines which
differences count as equal.
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
