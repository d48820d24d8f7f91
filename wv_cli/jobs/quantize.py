"""One run of `wv quantize`: a model file in, a much smaller one out, and what that cost."""

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from wv_cli.errors import UsageError
from wv_cli.evaluation.model_score import measure, score
from wv_cli.formats.fasttext_bin import load_model, save_model
from wv_cli.jobs.retrain import retrainer
from wv_cli.system import meta
from wv_cli.system.output import check_writable
from wv_cli.transforms.config import QuantizeConfig
from wv_cli.transforms.quantize import cutoff_for_size, dense_bytes, quantize, quantized_bytes, require_dense


@dataclass(frozen=True, kw_only=True)
class QuantizeSession:
    """`size` in bytes chooses the cut-off. `inputs` are the labelled texts for retraining; `validation` is a file to
    score the model on before and after: labelled lines for a classifier, pairs of words with scores for word vectors.
    """

    model: str
    output: str
    config: QuantizeConfig
    size: int | None = None
    inputs: tuple[str, ...] = ()
    validation: str | None = None
    write_meta: bool = True
    argv: tuple[str, ...] = ()

    def validate(self) -> None:
        """Checks everything that can be checked before reading. Raises UsageError or WvError."""
        if self.size and self.config.cutoff:
            raise UsageError("--size and --cutoff cannot be used together: one follows from the other")
        if self.config.retrain != bool(self.inputs):
            message = "--retrain and --input FILE need each other: the rows that are left are trained on that text"
            raise UsageError(message)
        replace(self.config, cutoff=self.config.cutoff or self.size or 0).validate()
        check_writable(self.output)
        if self.output != "-" and os.path.realpath(self.output) == os.path.realpath(self.model):
            raise UsageError(f"{self.output}: is both read and written; choose another output")

    def run(self, say: Callable[..., None]) -> dict[str, Any]:
        """Does it and returns the facts recorded beside the output. Raises WvError and its kin."""
        self.validate()
        begin, config, facts = time.monotonic(), self.config, dict[str, Any]()
        dense = load_model(self.model)
        require_dense(dense, self.model)
        if config.retrain and not dense.is_classifier:
            raise UsageError(f"--retrain is for classifiers; {self.model} holds word vectors")
        if self.validation:
            facts |= {"measure": measure(dense), "score_before": score(dense, self.validation)}
        if self.size:
            config = replace(config, cutoff=cutoff_for_size(dense, self.size, config))
        small = quantize(dense, config, retrainer(self.inputs, config) if config.retrain else None)
        rows_before, rows, before, after = (
            dense.input.shape[0], small.input.shape[0], dense_bytes(dense), quantized_bytes(small)
        )  # fmt: skip
        if self.validation:
            facts["score_after"] = score(small, self.validation)
        save_model(self.output, small)
        say(f"{rows_before:,} rows -> {rows:,}", rows_before=rows_before, rows=rows)
        say(f"{before:,} bytes -> {after:,}: {before / after:.1f} times smaller", bytes_before=before, bytes=after)
        if self.validation:
            old, new = facts["score_before"], facts["score_after"]
            change = f"{facts['measure']} {old:.4f} -> {new:.4f} ({100 * (new - old):+.2f} points)"
            say(f"{change} on {self.validation}", **facts)
        facts = {
            "config": asdict(config),
            "rows_before": rows_before,
            "rows": rows,
            "bytes_before": before,
            "bytes": after,
            **facts,
            "seconds": round(time.monotonic() - begin, 3),
        }
        if self.write_meta and self.output != "-":
            meta.write(self.output, list(self.argv), facts)
        return facts
