"""`wv quantize`: compresses a model file and reports the loss in score."""

import time
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part, SidecarOption
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, require
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError, WvError
from wv_cli.io import meta
from wv_cli.io.events import Log
from wv_cli.text.reading_config import AskedConfig, label_field_option, require_label_fields
from wv_cli.transforms.config import POOLED_CUTOFF, QuantizeConfig

if TYPE_CHECKING:
    from wv_cli.models.pooled_model import PooledModel
    from wv_cli.models.text_classifier import TextClassifier
    from wv_cli.text.inputs import Texts
    from wv_cli.vectors.fasttext import FastTextModel


# How labeled texts are read.
_READING = ("label_field", "field", "no_header", "tsv_quotes", "bad_records", "force_text", "tokenize")


@frozen
class Models(Part):
    """The files of the large model and of the small one."""

    model: str = argument("MODEL", role="read")
    output: str = option(
        help="Output file, NAME.ftz, or - for standard output.", short="o", role="result", group="Output"
    )
    size: int | None = option(None, "Choose --cutoff so that FILE is at most this large (2M).", metavar="SIZE", low=1)


@frozen
class LabeledTexts(Part):
    """The labeled texts for retraining and for scores: labeled lines for a classifier, pairs of words with scores for
    word vectors."""

    group: ClassVar[str] = "Input"

    inputs: tuple[str, ...] = option((), "Labeled text for --retrain; repeat for more.", role="read", flag="input")
    validation: str | None = option(
        None, "Report the score before and after on labeled lines or word pairs.", role="read"
    )
    label_field: tuple[str, ...] = label_field_option()
    reading: AskedConfig = field(default_factory=AskedConfig)

    def check(self) -> None:
        require_label_fields(self.label_field, self.reading)


