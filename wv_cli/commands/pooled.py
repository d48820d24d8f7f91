"""`wv train --model pooled`: labeled lines in, a text classifier of pooled vectors and n-grams out."""

import time
from collections.abc import Iterator
from dataclasses import asdict, field, replace
from functools import partial
from typing import TYPE_CHECKING

from wv_cli.commands.job import TrainingJob
from wv_cli.commands.part import Part
from wv_cli.commands.parts.first_vectors import bad_first_rows_option, init_option
from wv_cli.commands.parts.outputs import Outputs
from wv_cli.commands.parts.reading import LabeledReading
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen, option
from wv_cli.errors import UsageError
from wv_cli.io.folders import find_folder
from wv_cli.models.config import require_uncut_labels
from wv_cli.models.sentence_config import PooledConfig
from wv_cli.vectors.file_options import BadRowsName

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wv_cli.models.pooled_reader import Reading as LineReading
    from wv_cli.models.training.run import Outcome
    from wv_cli.text.inputs import Texts
    from wv_cli.text.labeled import LabeledCorpus
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.formats.static import StaticModel
    from wv_cli.words import WordList

_BLOCK = 1 << 16  # ids whose lines are read at once


@frozen
class FirstTokens(Part):
    """The tokens begin with the rows of `init`: vectors of words, or a static embedding with its tokenizer."""

    init: str | None = init_option()
    bad_rows: BadRowsName = bad_first_rows_option(only="init")

    def begins_with(self) -> list[str]:
        return self.reads()

    @property
    def is_model(self) -> bool:
        """Whether it is a static embedding."""
        return self.init is not None and find_folder(self.init).is_dir()


@frozen
class Calibration(Part):
    """The lines that probabilities are calibrated on."""

    calibration: str | None = option(
        None,
        "pooled: labeled lines, none of INPUT's, to calibrate probabilities on.",
        role="read",
        group="Classifier",
    )


