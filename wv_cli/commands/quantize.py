"""`wv quantize`: compresses a model file and reports the loss in score."""

import time
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part, SidecarOption
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, require
from wv_cli.config.wording import flag_of
from wv_cli.errors import UsageError
from wv_cli.io import meta
from wv_cli.text.input_files import expand_inputs
from wv_cli.text.reading_config import RawConfig, ReadingConfig
from wv_cli.transforms.config import POOLED_CUTOFF, QuantizeConfig

if TYPE_CHECKING:
    from wv_cli.models.pooled_model import PooledModel


@frozen
class Models(Part):
    """The files of the large model and of the small one."""

    model: str = argument("MODEL")
    output: str = option(
        help="Output file, NAME.ftz, or - for standard output.", short="o", metavar="FILE", group="Output"
    )
    size: int | None = option(None, "Choose --cutoff so that FILE is at most this large (2M).", metavar="SIZE", low=1)

    def reads(self) -> list[str]:
        return [self.model]

    def results(self) -> list[str]:
        return [self.output]


@frozen
class LabeledTexts(Part):
    """The labeled texts for retraining and for scores: labeled lines for a classifier, pairs of words with scores for
    word vectors."""

    group: ClassVar[str] = "Input"

    inputs: tuple[str, ...] = option((), "Labeled text for --retrain; repeat for more.", metavar="FILE", flag="input")
    validation: str | None = option(
        None, "Report the score before and after on labeled lines or word pairs.", metavar="FILE"
    )
    reading: RawConfig = field(default_factory=RawConfig)

    def reads(self) -> list[str]:
        return [*self.inputs, *([self.validation] if self.validation else [])]


@frozen
class QuantizeJob(Job):
    """Quantize MODEL, a .bin of fastText or wv train: drop rows (--cutoff or --size) and store the others in bytes.

    A classifier of `wv train --model pooled` becomes a file of its own kind. Only n-grams are dropped there, those of
    least norm times idf.

    FILE is a .ftz that fastText reads. Retraining helps with a large text and overfits on a small one, so compare
    with --validation. A model of word vectors keeps the vectors of all its words up to --cutoff. The other rows are
    n-grams, which compose the vectors of unknown words.
    """

    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(("field", "no_header", "tsv_quotes"), "retrain")

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
        from wv_cli.commands.retrain import retrainer
        from wv_cli.evaluation.model_score import metric_name, score
        from wv_cli.io.input import open_input
        from wv_cli.models.pooled_files import read_pooled
        from wv_cli.models.text_classifier import is_pooled
        from wv_cli.transforms.quantize import cutoff_for_size, dense_bytes, quantize, quantized_bytes, require_dense
        from wv_cli.vectors.formats.fasttext_bin import read_model, save_model
        from wv_cli.vectors.recognize import input_texts

        with open_input(self.models.model) as source:
            if is_pooled(source):
                return None, self._quantize_pooled(run, read_pooled(source))
            dense = read_model(source)
        begin, config, scores = time.monotonic(), self.config, Metadata()
        models, validation = self.models, self.texts.validation
        require_dense(dense, models.model)
        if config.retrain and not dense.is_classifier:
            raise UsageError(f"{models.model}: --retrain needs a classifier, found word vectors; leave it out")
        reading = ReadingConfig(**vars(self.texts.reading))
        asked = input_texts(self.texts.inputs, log=run.log, written=self.writes(), reading=reading)
        for inputs in (self.texts.inputs, (validation,) if validation else ()):
            if inputs:
                expand_inputs(replace(asked, inputs=inputs))
        old = score(dense, validation) if validation else None
        if models.size:
            config = replace(config, cutoff=cutoff_for_size(dense, models.size, config))
        small = quantize(dense, config, retrainer(asked, config, run.on_progress) if config.retrain else None)
        rows_before, rows, before, after = (
            dense.input.shape[0], small.input.shape[0], dense_bytes(dense), quantized_bytes(small)
        )  # fmt: skip
        new = score(small, validation) if validation else None
        save_model(models.output, small)
        run.log(f"{rows_before:,} rows -> {rows:,}", rows_before=rows_before, rows=rows)
        run.log(f"{before:,} bytes -> {after:,}: {before / after:.1f} times smaller", bytes_before=before, bytes=after)
        if old is not None and new is not None:
            scores = {"measure": metric_name(dense), "score_before": old, "score_after": new}
            change = f"{scores['measure']} {old:.4f} -> {new:.4f} ({100 * (new - old):+.2f} points)"
            run.log(f"{change} on {validation}", **scores)
        metadata: Metadata = {
            "config": asdict(config),
            "rows_before": rows_before,
            "rows": rows,
            "bytes_before": before,
            "bytes": after,
            **scores,
            "seconds": round(time.monotonic() - begin, 3),
            **({"tokenize": recipe} if (recipe := meta.tokenization(models.model)) is not None else {}),
        }
        self.finish(run, self.results(), metadata)
        return None, {"output": models.output, **metadata}

    def _quantize_pooled(self, run: Run, model: "PooledModel") -> Metadata:
        """Drops n-grams, and stores the other rows in bytes. Raises UsageError for an option of other models."""
        from wv_cli.evaluation.model_score import precision_at_1
        from wv_cli.io.output import open_output
        from wv_cli.models.pooled_classifier import PooledClassifier
        from wv_cli.models.pooled_files import dump_pooled, parse_pooled
        from wv_cli.transforms.quantize_pooled import quantize_pooled

        begin, name, validation = time.monotonic(), self.models.model, self.texts.validation
        for option_name in self.invocation.explicit:
            if option_name not in ("model", "output", "cutoff", "size", "validation", "meta", "quiet", "as_json"):
                problem = f"has no effect with {name}, a pooled classifier, whose rows become bytes; leave it out"
                raise UsageError(f"{flag_of(option_name)} {problem}")
        cutoff = self.config.cutoff if "cutoff" in self.invocation.explicit else POOLED_CUTOFF
        file = quantize_pooled(model, cutoff, self.models.size)
        small, before = parse_pooled(file, name), len(dump_pooled(model))
        rows_before, rows = len(model.ngrams.rows), len(small.ngrams.rows)
        run.log(f"{rows_before:,} words and n-grams -> {rows:,}", rows_before=rows_before, rows=rows)
        run.log(
            f"{before:,} bytes -> {len(file):,}: {before / len(file):.1f} times smaller",
            bytes_before=before,
            bytes=len(file),
        )
        metadata: Metadata = {"rows_before": rows_before, "rows": rows, "bytes_before": before, "bytes": len(file)}
        if validation:
            made = (PooledClassifier(each, name) for each in (model, small))
            old, new = (precision_at_1(each, validation) for each in made)
            scores: Metadata = {"measure": "P@1", "score_before": old, "score_after": new}
            run.log(f"P@1 {old:.4f} -> {new:.4f} ({100 * (new - old):+.2f} points) on {validation}", **scores)
            metadata |= scores
        with open_output(self.models.output) as stream:
            stream.write(file)
        metadata["seconds"] = round(time.monotonic() - begin, 3)
        if (recipe := meta.tokenization(name)) is not None:
            metadata["tokenize"] = recipe
        self.finish(run, self.results(), metadata)
        return {"output": self.models.output, **metadata}
