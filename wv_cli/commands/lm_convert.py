"""`wv lm convert`: writes a model of n-grams in another format."""

from dataclasses import field

from wv_cli.commands.job import Job
from wv_cli.commands.part import Part
from wv_cli.commands.parts.ngrams import NgramFormat
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import argument, frozen


@frozen
class ModelFiles(Part):
    """The file of a model, and the one that it is written to."""

    model: str = argument("MODEL", role="read")
    output: str = argument("OUTPUT", role="result")


@frozen
class LmConvertJob(Job):
    """Write MODEL as OUTPUT: NAME.arpa or NAME.arpa.gz (ARPA), NAME.lm (wv's binary), or - (ARPA on standard output).

    The conversion loses nothing without --quantize: every number reads back to the same value. Of KenLM's binaries
    only tries can be converted, because the others hold no words of n-grams.
    """

    files: ModelFiles
    format: NgramFormat = field(default_factory=NgramFormat)

    def check(self) -> None:
        self.format.require_fitting(self.files.output)

    def replaceable(self) -> list[str]:
        return [self.files.model]

    def work(self, run: Run) -> tuple[None, Metadata]:
        from wv_cli.io.meta import note_words
        from wv_cli.lm.files import load_ngrams

        if note := note_words(self.files.model):
            run.log(note)
        self.format.save(self.files.output, load_ngrams(self.files.model))
        return None, {"output": self.files.output}
