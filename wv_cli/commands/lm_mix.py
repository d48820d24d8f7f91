"""`wv lm mix`: makes one model of n-grams from several."""

from dataclasses import field

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.parts.ngrams import NgramOutput
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen, option, require
from wv_cli.errors import UsageError
from wv_cli.io.places import require_one_use


@frozen
class MixedModels(Part):
    """The models of a mixture, and their weights."""

    models: tuple[str, ...] = argument("MODEL...")
    weights: str | None = option(None, "Weights of the models, divided by their sum.", metavar="X,X...", shown="equal")
    fit: str | None = option(
        None, "Choose the weights that make this held-out text most probable.", metavar="TEXT", group="Input"
    )

    def check(self) -> None:
        require(len(self.models) > 1, f"expected two models or more, found one: {', '.join(self.models)}")
        message = "--weights and --fit cannot be used together: --fit chooses the weights"
        require(self.weights is None or self.fit is None, message)
        require_one_use("-", self.reads().count("-") > 1)
        self.read_weights()

    def reads(self) -> list[str]:
        return [*self.models, *([self.fit] if self.fit else [])]

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


@frozen
class LmMixJob(Job):
    """Write the linear interpolation of two or more models of n-grams as one model.

    Every n-gram of any MODEL gets the weighted sum of the probabilities that all models give it; back-offs are computed
    anew. This is the static interpolation of SRILM. A model that does not list a word gives it nothing.

    --fit is not for the text on which the mixture is scored. `wv eval perplexity --mix` scores a mixture without
    writing it.
    """

    source: MixedModels
    model: NgramOutput = field(default_factory=NgramOutput)

    def check(self) -> None:
        self.model.format.require_fitting(self.model.output)

    def work(self, run: Run) -> tuple[None, Metadata]:
        """Loads the models, fits their weights where --fit asks for it, and writes the mixture."""
        from wv_cli.io.meta import note_words
        from wv_cli.lm.files import load_ngrams
        from wv_cli.lm.interpolation import fit_weights, interpolate
        from wv_cli.lm.model import unpack_model

        source, output = self.source, self.model.output
        loaded = [unpack_model(load_ngrams(model)) for model in source.models]
        weights = source.read_weights() if source.fit is None else fit_weights(loaded, source.fit)
        named = zip(weights, source.models, strict=True)
        run.log(f"mixture: {' + '.join(f'{weight:.4f} {name}' for weight, name in named)}")
        for note in filter(None, map(note_words, source.models)):
            run.log(note)
        self.model.format.save(output, interpolate(loaded, weights))
        return None, {"output": output, "weights": [*weights]}
