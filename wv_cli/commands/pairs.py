"""`wv train` of a static embedding on pairs of texts: records in, a folder of token vectors out."""

import re
import time
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from wv_cli.commands.job import TrainingJob, Writer
from wv_cli.commands.part import Part
from wv_cli.commands.parts.first_vectors import bad_first_rows_option, init_option
from wv_cli.commands.parts.outputs import outputs_option
from wv_cli.commands.parts.reading import vocab_option
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.parts.validation import Validation
from wv_cli.commands.parts.vectors import files_beside, folder_name, names_folder, static_file
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option
from wv_cli.config.wording import flag_of
from wv_cli.errors import BadFile, UsageError, WvError
from wv_cli.io.folders import find_folder
from wv_cli.io.places import refuse_file
from wv_cli.models.sentence_config import PairsConfig
from wv_cli.models.training.run import Outcome
from wv_cli.text.config import VocabConfig
from wv_cli.text.records.kinds import RECORDS, record_kind
from wv_cli.vectors.file_options import BadRowsName

if TYPE_CHECKING:
    from wv_cli.commands.pair_tables import PairItems, ScoredItems, Vocabulary
    from wv_cli.evaluation.sts_data import SentencePairs
    from wv_cli.models.training.saved_run import Savable
    from wv_cli.text.pairs import PairFiles


@frozen
class PairReading(Part):
    """The input of pairs. `fields`, with commas between them, name the anchor, its positive, and hard negatives."""

    inputs: tuple[str, ...] = argument("INPUT...", role="read")
    fields: str | None = option(
        None,
        "pairs: fields of anchor, positive and hard negatives, with commas.",
        metavar="NAMES",
        shown="anchor,positive",
        group="Input",
    )
    no_header: bool = option(False)
    tsv_quotes: bool = option(False)

    def check(self) -> None:
        from wv_cli.text.pairs import FIELDS

        if self.fields is not None and (len(self.names) < len(FIELDS) or not all(self.names)):
            message = (
                f"--fields takes an anchor, a positive and hard negatives, such as question,answer, not {self.fields!r}"
            )
            raise UsageError(message)

    @property
    def names(self) -> list[str]:
        return [name.strip() for name in self.fields.split(",")] if self.fields is not None else []

    def files(self, *others: str) -> "PairFiles":
        """The inputs, or `others` of the same layout."""
        from wv_cli.text.pairs import PairFiles

        return PairFiles(others or self.inputs, self.names, self.no_header, self.tsv_quotes)

    def scored_pairs(self, path: str) -> "SentencePairs | None":
        """The pairs of a file with a score in each line, such as the STS benchmark's; None for pairs without. Raises
        BadFile for a line without a score among others, and where all scores are equal."""
        import numpy as np

        from wv_cli.evaluation.sts_data import SCORE_NAMES, read_sentence_pairs
        from wv_cli.text.pairs import FIELDS

        kind = record_kind(path)
        if path == "-" or (kind is not None and RECORDS[kind].table):
            return None
        try:
            found = read_sentence_pairs(path)
        except WvError:
            return None
        head = {cell.strip().lower() for cell in re.split("[\t,]", found.head)}
        is_named = not self.no_header and head >= {name.lower() for name in self.names or FIELDS}
        if found.malformed.count > len(found.texts) or (is_named and not head & SCORE_NAMES):
            return None
        if found.malformed.first is not None:
            raise found.malformed.first
        if np.ptp(found.gold) == 0:
            raise BadFile(path, "expected scores that differ, found all of them equal; give pairs in two columns")
        return found


@frozen
class PairTable(Part):
    """The tokens: pieces of the `tokenizer`, or whole words, those of `vocab` or of the pairs as the others say. `init`
    are the rows that the table begins with, vectors of words or a static embedding with its tokenizer."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("vocab", "min_count", "max_vocab", "lowercase"), "not tokenizer"),
    }

    tokenizer: str | None = option(
        None,
        "pairs: take pieces of this tokenizer.json or unigram sentencepiece model instead of words.",
        role="read",
        group="Vocabulary",
    )
    init: str | None = init_option()
    bad_rows: BadRowsName = bad_first_rows_option(only="init")
    vocab: str | None = vocab_option()
    min_count: int = option(5)  # these three as in VocabConfig
    max_vocab: int = option(0)
    lowercase: bool = option(False)

    def check(self) -> None:
        self.words.validate()
        if self.is_model and self.tokenizer:
            raise UsageError(f"--init {self.init} has a tokenizer of its own; leave --tokenizer out")

    @property
    def words(self) -> VocabConfig:
        return VocabConfig(min_count=self.min_count, max_vocab=self.max_vocab, lowercase=self.lowercase)

    @property
    def is_model(self) -> bool:
        """Whether it begins with a static embedding."""
        return self.init is not None and find_folder(self.init).is_dir()

    def begins_with(self) -> list[str]:
        return [self.init] if self.init else []


@frozen
class StaticOutputs(Part):
    """Folders, or files of the tokens' vectors where the ending says so."""

    outputs: tuple[str, ...] = outputs_option("Output file, whose ending chooses the format; may be given twice.")

    def check(self) -> None:
        for path, name in self.names():
            if names_folder(path):
                refuse_file(name)

    def results(self) -> list[str]:
        return [static_file(name) if names_folder(path) else path for path, name in self.names()]

    def also_writes(self, beside: str | None) -> list[str]:
        return [file for path, name in self.names() if names_folder(path) for file in files_beside(name)]

    def names(self) -> list[tuple[str, str]]:
        """(output, its name without the mark of a folder)."""
        return [(path, folder_name(path) if names_folder(path) else path) for path in self.outputs]


