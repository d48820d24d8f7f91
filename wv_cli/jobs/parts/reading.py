"""The input text of a job, and the options of counting its words."""

from dataclasses import asdict, dataclass, field
from typing import Any

from wv_cli.config import option
from wv_cli.formats.recognize import input_texts
from wv_cli.jobs.part import Part, internal
from wv_cli.system.events import Log
from wv_cli.system.matrices import MatrixAllocator
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import Marked
from wv_cli.text.inputs import Texts
from wv_cli.text.reading_config import ReadingConfig
from wv_cli.text.vocab import Vocab, read_vocab


@dataclass(frozen=True, kw_only=True)
class Reading(Part):
    """The input text of a job. `inputs` are texts. `vocab` is a vocabulary file to use instead of their own words.
    Ids, and matrices, of more than `memory` bytes are on disk. Tokens that are `marked` are labels, no words."""

    inputs: tuple[str, ...] = ()
    words: VocabConfig = field(default_factory=VocabConfig)
    vocab: str | None = None
    memory: int | None = option(None, low=1)
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    marked: Marked | None = internal()

    def reads(self) -> list[str]:
        return [path for path in (*self.inputs, self.vocab) if path]

    @property
    def word_options(self) -> dict[str, Any]:
        """The options that say what is a word of the text, as a state keeps them."""
        recipe = self.reading.tokenize
        return {**asdict(self.words), **({"tokenize": recipe} if recipe is not None else {})}

    def vocabulary(self) -> Vocab | None:
        """The vocabulary of the file `vocab`, if there is one. Raises BadFile, WvError."""
        return read_vocab(self.vocab) if self.vocab else None

    def texts(self, log: Log, *others: str, written: list[str] | None = None) -> Texts:
        """The texts `inputs`, or `others` instead. Folders leave out the files that are `written`."""
        return input_texts(others or self.inputs, log=log, written=written or (), reading=self.reading)

    def matrices(self, beside: str | None, log: Log) -> MatrixAllocator:
        """Where the matrices of the run are."""
        return MatrixAllocator(self.memory, beside, log)


@dataclass(frozen=True, kw_only=True)
class SavedVocabulary(Part):
    """`save_vocab` gets the words and their counts before the training."""

    save_vocab: str | None = None

    def writes(self, beside: str | None) -> list[str]:
        return [self.save_vocab] if self.save_vocab else []
