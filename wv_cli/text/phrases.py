"""A text with its phrases joined, for `wv phrases`: read once, into ids, and written again as text."""

from collections.abc import Callable, Iterator

from wv_cli import _encoder
from wv_cli.io.events import OnProgress
from wv_cli.io.spill import Closeable, Spool
from wv_cli.text.config import PhrasesConfig
from wv_cli.text.corpus import require_words
from wv_cli.text.id_stream import read_ids
from wv_cli.text.input_files import Inputs
from wv_cli.text.joining import JoinedIds, Phrases
from wv_cli.text.phrase_finding import Pass, PhraseFinder
from wv_cli.text.saved_phrases import SavedPhrases
from wv_cli.text.source import Source


class JoinedText(Closeable):
    """A text with its phrases joined. Use as a context: it may hold a file.

    with JoinedText(inputs, config) as text: ... text.passes, text.chunks()

    `words_seen`: different words of the text, those seen min_count times.

    Raises UsageError, and WvError when there is no text, unless it `may_be_empty`, or the ids cannot be kept; what
    Source raises.
    """

    def __init__(
        self,
        inputs: Inputs,
        config: PhrasesConfig,
        *,
        spool_beside: str | None = None,
        progress: OnProgress | None = None,
        after_pass: Callable[[Pass], None] | None = None,
        count_pairs: bool = False,
        saved: SavedPhrases | None = None,
        may_be_empty: bool = False,
        threads: int = 1,
    ) -> None:
        """With `count_pairs` the first pass counts all pairs (see PhraseFinder). `saved` phrases are joined instead of
        those of this text; there are no `passes` then. `threads` change no byte."""
        self._finder = PhraseFinder(config, after_pass=after_pass, count_pairs=count_pairs)
        phrases: Phrases = self._finder if saved is None else saved
        self._spool = Spool(spool_beside)
        try:
            source = Source(inputs, lowercase=config.lowercase, progress=progress)
            self._words = _encoder.Encoder(every_line=True)
            read_ids(source, self._words, config.memory // 2, self._spool)
            self._text = JoinedIds(self._words, self._spool, threads)
            self.lines, self.tokens_read = self._text.lines, self._text.tokens_read
            if not may_be_empty:
                require_words(self.tokens_read, source.inputs)
            self.words_seen = len(self._text.words), int((self._text.counts >= config.min_count).sum())
            phrases.join_in(self._text)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._spool.close()

    @property
    def passes(self) -> list[Pass]:
        """What was found."""
        return self._finder.passes

    @property
    def pairs(self) -> tuple[int, int] | None:
        """See PhraseFinder."""
        return self._finder.pairs

    @property
    def tokens(self) -> int:
        """Words in the joined text, a phrase being one."""
        return int(self._text.counts.sum())

    def chunks(self) -> Iterator[bytes | bytearray]:
        """The joined text: one space between words, every line in its place, empty ones included."""
        return self._text.chunks()

    def rows(self) -> Iterator[bytes]:
        """The phrases of every pass, as saved_phrases keeps them."""
        return self._finder.rows()
