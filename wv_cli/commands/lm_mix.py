"""`wv lm mix`: makes one model of n-grams from several."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, ClassVar

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part, SidecarOption
from wv_cli.commands.parts.ngrams import NgramOutput
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, require
from wv_cli.errors import UsageError
from wv_cli.io.events import Log
from wv_cli.io.places import is_stream, require_one_use
from wv_cli.lm.config import PiecesConfig
from wv_cli.text.reading_config import AskedConfig

if TYPE_CHECKING:
    from wv_cli.lm.preparation import Preparation
    from wv_cli.text.inputs import Texts


@frozen
class MixedModels(Part):
    """The models of a mixture, and their weights, or the text that they are fitted to and how it is read."""

    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys([*PiecesConfig.options(), *AskedConfig.options()], "fit")

    models: tuple[str, ...] = argument("MODEL...", role="read")
    weights: str | None = option(None, "Weights of the models, divided by their sum.", metavar="X,X...", shown="equal")
    fit: str | None = option(
        None,
        "Choose the weights that make this held-out text most probable.",
        metavar="TEXT",
        role="read",
        group="Input",
    )
    pieces: PiecesConfig = field(default_factory=PiecesConfig)
    reading: AskedConfig = field(default_factory=AskedConfig)

    def check(self) -> None:
        require(len(self.models) > 1, f"expected two models or more, found one: {', '.join(self.models)}")
        message = "--weights and --fit cannot be used together: --fit chooses the weights"
        require(self.weights is None or self.fit is None, message)
        require_one_use("-", self.reads().count("-") > 1)
        self.read_weights()

    def read_weights(self) -> list[float]:
        """The weights of --weights, whose sum is 1. Raises UsageError."""
        text, count = self.weights, len(self.models)
        if text is None:
            return [1 / count] * count
        try:
            weights = [float(field) for field in text.split(",")]
        except ValueError:
            weights = []
        total = sum(weights)
        if len(weights) != count or min(weights) < 0 or not 0 < total < float("inf"):
            message = f"--weights: expected {count} numbers of 0 or more with commas between, one above 0; found {text}"
            raise UsageError(message)
        return [weight / total for weight in weights]

    def held_out(self, log: Log) -> "tuple[Texts, Preparation] | None":
        """The text of --fit, and what is done to it before models read it. Raises UsageError, WvError."""
        from wv_cli.lm.preparation import Preparation
        from wv_cli.text.tokenizing import recipe_for
        from wv_cli.vectors.recognize import input_texts

        if self.fit is None:
            return None
        recipe = recipe_for(self.models, self.reading.tokenize, log, one_line=False)
        text = input_texts([self.fit], log=log, reading=replace(self.reading, tokenize=recipe))
        return text, Preparation(self.pieces)


@frozen
class LmMixJob(Job):
    """Write the linear interpolation of two or more models of n-grams as one model.

    Every n-gram of any MODEL gets the weighted sum of the probabilities that all models give it; back-offs are computed
    anew. This is the static interpolation of SRILM. A model that does not list a word gives it nothing.

    --fit is not for the text on which the mixture is scored. It is read as `wv lm score` reads INPUT. `wv eval
    perplexity --mix` scores a mixture without writing it.
    """

    invocation: SidecarOption = field(default_factory=SidecarOption)
    source: MixedModels
    model: NgramOutput = field(default_factory=NgramOutput)

    def check(self) -> None:
        self.model.format.require_fitting(self.model.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Loads the models, fits their weights where --fit asks for it, and writes the mixture."""
        from wv_cli.io import meta
        from wv_cli.lm.files import load_ngrams
        from wv_cli.lm.interpolation import fit_weights, interpolate
        from wv_cli.lm.model import unpack_model

        source, output, held_out = self.source, self.model.output, self.source.held_out(run.log)
        loaded = [unpack_model(load_ngrams(model)) for model in source.models]
        weights = source.read_weights() if held_out is None else fit_weights(loaded, *held_out)
        named = zip(weights, source.models, strict=True)
        run.log(f"mixture: {' + '.join(f'{weight:.4f} {name}' for weight, name in named)}")
        metadata: Metadata = {"output": output, "weights": [*weights]}
        recipe, *others = {*map(meta.tokenization, source.models)}
        if recipe is not None and not others and self.invocation.meta and not is_stream(output):
            metadata["tokenize"] = recipe
        else:
            for note in filter(None, map(meta.note_words, source.models)):
                run.log(note)
        self.model.format.save(output, interpolate(loaded, weights))
        self.finish(run, self.results(), {"models": [*source.models], **metadata})
        return None, metadata
