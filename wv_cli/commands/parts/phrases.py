"""The phrases that a job joins while it reads its text, from a file or found in the text."""

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING

from wv_cli.commands.part import Part
from wv_cli.commands.run import Metadata
from wv_cli.config import frozen, option
from wv_cli.errors import WvError
from wv_cli.io.events import Log
from wv_cli.io.output import open_output
from wv_cli.text.config import PhraseLearning

if TYPE_CHECKING:
    from wv_cli.text.joining import Phrases


@frozen
class PhraseJoining(Part):
    """The phrases in the file `phrases` are joined, or those found as `learning` says; `save_phrases` gets the
    latter."""

    learning: PhraseLearning = field(default_factory=PhraseLearning)
    phrases: str | None = option(
        None,
        "Join these phrases (from --save-phrases) in INPUT first.",
        role="read",
        group="Input",
        common=True,
    )
    save_phrases: str | None = option(
        None,
        "Also save the phrases that --learn-phrases finds, for --phrases.",
        role="write",
        group="Output",
        only="learn_phrases",
    )

    def ids_memory(self, memory: int | None) -> int | None:
        """The part of `memory` for the ids of the text: half where pairs of words are counted, as in `wv phrases`."""
        return memory // 2 if memory and self.learning.learn_phrases else memory

    def joiner(self, log: Log, memory: int | None, *, no_phrase_begins: str = "") -> "Phrases | None":
        """The phrase joiner for the text that is read next; `log` is told what each pass has found. Counts of pairs
        take half of `memory`. Words that begin with `no_phrase_begins` are in no phrase; a file that has one is
        refused, and `log` is told of what is not saved. Raises WvError, BadFile."""
        from wv_cli.text.phrase_finding import PhraseFinder
        from wv_cli.text.saved_phrases import read_phrases

        if self.phrases:
            saved = read_phrases(self.phrases)
            if (found := saved.find_word(no_phrase_begins)) is not None:
                step = "find phrases in the text without its labels, or with --learn-phrases and --save-phrases"
                raise WvError(f"{self.phrases}: expected phrases without labels, found one with {found}; {step}")
            return saved
        config = self.learning.phrases_config(memory)
        if config is None:
            return None
        if no_phrase_begins and self.save_phrases is None:
            log("texts that the model is asked about need the same phrases: save them with --save-phrases FILE")
        return PhraseFinder(config, after_pass=lambda done: log(done.summary, **done.metadata), apart=no_phrase_begins)

    def writers(self, joiner: "Phrases | None") -> list[tuple[str, Callable[[str], None]]]:
        """The file for the phrases that `joiner` has found, and what writes it."""
        from wv_cli.text.phrase_finding import PhraseFinder

        if self.save_phrases is None:
            return []
        assert isinstance(joiner, PhraseFinder), "--save-phrases goes with --learn-phrases"

        def write(path: str) -> None:
            with open_output(path) as stream:
                for row in joiner.rows():
                    stream.write(row)

        return [(self.save_phrases, write)]


def found_phrases(joiner: "Phrases | None") -> Metadata:
    """The sidecar's facts about the phrases that were joined: how they were found, or the digest of those of a
    file."""
    from wv_cli.text.phrase_finding import PhraseFinder

    if joiner is None:
        return {}
    if not isinstance(joiner, PhraseFinder):
        return {"phrases": {"digest": joiner.digest}}
    config = joiner.config
    how: Metadata = {"score": config.score, "min_count": config.min_count, "delimiter": config.delimiter}
    return {"phrases": {"found": len(joiner.to_saved()), **how, "passes": [done.metadata for done in joiner.passes]}}
