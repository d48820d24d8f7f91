"""One run of `wv quantize`: a model file in, a much smaller one out, and what that cost."""

import time
from dataclasses import asdict, dataclass, replace

from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError
from wv_cli.evaluation.model_score import measure, score
from wv_cli.formats.fasttext_bin import load_model, save_model
from wv_cli.formats.recognise import texts
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.retrain import retrainer
from wv_cli.jobs.session import Observe, Reading, Session
from wv_cli.system.events import Log
from wv_cli.text.input_files import expand_inputs
from wv_cli.transforms.config import QuantizeConfig
from wv_cli.transforms.quantize import cutoff_for_size, dense_bytes, quantize, quantized_bytes, require_dense


@dataclass(frozen=True, kw_only=True)
class QuantizeSession(Session):
    """`size` in bytes chooses the cut-off. `inputs` are the labelled texts for retraining; `validation` is a file to
    score the model on before and after: labelled lines for a classifier, pairs of words with scores for word vectors.
    """

    config: QuantizeConfig
    model: str
    output: str
    size: int | None = None
    inputs: tuple[str, ...] = ()
    validation: str | None = None
    force_text: bool = False

    def checked_config(self) -> QuantizeConfig:
        if self.size and self.config.cutoff:
            raise UsageError("--size and --cutoff cannot be used together: one follows from the other")
        if self.config.retrain != bool(self.inputs):
            message = "--retrain and --input FILE need each other: the rows that are left are trained on that text"
            raise UsageError(message)
        return replace(self.config, cutoff=self.config.cutoff or self.size or 0)

    def read(self) -> list[str]:
        return [self.model, *self.inputs, *([self.validation] if self.validation else [])]

    def results(self) -> list[str]:
        return [self.output]

    def work(self, say: Log, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: quantises and tells what that cost."""
        begin, config, scores = time.monotonic(), self.config, Facts()
        dense = load_model(self.model)
        require_dense(dense, self.model)
        if config.retrain and not dense.is_classifier:
            raise UsageError(f"--retrain is for classifiers; {self.model} holds word vectors")
        asked = texts(self.inputs, note=say, written=self.written(), force=self.force_text)
        for inputs in (self.inputs, (self.validation,) if self.validation else ()):
            if inputs:
                expand_inputs(replace(asked, inputs=inputs))
        old = score(dense, self.validation) if self.validation else None
        if self.size:
            config = replace(config, cutoff=cutoff_for_size(dense, self.size, config))
        small = quantize(dense, config, retrainer(asked, config, observe) if config.retrain else None)
        rows_before, rows, before, after = (
            dense.input.shape[0], small.input.shape[0], dense_bytes(dense), quantized_bytes(small)
        )  # fmt: skip
        new = score(small, self.validation) if self.validation else None
        save_model(self.output, small)
        say(f"{rows_before:,} rows -> {rows:,}", rows_before=rows_before, rows=rows)
        say(f"{before:,} bytes -> {after:,}: {before / after:.1f} times smaller", bytes_before=before, bytes=after)
        if old is not None and new is not None:
            scores = {"measure": measure(dense), "score_before": old, "score_after": new}
            change = f"{scores['measure']} {old:.4f} -> {new:.4f} ({100 * (new - old):+.2f} points)"
            say(f"{change} on {self.validation}", **scores)
        facts: Facts = {
            "config": asdict(config),
            "rows_before": rows_before,
            "rows": rows,
            "bytes_before": before,
            "bytes": after,
            **scores,
            "seconds": round(time.monotonic() - begin, 3),
        }
        self.finish(self.results(), facts)
        return None, facts
