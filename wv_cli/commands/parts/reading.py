"""The input text of a job, and the options of counting its words."""

from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.part import Part, internal
from wv_cli.config import argument, frozen, option
from wv_cli.io.events import Log
from wv_cli.text.config import Marked, VocabConfig
from wv_cli.text.reading_config import ReadingConfig, label_field_option, require_label_fields

if TYPE_CHECKING:
    from wv_cli.io.matrices import MatrixAllocator
    from wv_cli.text.inputs import Texts
    from wv_cli.text.records.labels import LabelFields
    from wv_cli.text.vocab import Vocab


def vocab_option() -> str | None:
    help = "Use this vocabulary, whole unless --min-count is given."
    return option(None, help, role="read", group="Vocabulary", common=True)


@frozen
class Reading(Part):
    """The input text of a job. `inputs` are texts. `vocab` is a vocabulary file to use instead of their own words.
    Ids, and matrices, of more than `memory` bytes are on disk. Tokens that are `marked` are labels, no words."""

    inputs: tuple[str, ...] = argument("INPUT...", role="read")
    words: VocabConfig = field(default_factory=VocabConfig)
    vocab: str | None = vocab_option()
    memory: int | None = option(
        None,
        "Keep the encoded text and matrices on disk if larger than this.",
        low=1,
        metavar="SIZE",
        group="Run",
        common=True,
    )
    reading: ReadingConfig = field(default_factory=ReadingConfig)
    marked: Marked | None = internal()

    @property
    def word_options(self) -> dict[str, Any]:
        """The options that say what is a word of the text, as a state keeps them."""
        recipe = self.reading.tokenize
        return {**asdict(self.words), **({"tokenize": recipe} if recipe is not None else {})}

    def vocabulary(self) -> "Vocab | None":
        """The vocabulary of the file `vocab`, if there is one. Raises BadFile, WvError."""
        from wv_cli.text.vocab import read_vocab

        return read_vocab(self.vocab) if self.vocab else None

    def texts(
        self,
        log: Log,
        *others: str,
        written: list[str] | None = None,
        advise: bool = False,
        labels: "LabelFields | None" = None,
    ) -> "Texts":
        """The texts `inputs`, or `others` instead. Folders leave out the files that are `written`. To `advise` is to
        tell of raw text. Records have the `labels`."""
        from wv_cli.vectors.recognize import input_texts

        inputs, reading = others or self.inputs, self.reading
        return input_texts(inputs, log=log, written=written or (), reading=reading, advise=advise, labels=labels)

    def matrices(self, beside: str | None, log: Log) -> "MatrixAllocator":
        """Where the matrices of the run are."""
        from wv_cli.io.matrices import MatrixAllocator

        return MatrixAllocator(self.memory, beside, log)


@frozen
class LabeledReading(Reading):
    """Input text with labels: those in its lines, or the values of the fields `label_field` of records."""

    label_field: tuple[str, ...] = label_field_option()

    def check(self) -> None:
        super().check()
        require_label_fields(self.label_field, self.reading)

    def labels(self, prefix: str) -> "LabelFields | None":
        """The labels of records, which begin with `prefix`; None: they stand in the lines."""
        if not self.label_field:
            return None
        from wv_cli.text.records.labels import LabelFields

        return LabelFields(self.label_field, prefix, named=len(self.label_field) > 1)


@frozen
class SavedVocabulary(Part):
    """`save_vocab` gets the words and their counts before the training."""

    group: ClassVar[str] = "Output"

    save_vocab: str | None = option(
        None, "Also save the vocabulary as `word count` lines before training.", role="write", common=True
    )
