"""One run of `wv build-vocab`: counts the words of texts, or sums counts, and writes a vocabulary file."""

import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from wv_cli.formats.recognise import texts
from wv_cli.jobs.distribution import executor, refuse_with_dask
from wv_cli.system.events import Log, OnProgress
from wv_cli.system.launcher import refuse_processes
from wv_cli.system.output import check_writable
from wv_cli.text import shard_counting
from wv_cli.text.config import VocabConfig
from wv_cli.text.corpus import tally
from wv_cli.text.counting import Counts, counting
from wv_cli.text.input_files import expand_inputs, refuse_overwriting
from wv_cli.text.inputs import Texts
from wv_cli.text.shard_counting import Divided, words_of
from wv_cli.text.vocab import merge_vocabs, read_vocab, write_pieces


@dataclass(frozen=True, kw_only=True)
class VocabularyRun:
    """`inputs` are texts, or with `merge` vocabulary files; `output` gets the words that `config` keeps, and with
    `sentence_end` the number of lines. Without `memory` all words are counted in it, with it in so many bytes; with
    `dask`, the address of a scheduler, by its workers."""

    inputs: tuple[str, ...]
    output: str
    config: VocabConfig
    merge: bool = False
    sentence_end: bool = True
    memory: int | None = None
    force_text: bool = False
    dask: str | None = None

    def run(self, say: Log, reading: OnProgress | None) -> dict[str, Any]:
        """Does the work; what is to be told of it. Raises WvError and its kin."""
        refuse_processes()
        started = time.perf_counter()
        with ExitStack() as stack:
            every = self._counts(stack, say, reading)
            words, tokens = write_pieces(self.output, every.kept, every.lines, sentence_end=self.sentence_end)
        facts: dict[str, Any] = {
            "output": self.output,
            "tokens": every.tokens,
            "lines": every.lines,
            "words": every.words,
        }
        kept = {"kept_words": words, "kept_tokens": tokens, "coverage": tokens / every.tokens}
        return {**facts, **kept, "seconds": time.perf_counter() - started}

    def _counts(self, stack: ExitStack, say: Log, reading: OnProgress | None) -> Counts:
        asked = self._checked(say)
        if self.merge:
            return Counts.of(merge_vocabs([read_vocab(path) for path in expand_inputs(self.inputs)]), self.config)
        if self.dask is not None:
            whole_lines = bool(self.config.min_line)
            divided = Divided(asked, shard_counting.SHARD_BYTES, reading, whole_lines=whole_lines)
            with executor(self.dask, say) as workers:
                whole = words_of(workers, divided, partial(tally, config=self.config))
            return Counts.of(whole.vocab(), self.config)
        return stack.enter_context(
            counting(asked, self.config, progress=reading, memory=self.memory, spool_beside=self.output)
        )

    def _checked(self, say: Log) -> Texts:
        refuse_with_dask(self.dask, merge=self.merge, memory=self.memory, dedup=self.config.dedup)
        refuse_overwriting(self.inputs, self.output)
        check_writable(self.output)
        return texts(self.inputs, note=say, written=[self.output], force=self.force_text)
