"""`wv bioword`: a text to a hasher and codes, or a saved hasher to the codes of a text."""

import time
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import Any, ClassVar

from wv_cli.commands.job import TrainingJob
from wv_cli.commands.part import Part, internal
from wv_cli.commands.parts.outputs import CodeOutputs
from wv_cli.commands.parts.phrases import PhraseJoining, found_phrases
from wv_cli.commands.parts.reading import Reading
from wv_cli.commands.parts.resume import Resume
from wv_cli.commands.run import Metadata, Run
from wv_cli.config import frozen, option
from wv_cli.errors import UsageError
from wv_cli.hashing.config import BiowordConfig
from wv_cli.io.output import write_together
from wv_cli.models.training.run import Outcome


@frozen
class SavedHasher(Part):
    """With `hasher` nothing is trained and the codes are those of the text's words in place; `save_hasher` keeps one
    that is trained."""

    # A saved hasher has its own words and is applied as it is.
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        [*(BiowordConfig.options().keys() - {"threads"}), "min_count", "max_vocab", "learn_phrases"], "not hasher"
    )

    group: ClassVar[str] = "Output"

    hasher: str | None = option(
        None,
        "Encode the words of INPUT in their contexts with this hasher; train nothing.",
        role="read",
        group="Input",
    )
    save_hasher: str | None = option(None, "Save the trained hasher, for --hasher.", role="result")


@frozen
class BiowordReading(Reading):
    """A text whose ids are in memory."""

    memory: int | None = internal(None)


@frozen
class BiowordJob(TrainingJob):
    """Learn binary codes of words from the text INPUT (as for `wv train`), as the fruit fly learns smells.

    Kenyon cells compete for windows of words. The code of a word is its most active cells.
    """

    config: BiowordConfig
    reading: BiowordReading
    phrases: PhraseJoining = field(default_factory=PhraseJoining)
    outputs: CodeOutputs = field(default_factory=CodeOutputs)
    saved: SavedHasher = field(default_factory=SavedHasher)
    resume: Resume = field(default_factory=Resume)

    def check(self) -> None:
        saved = self.saved
        if not self.outputs.outputs and not saved.save_hasher:
            message = "-o FILE is missing (or --save-hasher FILE)"
            raise UsageError(message)
        others = {"--save-hasher": saved.save_hasher, "--vocab": self.reading.vocab}
        given = [*(flag for flag, value in others.items() if value), *self.resume.given_options]
        if saved.hasher and given:
            raise UsageError(f"--hasher trains nothing; leave {' and '.join(given)} out")

    def figures(self, metadata: Mapping[str, Any]) -> str:
        return f": {metadata['words']:,} words, {metadata['active']} of {metadata['bits']} bits"

    @property
    def trains(self) -> bool:
        return not self.saved.hasher

    def work(self, run: Run) -> tuple[Outcome | None, Metadata]:
        """See Job.work: reads the text, trains or applies a hasher, saves."""
        from wv_cli.commands.metadata import corpus_metadata, tell_corpus
        from wv_cli.hashing.bioword import Bioword, load_hasher
        from wv_cli.text.corpus import encode

        begin, reading = time.monotonic(), self.reading
        hasher = load_hasher(self.saved.hasher) if self.saved.hasher else None
        joiner = self.phrases.joiner(run.log, reading.memory)
        corpus = encode(
            reading.texts(run.log, written=self.writes(), advise=not run.is_resuming),
            replace(reading.words, min_count=1, max_vocab=0) if hasher else reading.words,
            vocab=hasher.vocab if hasher else reading.vocabulary(),
            phrases=joiner,
            memory=self.phrases.ids_memory(reading.memory),
            spool_beside=self.beside,
            progress=run.on_reading,
        )
        tell_corpus(corpus, run.log, time.monotonic() - begin)
        outcome = None
        if hasher is None:
            model = Bioword(self.config, corpus)
            # The threads of the kernel work on one step together.
            outcome = run.train(model, threads=1, advice=f"lower --lr (now {self.config.lr:g})")
            if not outcome.is_finished:
                return outcome, {}
            hasher = model.hasher()
            codes = hasher.static()
        else:
            codes = hasher.dynamic(corpus)
        metadata: Metadata = {
            "method": codes.method,
            "bits": codes.bits,
            "active": codes.active,
            "words": len(codes),
            "bits_per_word": codes.bits_per_word,
            "config": asdict(hasher.config),
            "corpus": corpus_metadata(corpus),
            **found_phrases(joiner),
            "training_seconds": round(outcome.seconds, 3) if outcome else None,
            "energy": outcome.totals.loss / outcome.totals.examples if outcome and outcome.totals.examples else None,
            "seconds": round(time.monotonic() - begin, 3),
        }
        write_together(
            [
                *self.phrases.writers(joiner),
                *((path, hasher.save) for path in self.saved.results()),
                *self.outputs.writers(codes),
            ]
        )
        self.finish(run, self.outputs.outputs, metadata)
        return outcome, metadata