@frozen
class PooledJob(TrainingJob):
    """Training of a pooled classifier. Outputs may have any name."""

    config: PooledConfig
    reading: LabeledReading
    outputs: Outputs
    first: FirstTokens = field(default_factory=FirstTokens)
    calibration: Calibration = field(default_factory=Calibration)
    resume: Resume = field(default_factory=Resume)

    def check(self) -> None:
        require_uncut_labels(self.config.label_prefix, self.reading.reading.tokenize_config is not None)
        if self.reading.vocab:
            message = "--vocab has no effect with --model pooled, which counts words and labels itself; leave it out"
            raise UsageError(message)
        if self.first.is_model and "bad_rows" in self.invocation.explicit:
            raise UsageError(
                f"--bad-rows has no effect with --init {self.first.init}, a static embedding; leave it out"
            )

        if (path := self.calibration.calibration) is not None:
            from wv_cli.text.input_files import shared_file

            if (same := shared_file(self.reading.inputs, [path])) is not None:
                problem = "is among INPUT, and the model is too sure of lines that it has learnt"
                raise UsageError(f"--calibration: {same} {problem}; give other lines")

    def work(self, run: Run) -> "tuple[Outcome | None, Metadata]":
        """See Job.work: reads the lines, trains, calibrates, saves."""
        from wv_cli.commands.metadata import number_of, run_metadata
        from wv_cli.models.pooled import Pooled
        from wv_cli.models.pooled_calibration import fit_temperatures, read_held_out
        from wv_cli.models.pooled_files import save_pooled
        from wv_cli.models.pooled_reader import read_features
        from wv_cli.text.labeled import encode_labeled

        begin, words = time.monotonic(), self.reading.words
        init, config = self._open_init()
        corpus = encode_labeled(
            self._texts(run, advise=not run.is_resuming),
            words,
            label_prefix=config.label_prefix,
            min_count_label=config.min_count_label,
            keep_dropped=True,
            progress=run.on_reading,
        )
        if rare := corpus.describe_rare_labels():
            run.log(rare)
        reading, first = self._tokens(corpus, init)
        reading, lines = read_features(reading, [*text_of(corpus)], self.reading.inputs[0])
        labeled = lines.take((lines.label_starts[1:] > lines.label_starts[:-1]).nonzero()[0])
        held_out, path = None, self.calibration.calibration
        if path is not None:
            held_out = read_held_out(reading, self._calibration_text(run, path), path)
        facts = {"lines": corpus.lines, "words": len(reading.words), "labels": len(corpus.labels)}
        facts |= {
            "tokens": len(lines.ids),
            "table_rows": reading.tokens,
            "features": len(reading.words) + _count(reading),
        }
        of = f" of {len(reading.questions)} questions" if reading.questions else ""
        run.log(
            f"{number_of(corpus.lines, 'line')}, {number_of(len(labeled), 'line')} of them with a label; "
            f"{number_of(len(corpus.labels), 'label')}{of}, {reading.tokens:,} tokens of dim {config.dim}, "
            f"{facts['features']:,} features ({time.monotonic() - begin:.1f} s to read)",
            examples=len(labeled),
            **facts,
        )
        model = Pooled(config, reading, labeled, first)
        self.require_disk_space(model.nbytes)
        outcome = run.train(model, threads=config.threads, advice=f"lower --lr (now {config.lr:g})")
        text = {"digest": corpus.digest, "tokens_read": corpus.tokens_read, **facts}
        metadata = run_metadata(asdict(config), words, text, outcome, begin=begin)
        if outcome.is_finished:
            made = model.model()
            if held_out is not None:
                made = replace(made, temperatures=fit_temperatures(made, held_out))
                for name, each in zip(self.reading.label_field or ("",), made.temperatures, strict=False):
                    of = f" of {name}" if reading.questions else ""
                    run.log(f"temperature{of} {each:.3f}: scores are divided by it", temperature=each)
                metadata["temperature"] = made.temperatures if reading.questions else made.temperatures[0]
            save = partial(save_pooled, model=made)
            self.finish(run, self.results(), metadata, [(path, save) for path in self.outputs.outputs])
        return outcome, metadata

    def _texts(self, run: Run, *others: str, advise: bool = False) -> "Texts":
        labels = self.reading.labels(self.config.label_prefix)
        return self.reading.texts(run.log, *others, written=self.writes(), advise=advise, labels=labels)

    def _calibration_text(self, run: Run, path: str) -> bytes:
        from wv_cli.text.source import Source

        return b"".join(bytes(chunk) for chunk in Source(self._texts(run, path)))

    def _open_init(self) -> "tuple[StaticModel | Embeddings | None, PooledConfig]":
        """(what the tokens begin with, the configuration with its dimension). Raises BadFile, and UsageError for
        another --dim."""
        from wv_cli.io.folders import static_root
        from wv_cli.vectors import formats
        from wv_cli.vectors.formats.static import StaticModel

        init = self.first.init
        if init is None:
            return None, self.config
        opened: StaticModel | Embeddings
        if self.first.is_model:
            folder = find_folder(init)
            opened = StaticModel.open(static_root(folder) or folder)
            dim = opened.table.matrix.shape[1]
        else:
            opened = formats.load(init, bad_rows=self.first.bad_rows)
            dim = opened.dim
        if "dim" in self.invocation.explicit and dim != self.config.dim:
            message = f"--init {init}: expected vectors of --dim {self.config.dim}, found {dim}; leave --dim out"
            raise UsageError(message)
        return opened, replace(self.config, dim=dim)

    def _tokens(
        self, corpus: "LabeledCorpus", init: "StaticModel | Embeddings | None"
    ) -> "tuple[LineReading, NDArray[np.float32] | None]":
        """(how lines are read, the rows that the tokens begin with)."""
        import numpy as np

        from wv_cli.models.pooled_reader import Reading as LineReading
        from wv_cli.models.pooled_reader import divide_labels
        from wv_cli.text.records.labels import head_name
        from wv_cli.text.vocab import SENTENCE_END
        from wv_cli.vectors.formats.static import StaticModel

        config = self.config
        kept = (
            np.delete(np.arange(corpus.kept), corpus.end_of_line) if corpus.end_of_line >= 0 else np.arange(corpus.kept)
        )
        assert corpus.words.find(SENTENCE_END) == corpus.end_of_line
        labels, fields = corpus.labels, self.reading.label_field
        questions: tuple[int, ...] = ()
        if len(fields) > 1:
            names = [*map(head_name, fields)]
            labels, questions = divide_labels(labels, config.label_prefix, names, ", ".join(self.reading.inputs))
        reading = LineReading(
            words=corpus.words.take(kept),
            labels=labels,
            label_prefix=config.label_prefix,
            lowercase=self.reading.words.lowercase,
            word_ngrams=config.word_ngrams,
            minn=config.minn,
            maxn=config.maxn,
            buckets=config.buckets,
            max_length=config.max_length,
            tokenizer=None,
            tokens=len(kept),
            questions=questions,
        )
        if init is None:
            return reading, None
        if isinstance(init, StaticModel):
            table = init.table.whole()
            return replace(reading, tokenizer=init.tokenizer, tokens=len(table)), table
        return reading, self._word_rows(init, reading.words)

    def _word_rows(self, vectors: "Embeddings", words: "WordList") -> "NDArray[np.float32]":
        """The vectors of the words that the file of --init has, zeros for others. Raises BadFile."""
        import numpy as np

        from wv_cli.errors import BadFile

        assert self.first.init is not None
        places = vectors.words.find_all(words)
        if not (places >= 0).any():
            raise BadFile(
                self.first.init, "expected vectors of words of the lines, found none; do they belong together?"
            )
        found = np.zeros((len(words), vectors.dim), np.float32)
        found[places >= 0] = vectors.matrix[places[places >= 0]]
        return found


def text_of(corpus: "LabeledCorpus") -> Iterator[bytes]:
    """The lines of a corpus in blocks, words and labels as they were read, with one blank between them."""
    import numpy as np

    from wv_cli.text.labeled import FIRST_LABEL

    labels = [corpus.labels.bytes_at(label) for label in range(len(corpus.labels))]
    words = [corpus.words.bytes_at(word) for word in range(len(corpus.words))]
    # By id: labels from the last one on, the line end, words.
    names = [*(name + b" " for name in reversed(labels)), b"\n", *(name + b" " for name in words)]
    ends, first = np.flatnonzero(corpus.ids == -1) + 1, len(labels) + 1
    assert FIRST_LABEL == -2
    start = 0
    while start < len(corpus.ids):
        place = np.searchsorted(ends, start + _BLOCK, side="right")
        end = int(ends[max(place - 1, np.searchsorted(ends, start, side="right"))])
        yield b"".join([names[id] for id in (corpus.ids[start:end] + first).tolist()])
        start = end


def _count(reading: "LineReading") -> int:
    return len(reading.kept) if reading.kept is not None else 0