@frozen
class QuantizeJob(Job):
    """Quantize MODEL, a .bin of fastText or wv train: drop rows (--cutoff or --size) and store the others in bytes.

    A classifier of `wv train --model pooled` becomes a file of its own kind. Only n-grams are dropped there, those of
    least norm times idf.

    FILE is a .ftz that fastText reads. Retraining helps with a large text and overfits on a small one, so compare
    with --validation. A model of word vectors keeps the vectors of all its words up to --cutoff. The other rows are
    n-grams, which compose the vectors of unknown words.
    """

    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(_READING, "validation or retrain")

    invocation: SidecarOption = field(default_factory=SidecarOption)
    config: QuantizeConfig
    models: Models
    texts: LabeledTexts = field(default_factory=LabeledTexts)

    def check(self) -> None:
        config, size = self.config, self.models.size
        require(not (size and config.cutoff), "--size and --cutoff cannot be used together: --size chooses the cutoff")
        require(not config.retrain or bool(self.texts.inputs), "--retrain needs --input FILE, the text to train on")
        require(config.retrain or not self.texts.inputs, "--input needs --retrain")
        message = "--retrain needs --cutoff: it trains the rows that are kept"
        require(not config.retrain or bool(config.cutoff or size), message)

    def reads_again(self) -> list[str]:
        return self.texts.reads()

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Quantizes the model and reports its scores before and after."""
        from wv_cli.io.input import open_input
        from wv_cli.models.pooled_files import read_pooled
        from wv_cli.models.text_classifier import is_pooled
        from wv_cli.vectors.formats.fasttext_bin import read_model

        begin, name = time.monotonic(), self.models.model
        with open_input(name) as source:
            if is_pooled(source):
                metadata = self._quantize_pooled(run, read_pooled(source))
            else:
                metadata = self._quantize_fasttext(run, read_model(source))
        metadata["seconds"] = round(time.monotonic() - begin, 3)
        if (recipe := meta.tokenization(name)) is not None:
            metadata["tokenize"] = recipe
        if (prefix := meta.label_prefix(name)) is not None:
            metadata["label_prefix"] = prefix
        if (phrases := meta.read(name).get("phrases")) is not None:
            metadata["phrases"] = phrases
        self.finish(run, self.results(), metadata)
        return None, {"output": self.models.output, **metadata}

    def _quantize_fasttext(self, run: Run, dense: "FastTextModel") -> Metadata:
        """Drops rows, retrains the others if asked to, and stores them in bytes."""
        from wv_cli.commands.retrain import retrainer
        from wv_cli.evaluation.model_score import correlation, precision_at_1
        from wv_cli.models.classifier import Classifier, prefix_of
        from wv_cli.transforms.quantize import cutoff_for_size, dense_bytes, quantize, quantized_bytes, require_dense
        from wv_cli.vectors.formats.fasttext_bin import save_model

        config, name, size, path = self.config, self.models.model, self.models.size, self.texts.validation
        require_dense(dense, name)
        inputs = lines = None
        if dense.is_classifier:
            inputs, lines = self._labeled_texts(run, Classifier(dense, name, label_prefix=prefix_of(name)))
        else:
            self._require_pairs(run)

        def score(model: "FastTextModel", lines: "Texts | None") -> float | None:
            if lines is not None:
                return precision_at_1(Classifier(model, name), lines)
            return correlation(model, path) if path is not None else None

        old = score(dense, lines)
        if size:
            config = replace(config, cutoff=cutoff_for_size(dense, size, config))
        small = quantize(dense, config, retrainer(inputs, config, run.on_progress) if inputs is not None else None)
        new = score(small, lines.quiet() if lines is not None else None)
        save_model(self.models.output, small)
        before = Measured(dense.input.shape[0], dense_bytes(dense), old)
        after = Measured(small.input.shape[0], quantized_bytes(small), new)
        measure = "P@1" if dense.is_classifier else "Spearman"
        return {"config": asdict(config), **compare(run.log, before, after, "rows", measure, path)}

    def _quantize_pooled(self, run: Run, model: "PooledModel") -> Metadata:
        """Drops n-grams, and stores the other rows in bytes. Raises UsageError for an option of other models."""
        from wv_cli.evaluation.model_score import precision_at_1
        from wv_cli.io.output import open_output
        from wv_cli.models.pooled_classifier import PooledClassifier
        from wv_cli.models.pooled_files import dump_pooled, parse_pooled
        from wv_cli.transforms.quantize_pooled import quantize_pooled

        name, allowed = self.models.model, ("model", "output", "cutoff", "size", "validation", *_READING)
        for option_name in self.invocation.explicit:
            if option_name not in (*allowed, "meta", "quiet", "as_json"):
                problem = f"has no effect with {name}, a pooled classifier, whose rows become bytes; leave it out"
                raise UsageError(f"{flag_of(option_name)} {problem}")
        if model.from_bytes:
            raise WvError(f"{name} is quantized already; start from the model it was made of")
        dense = PooledClassifier(model, name)
        _, lines = self._labeled_texts(run, dense)
        old = precision_at_1(dense, lines) if lines is not None else None
        cutoff = self.config.cutoff if "cutoff" in self.invocation.explicit else POOLED_CUTOFF
        file = quantize_pooled(model, cutoff, self.models.size)
        small = PooledClassifier(parse_pooled(file, name), name)
        new = precision_at_1(small, lines.quiet()) if lines is not None else None
        with open_output(self.models.output) as stream:
            stream.write(file)
        before = Measured(len(model.ngrams.rows), len(dump_pooled(model)), old)
        after = Measured(len(small.model.ngrams.rows), len(file), new)
        return compare(run.log, before, after, "words and n-grams", "P@1", self.texts.validation)

    def _labeled_texts(self, run: Run, classifier: "TextClassifier") -> "tuple[Texts | None, Texts | None]":
        """(the texts to retrain on, those to score), None where they are not asked for."""
        from wv_cli.evaluation.labeled_texts import labeled_texts
        from wv_cli.text.input_files import expand_inputs, shared_file
        from wv_cli.text.tokenizing import recipe_for

        texts, found = self.texts, list["Texts | None"]()
        if not texts.reads():
            return None, None
        reading = replace(texts.reading, tokenize=recipe_for([classifier.name], texts.reading.tokenize, run.log))
        for paths in (texts.inputs, (texts.validation,) if texts.validation else ()):
            each = labeled_texts(paths, classifier, texts.label_field, reading, run.log)
            found.append(replace(each, written=self.writes()) if paths else None)
            if paths:
                expand_inputs(each)
        inputs, lines = found
        if inputs is not None and lines is not None and (same := shared_file(inputs.inputs, lines.inputs)) is not None:
            problem = "is among --input, and retraining learns it by heart"
            run.log(f"--validation: {same} {problem}; give other lines")
        return inputs, lines

    def _require_pairs(self, run: Run) -> None:
        """Raises UsageError for an option about labeled texts, which word vectors have no use for."""
        from wv_cli.text.input_files import expand_inputs
        from wv_cli.vectors.recognize import input_texts

        name, path = self.models.model, self.texts.validation
        if self.config.retrain:
            raise UsageError(f"{name}: --retrain needs a classifier, found word vectors; leave it out")
        for option_name in self.invocation.explicit:
            if option_name in _READING and option_name != "force_text":
                problem = f"has no effect with {name}, word vectors, which are scored on pairs of words; leave it out"
                raise UsageError(f"{flag_of(option_name)} {problem}")
        if path is not None:
            expand_inputs(input_texts([path], log=run.log, reading=self.texts.reading))


class Measured(NamedTuple):
    """A model's size and its score, None where it was not asked for."""

    rows: int
    bytes: int
    score: float | None


def compare(log: Log, before: Measured, after: Measured, unit: str, measure: str, path: str | None) -> Metadata:
    """Says what a model has lost, and returns it. `unit` is what its rows are called, `measure` its score on `path`."""
    log(f"{before.rows:,} {unit} -> {after.rows:,}", rows_before=before.rows, rows=after.rows)
    sizes = {"bytes_before": before.bytes, "bytes": after.bytes}
    if after.bytes < before.bytes:
        change = f"{before.bytes / after.bytes:.1f} times smaller"
    else:
        change = f"{after.bytes / before.bytes:.1f} times larger; keep the model: tables of centers outweigh its rows"
    log(f"{before.bytes:,} bytes -> {after.bytes:,}: {change}", **sizes)
    scores: Metadata = {}
    if before.score is not None and after.score is not None:
        scores = {"measure": measure, "score_before": before.score, "score_after": after.score}
        gain = f"{100 * (after.score - before.score):+.2f} points"
        log(f"{measure} {before.score:.4f} -> {after.score:.4f} ({gain}) on {path}", **scores)
    return {"rows_before": before.rows, "rows": after.rows, **sizes, **scores}