@frozen
class PairsJob(TrainingJob):
    """Training of a static embedding on pairs of texts."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {"validation": "epochs>0"}

    config: PairsConfig
    reading: PairReading
    table: PairTable = field(default_factory=PairTable)
    outputs: StaticOutputs
    validation: Validation = field(default_factory=Validation)
    resume: Resume = field(default_factory=Resume)

    def names(self) -> list[str]:
        return [name for _, name in self.outputs.names()]

    def check(self) -> None:
        from wv_cli.vectors import formats

        for name in ("vocab", "min_count", "max_vocab", "lowercase", "bad_rows"):
            if self.table.is_model and name in self.invocation.explicit:
                problem = f"has no effect with --init {self.table.init}, whose tokens are used; leave it out"
                raise UsageError(f"{flag_of(name)} {problem}")
        for path in self.outputs.outputs:
            if not names_folder(path):
                try:
                    formats.format_for_output(path, None)
                except UsageError as error:
                    message = f"{error}; {path}/ is a folder's name"
                    raise UsageError(message) from error

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: reads the pairs, trains, saves."""
        from wv_cli.commands.metadata import run_metadata
        from wv_cli.commands.pair_tables import open_vocabulary
        from wv_cli.commands.validation import Validated
        from wv_cli.models.pairs import PairModel
        from wv_cli.text.pairs import FIELDS
        from wv_cli.text.vocab import read_vocab
        from wv_cli.vectors import formats
        from wv_cli.vectors.embeddings import Embeddings
        from wv_cli.vectors.formats import static_folder

        begin, config, reading, table = time.monotonic(), self.config, self.reading, self.table
        known = read_vocab(table.vocab) if table.vocab else None
        vocabulary, dim = open_vocabulary(table.tokenizer, table.init, table.words, known)
        if dim is not None and "dim" not in self.invocation.explicit:
            config = replace(config, dim=dim)
            config.validate()
        corpus = vocabulary.corpus(reading.files(), config.max_length, run.on_reading)
        words = vocabulary.words()
        for path in self.outputs.outputs:
            (static_folder if names_folder(path) else formats).require_words(path, words)
        facts = {"pairs": len(corpus), "tokens": len(corpus.ids), "table_rows": corpus.rows}
        run.log(
            f"{len(corpus):,} pairs, {len(corpus.ids):,} tokens of {corpus.rows:,} "
            f"({time.monotonic() - begin:.1f} s to read)",
            hard_negatives=corpus.columns - len(FIELDS),
            **facts,
        )
        items = self._items(vocabulary, config, run)
        self.require_disk_space(PairModel.bytes_needed(config, corpus.rows))
        model = PairModel(config, corpus, vocabulary.first_rows(config.dim, table.bad_rows))
        validated = Validated(model, items, self.validation.patience or 0, run.log) if items is not None else None
        trained: Savable[Any] = validated or model
        outcome = run.train(
            trained,
            threads=1,
            advice=f"lower --lr (now {config.lr:g})",
            after_epoch=validated.after_epoch if validated else None,
        )
        text = {"digest": corpus.digest, **facts}
        metadata = run_metadata(asdict(config), table.words, text, outcome, begin=begin)
        if outcome.is_finished:
            if validated is not None:
                metadata["validation"] = validated.keep_best()
            matrix = model.matrix()
            folder = partial(vocabulary.save, matrix=matrix, max_length=config.max_length)
            file = partial(formats.save, embeddings=Embeddings(words, matrix))
            named = [(name, names_folder(path)) for path, name in self.outputs.names()]
            named.sort(key=lambda each: not each[1])  # a folder's row of unknown words is zero, in the files, too
            writers: list[Writer] = [(name, folder if is_folder else file) for name, is_folder in named]
            self.finish(run, self.names(), metadata, writers)
        return outcome, metadata

    def _items(self, vocabulary: "Vocabulary", config: PairsConfig, run: Run) -> "PairItems | ScoredItems | None":
        from wv_cli.commands.pair_tables import GivenPairs, PairItems, ScoredItems
        from wv_cli.text.input_files import shared_file
        from wv_cli.words import encode

        path = self.validation.validation
        if path is None:
            return None
        if (same := shared_file(self.reading.inputs, [path])) is not None:
            problem = "is among INPUT, so the epoch that has learnt it by heart is kept"
            run.log(f"--validation: {same} {problem}; give other pairs")
        scored = self.reading.scored_pairs(path)
        if scored is not None:
            given = GivenPairs((path,), texts=[(encode(one), encode(two)) for one, two in scored.texts])
            return ScoredItems(path, vocabulary.corpus(given, config.max_length, None), scored.gold)
        corpus = vocabulary.corpus(self.reading.files(path), config.max_length, None)
        if len(corpus) < 2:
            message = f"{path}: expected several pairs to choose the epoch by, found {len(corpus)}"
            raise WvError(message)
        return PairItems(path, corpus)
