"""One run of `wv phrases`: joins the phrases of a text, found in it or kept from another, and writes it again."""

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from wv_cli.cluster.inputs import refuse_for_ranks, shared_texts
from wv_cli.cluster.ranks import OneOfRanks
from wv_cli.cluster.sums import OtherRanks
from wv_cli.engine.saved_run import Say
from wv_cli.formats.recognise import texts
from wv_cli.jobs.session import Reading
from wv_cli.system.output import check_writable, open_output, write_together
from wv_cli.system.places import require_different
from wv_cli.text.config import PhrasesConfig
from wv_cli.text.input_files import refuse_overwriting
from wv_cli.text.inputs import Texts
from wv_cli.text.phrases import JoinedText
from wv_cli.text.saved_phrases import read_phrases


@dataclass(frozen=True, kw_only=True)
class JoiningRun(OneOfRanks):
    """`inputs` are texts, `output` gets them with phrases joined, `save_phrases` the phrases; with `apply`, a file of
    them, none are looked for."""

    inputs: tuple[str, ...]
    output: str
    config: PhrasesConfig
    save_phrases: str | None = None
    apply: str | None = None
    force_text: bool = False

    @property
    def outputs(self) -> list[str]:
        return [path for path in (self.output, self.save_phrases) if path]

    def run(self, say: Say, report: Callable[[str], None], reading: Reading | None) -> dict[str, Any]:
        """Does the work; what is to be told of it. `report` is told of every pass. Raises WvError and its kin."""
        started = time.perf_counter()
        options = {**asdict(self), **asdict(self.config), "config": None}
        with ExitStack() as stack:
            asked = stack.enter_context(
                # A pair of words stands in one line.
                shared_texts(self.ranks, options, lambda: self._checked(say), whole_lines=True)
            )
            beside = None if self.follows else self.output
            text = stack.enter_context(
                JoinedText(
                    asked,
                    self.config,
                    spool_beside=beside,
                    progress=reading,
                    after_pass=lambda done: report(done.summary),
                    saved=read_phrases(self.apply) if self.apply is not None else None,
                    others=OtherRanks(self.ranks, beside) if self.ranks is not None else None,
                )
            )
            self._write(text)
        facts = {"output": self.output, "lines": text.lines, "tokens_read": text.tokens_read, "tokens": text.tokens}
        return {**facts, "passes": [done.facts for done in text.passes], "seconds": time.perf_counter() - started}

    def _checked(self, say: Say) -> Texts:
        refuse_for_ranks(self.ranks, across_lines=self.config.across_lines)
        for path in self.outputs:
            refuse_overwriting([*self.inputs, *filter(None, [self.apply])], path)
            check_writable(path)
        require_different(self.outputs)
        return texts(self.inputs, note=say, written=self.outputs, force=self.force_text)

    def _write(self, text: JoinedText) -> None:
        chunks: Iterable[bytes | bytearray]
        chunks = text.chunks() if self.ranks is None else self.ranks.to_first(text.chunks())
        if self.follows:
            for _ in chunks:
                raise AssertionError("they come on rank 0")
            return
        parts: dict[str | None, Callable[[], Iterable[bytes | bytearray]]]
        parts = {self.save_phrases: text.rows, self.output: lambda: chunks}

        def write(path: str) -> None:
            with open_output(path) as stream:
                for part in parts[path]():
                    stream.write(part)

        write_together((path, write) for path in parts if path is not None)
