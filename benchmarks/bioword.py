"""BioWord: the kernel against a straightforward NumPy program (tests/reference/bioword.py), one thread, CPU seconds.

    python -m benchmarks.bioword TEXT

The best of three on the same minibatches; both see whole windows only.
"""

import sys
import time

import numpy as np

from tests.reference.bioword import Straight
from wv_cli.hashing.bioword import Bioword, start_weights
from wv_cli.hashing.config import BiowordConfig
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Corpus, encode

BATCHES = 5


def main() -> None:
    full = encode([sys.argv[1]], VocabConfig(max_vocab=20_000, lowercase=True))
    config = BiowordConfig()
    words, size = full.ids[full.ids >= 0][: BATCHES * config.batch + 10], 2 * config.window + 1
    text = np.append(words, -1).astype(np.int32)
    model = Bioword(config, Corpus(text, full.vocab, len(words), 1, full.digest))
    (worker,), _ = model.worker()
    kernel = min(_timed(lambda: worker.train(model.starts[: BATCHES + 1], 0.1)) for _ in range(3))

    straight = Straight(start_weights(config, len(full.vocab))[:, : config.cells], full.vocab.counts)
    inputs = np.lib.stride_tricks.sliding_window_view(words, size)[: BATCHES * config.batch].astype(np.int64)
    inputs[:, config.window] += len(full.vocab)

    def numpy() -> None:
        for first in range(0, len(inputs), config.batch):
            straight.batch(inputs[first : first + config.batch], 0.1)

    slow = min(_timed(numpy) for _ in range(3))
    windows = BATCHES * config.batch
    sys.stdout.write(
        f"{windows / kernel:,.0f} windows/s, NumPy {windows / slow:,.0f}, {slow / kernel:.1f} times as fast\n"
    )


def _timed(work: object) -> float:
    begin = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - begin


if __name__ == "__main__":
    main()
