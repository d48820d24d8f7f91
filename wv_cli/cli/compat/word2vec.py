"""`word2vec` itself: word vectors, word classes or a vocabulary of a text."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wv_cli.cli.compat import CompatCommand, Exit, say
from wv_cli.cli.compat.flags import Flags
from wv_cli.errors import UsageError
from wv_cli.io.events import unheard

if TYPE_CHECKING:
    from wv_cli.models.training.progress import Progress
    from wv_cli.text.vocab import Vocab

_MILLION = 1_000_000
_TOLD_FROM = 10_000  # words of a thread: shorter texts show no progress
_HELP = Path(__file__).with_name("word2vec.txt")


def main(words: Sequence[str]) -> int:
    if not words:
        say(_HELP.read_text(encoding="utf-8"))
        return 0
    asked = _Asked(Flags(words, "Argument missing for {}"))
    say(f"Starting training using file {asked.train}\n")
    if not asked.output:
        asked.tell_vocabulary(asked.count())
        return 0
    asked.run()
    return 0


class _Asked:
    """The flags of one command line, read in word2vec's order, so that the first that lacks its value is told."""

    def __init__(self, flags: Flags) -> None:
        self.size = flags.whole("-size", 100)
        self.train = flags.text("-train")
        self.save_vocab = flags.text("-save-vocab")
        self.read_vocab = flags.text("-read-vocab")
        self.debug = flags.whole("-debug", 2)
        self.binary = flags.whole("-binary", 0)
        self.cbow = flags.whole("-cbow", 1)
        self.alpha = flags.number("-alpha", 0.05 if self.cbow else 0.025)
        self.output = flags.text("-output")
        self.window = flags.whole("-window", 5)
        self.sample = flags.number("-sample", 1e-3)
        self.hs = flags.whole("-hs", 0)
        self.negative = flags.whole("-negative", 5)
        self.threads = flags.whole("-threads", 12)
        self.iter = flags.whole("-iter", 5)
        self.min_count = max(flags.whole("-min-count", 5), 1)  # no word occurs less than once
        self.classes = flags.whole("-classes", 0)
        if self.read_vocab and not Path(self.read_vocab).exists():
            say(f"Starting training using file {self.train}\nVocabulary file not found\n")
            raise Exit(1)

    def count(self) -> "Vocab":
        """The vocabulary alone, as without -output."""
        from wv_cli.io.output import check_writable
        from wv_cli.text.config import VocabConfig
        from wv_cli.text.corpus import count
        from wv_cli.text.reading_config import ReadingConfig
        from wv_cli.text.vocab import read_vocab, write_vocab
        from wv_cli.vectors.recognize import input_texts

        if self.save_vocab:
            check_writable(self.save_vocab)
        if self.read_vocab:
            every = read_vocab(self.read_vocab)
        else:
            self.require_text()
            every = count(
                input_texts([self.train], log=unheard, reading=ReadingConfig(force_text=True)),
                VocabConfig(),
                may_be_empty=True,
            )
        vocab = every.most_frequent(every.often(self.min_count))
        if self.save_vocab:
            write_vocab(self.save_vocab, vocab)
        return vocab

    def require_text(self) -> None:
        if not (self.train and Path(self.train).exists()):
            say("ERROR: training data file not found!\n")
            raise Exit(1)

    def tell_vocabulary(self, vocab: "Vocab") -> None:
        self.tell_counts(vocab.tokens_read, len(vocab), vocab.tokens, vocab.lines)

    def tell_counts(self, read: int, words: int, tokens: int, lines: int) -> None:
        """Line ends are a word here."""
        if self.debug > 1 and not self.read_vocab:
            say("".join(f"{million}M\r" for million in range(1, (read + lines) // _MILLION + 1)))
        if self.debug > 0:
            say(f"Vocab size: {words + 1}\nWords in train file: {tokens + lines}\n")

    def run(self) -> None:
        from wv_cli.commands.job import build
        from wv_cli.commands.word2vec import Word2vecJob
        from wv_cli.io.host import processors
        from wv_cli.models.config import Word2vecConfig

        if self.read_vocab and not Path(self.train).exists():
            self.tell_vocabulary(self.count())
        self.require_text()
        threads = max(1, min(self.threads, processors()))
        loss = _LOSSES.get((self.hs != 0, self.negative > 0))
        if loss is None:
            raise UsageError("-hs 0 -negative 0: nothing would be trained; give one of them")
        if self.iter < 1:
            raise UsageError(f"-iter {self.iter}: nothing would be trained; give 1 or more")
        drawn: dict[str, Any] = {"negative": self.negative} if self.negative > 0 else {}
        config = Word2vecConfig(
            model="cbow" if self.cbow else "skipgram",
            loss=loss,  # type: ignore[arg-type]
            dim=self.size,
            window=self.window,
            sample=self.sample,
            lr=self.alpha,
            epochs=self.iter,
            threads=threads,
            **drawn,
        )
        options = {
            "inputs": (self.train,),
            "force_text": True,
            "outputs": (self.output,),
            "min_count": self.min_count,
            "vocab": self.read_vocab or None,
            "save_vocab": self.save_vocab or None,
            "classes": self.classes,
            "to": "word2vec-binary" if self.binary else "word2vec-text",
            "line_ends": True,
            "resumable": False,
            "meta": False,
        }
        job = build(Word2vecJob, options, config=config)
        outcome, _ = job.run(self._hear, self._progress(threads) if self.debug > 1 else None)
        if outcome is not None and not outcome.is_finished:
            raise outcome.ended_early("nothing was saved")

    def _hear(self, message: str, **facts: Any) -> None:
        if "line_ends" in facts:
            self._words = facts["vocabulary_tokens"] + facts["line_ends"]
            self.tell_counts(facts["tokens_read"], facts["vocabulary"], facts["vocabulary_tokens"], facts["line_ends"])

    def _progress(self, threads: int) -> "Callable[[Progress], None]":
        def tell(now: "Progress") -> None:
            done = now.fraction * self._words * self.iter
            if done > _TOLD_FROM * self.threads:
                rate = now.rate / threads / 1000
                say(f"\rAlpha: {now.lr:f}  Progress: {100 * now.fraction:.2f}%  Words/thread/sec: {rate:.2f}k  ")

        return tell


# By whether -hs is on and whether there are -negative.
_LOSSES = {(False, True): "ns", (True, False): "hs", (True, True): "hs_ns"}

command = CompatCommand(
    "word2vec",
    main,
    "word2vec -train FILE -output FILE [flags]: word2vec's own flags; without any, its help.",
)
