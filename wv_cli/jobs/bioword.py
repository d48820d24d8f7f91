"""One BioWord run for `wv bioword`: text to a hasher and codes, or a saved hasher to the codes of a text."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import ClassVar

from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError
from wv_cli.formats.codes import save as save_codes
from wv_cli.hashing.bioword import Bioword, load_hasher
from wv_cli.hashing.config import BiowordConfig
from wv_cli.jobs.facts import Facts, corpus_facts, tell_corpus
from wv_cli.jobs.phrases import PhrasesSession
from wv_cli.jobs.session import Observe, Reading
from wv_cli.system.events import Log as Say
from wv_cli.system.output import write_together
from wv_cli.text.corpus import encode
from wv_cli.text.vocab import read_vocab


@dataclass(frozen=True, kw_only=True)
class BiowordSession(PhrasesSession):
    """With `hasher` nothing is trained and the codes are those of the text's words in place."""

    # A saved hasher has its own words and is applied as it is.
    CONDITIONS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        [*(BiowordConfig.options().keys() - {"threads"}), "min_count", "max_vocab", "learn_phrases"], "not hasher"
    )

    config: BiowordConfig
    hasher: str | None = None
    save_hasher: str | None = None

    def check_options(self) -> None:
        for wrong, message in [
            (not self.outputs and not self.save_hasher, "-o FILE is missing (or --save-hasher FILE)"),
            (
                bool(self.hasher) and (self.saves or bool(self.save_hasher or self.vocab)),
                "--hasher trains nothing; leave --save-hasher, --vocab, --resume and --checkpoint out",
            ),
        ]:
            if wrong:
                raise UsageError(message)

    def read(self) -> list[str]:
        return super().read() + ([self.hasher] if self.hasher else [])

    def results(self) -> list[str]:
        return super().results() + ([self.save_hasher] if self.save_hasher else [])

    @property
    def by_steps(self) -> bool:
        return not self.hasher

    @property
    def workers(self) -> int:
        """One: the threads of the kernel work on one step together."""
        return 1

    def work(self, say: Say, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: reads the text, trains or applies a hasher, saves."""
        begin = time.monotonic()
        hasher = load_hasher(self.hasher) if self.hasher else None
        vocab = hasher.vocab if hasher else read_vocab(self.vocab) if self.vocab else None
        config = replace(self.vocab_config, min_count=1, max_vocab=0) if hasher else self.vocab_config
        corpus = encode(
            self.texts(say),
            config,
            vocab=vocab,
            phrases=self.phrases_to_join(say),
            memory=self.ids_memory,
            spool_beside=self.beside,
            progress=reading,
        )
        tell_corpus(corpus, say, time.monotonic() - begin)
        outcome = None
        if hasher is None:
            model = Bioword(self.config, corpus)
            outcome = self.train(model, self.first_step(model, say), observe, f"lower --lr (now {self.config.lr:g})")
            if not outcome.finished:
                return outcome, {}
            hasher = model.hasher()
            codes = hasher.static()
        else:
            codes = hasher.dynamic(corpus)
        facts: Facts = {
            "method": codes.method,
            "bits": codes.bits,
            "active": codes.active,
            "words": len(codes),
            "bits_per_word": codes.bits_per_word,
            "config": asdict(hasher.config),
            "corpus": corpus_facts(corpus),
            **self.own_facts(),
            "training_seconds": round(outcome.seconds, 3) if outcome else None,
            "energy": outcome.totals.loss / outcome.totals.examples if outcome and outcome.totals.examples else None,
            "seconds": round(time.monotonic() - begin, 3),
        }
        write_together(
            [
                *self.phrases_writers(),
                *((path, hasher.save) for path in [self.save_hasher] if path),
                *((path, lambda path: save_codes(path, codes)) for path in self.outputs),
            ]
        )
        self.finish(self.outputs, facts)
        return outcome, facts
