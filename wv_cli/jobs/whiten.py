"""A run of `wv whiten`: which rows are fitted, which files are read and written, in which order.

Everything that can be refused is refused before the first row is read. Files of vectors pass through block by block.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from wv_cli.engine.run import Outcome
from wv_cli.errors import UsageError, WvError
from wv_cli.formats import format_for_output
from wv_cli.formats.base import Precision
from wv_cli.formats.streams import RowSource, save_blocks
from wv_cli.jobs.facts import Facts
from wv_cli.jobs.session import Observe, Reading, Session
from wv_cli.system.events import Log
from wv_cli.system.output import write_together
from wv_cli.text.vocab import Vocab, read_vocab
from wv_cli.transforms.config import WhitenConfig
from wv_cli.transforms.moments import Moments
from wv_cli.transforms.whiten import Transform, fit
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.words import WordList


@dataclass(frozen=True, kw_only=True)
class WhitenSession(Session):
    """`inputs`: one file of vectors; under `merge` saved moments. Fitted are, in this order of preference: the saved
    `moments`, the rows of `fit`, those of the input; of rows the first `top` (None: all), each once or as often as
    `counts`, a vocabulary file, says. `transform` is applied instead of a new one. There are no sidecars."""

    CONDITIONS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(WhitenConfig.options(), "output or save_transform"),
        **dict.fromkeys(("to_format", "precision", "escape"), "output"),
        "from_format": "not merge",
        **dict.fromkeys(("fit", "top", "counts", "moments"), "method=whiten|zca|pca|soft|abtt"),
    }

    config: WhitenConfig
    inputs: tuple[str, ...]
    output: str | None = None
    merge: bool = False
    fit: str | None = None
    top: int | None = None
    counts: str | None = None
    moments: tuple[str, ...] = ()
    transform: str | None = None
    save_moments: str | None = None
    save_transform: str | None = None
    from_format: str | None = None
    to_format: str | None = None
    precision: Precision = 6
    escape: bool = False

    @property
    def format_asked(self) -> str | None:
        return self.to_format

    def read(self) -> list[str]:
        """None: an output appears when all of its inputs have been read, so it may take the place of one."""
        return []

    def results(self) -> list[str]:
        return [path for path in (self.output, self.save_moments, self.save_transform) if path is not None]

    def check_options(self) -> None:
        _refuse(not self.inputs, "give a file of vectors")
        _refuse(len(self.inputs) > 1 and not self.merge, "give one file of vectors; several moments go with --merge")
        _refuse(not self.results(), "nothing would be written; give -o, --save-transform or --save-moments")
        given = {"--fit": self.fit, "--top": self.top, "--counts": self.counts, "--moments": self.moments}
        fits = [name for name, value in given.items() if value]
        if self.merge:
            _refuse(bool(fits), f"--merge joins moments; {_first(fits)} has no place there")
            _refuse(
                bool(self.output or self.transform), "--merge joins moments; apply them with --moments FILE IN -o OUT"
            )
        if self.moments:
            others = [name for name in fits if name != "--moments"]
            _refuse(bool(others), f"--moments says what was fitted; {_first(others)} has no place there")
        if self.transform is not None:
            fits += ["--save-moments"] * (self.save_moments is not None)
            _refuse(bool(fits), f"--transform is applied as it is; {_first(fits)} has no place there")
            chosen = self.config != WhitenConfig() or not self.config.options().keys().isdisjoint(self.named)
            _refuse(chosen, "--transform is applied as it is; --method and its options are fixed in it")
            _refuse(self.output is None, "--transform FILE is applied to IN; give -o for the result")
        inputs = [*self.inputs, *self.moments, self.fit, self.counts, self.transform]
        _refuse(inputs.count("-") > 1, "- (standard input) can be read only once")
        if self.output is not None:
            row = format_for_output(self.output, self.to_format)
            if row.header is None:
                message = f"{row.name} cannot be written in blocks; choose another format for -o"
                raise UsageError(message)
            if "precision" in self.named:
                row.require_precision(self.precision)

    def work(self, say: Log, observe: Observe | None, reading: Reading | None) -> tuple[Outcome | None, Facts]:
        """See Session.run: fits, saves, applies. Says nothing; the facts are the figures of the run."""
        facts: Facts = {"output": self.output}
        writers: list[tuple[str, Callable[[str], None]]] = []
        paths = self.inputs if self.merge else self.moments
        source = None if self.merge else RowSource(self.inputs[0], format=self.from_format)
        if self.transform is not None:
            transform = Transform.load(self.transform)
        else:
            if paths:
                moments, name = joined_moments(paths), ", ".join(paths)
            else:
                assert source is not None
                moments, name = self._fitted(source, facts)
            facts |= {"rows": moments.rows, "dim": moments.dim, "fitted": name}
            if self.save_moments is not None:
                writers.append((self.save_moments, moments.save))
            if self.output is None and self.save_transform is None:
                write_together(writers)
                return None, facts
            transform = fit(moments, self.config, name)
        kept = {"dim": transform.dim, "new_dim": transform.new_dim, "rank": transform.rank}
        facts |= {**{key: transform.facts.get(key) for key in ("method", "removed", "beta")}, **kept}
        if self.save_transform is not None:
            writers.append((self.save_transform, transform.save))
        if self.output is not None:
            assert source is not None
            transform.require_dim(source.dim, source.name)
            writers.append((self.output, lambda path: facts.update(zero_vectors=self._write(path, source, transform))))
        write_together(writers)
        if self.output is not None and source is not None:
            facts["written"] = source.rows
        return None, facts

    def _fitted(self, source: RowSource, facts: Facts) -> tuple[Moments, str]:
        if self.fit is not None:
            source = RowSource(self.fit)
        vocab = read_vocab(self.counts) if self.counts is not None else None
        moments, unknown = moments_of(source, vocab, self.top)
        if vocab is not None:
            facts["without_count"] = unknown
        return moments, source.name

    def _write(self, output: str, source: RowSource, transform: Transform) -> int:
        """Applies the transform to the whole file; how many vectors became zero, which have no direction."""
        zero = 0

        def blocks() -> Iterator[Embeddings]:
            nonlocal zero
            for block in source.blocks():
                result = transform.apply(block.matrix)
                zero += int(np.count_nonzero(~result.any(axis=1)))
                yield Embeddings(block.words, result)

        save_blocks(
            output,
            source.rows,
            transform.new_dim,
            blocks(),
            format=self.to_format,
            precision=self.precision,
            escape=self.escape,
        )
        return zero


def _first(names: list[str]) -> str:
    return names[0] if names else ""


def _refuse(wrong: bool, message: str) -> None:
    if wrong:
        raise UsageError(message)


def moments_of(source: RowSource, vocab: Vocab | None = None, top: int | None = None) -> tuple[Moments, int]:
    """(moments, rows that `vocab` does not know) of the first `top` rows, None: all; with `vocab` each weighs its
    word's count, 0 for a word that is not there."""
    moments, unknown, left = Moments.none(source.dim), 0, math.inf if top is None else top
    for whole in source.blocks():
        if left <= 0:
            break
        part = int(min(len(whole), left))
        block = whole if part == len(whole) else Embeddings(whole.words[:part], whole.matrix[:part])
        left -= part
        weights = None
        if vocab is not None:
            weights = _counts(block.words, vocab)
            unknown += int(np.count_nonzero(weights == 0))
        moments = moments.with_rows(block.matrix, weights)
    return moments, unknown


def _counts(words: WordList, vocab: Vocab) -> NDArray[np.float64]:
    ids = vocab.words.find_all(words)
    return np.where(ids >= 0, vocab.counts[np.maximum(ids, 0)], 0).astype(np.float64)


def joined_moments(paths: tuple[str, ...]) -> Moments:
    """Of all files. Raises WvError when their dimensions differ."""
    first, *others = paths
    moments = Moments.load(first)
    for path in others:
        more = Moments.load(path)
        if more.dim != moments.dim:
            message = f"{path}: expected moments of {moments.dim} dimensions as in {first}, found {more.dim}"
            raise WvError(message)
        moments = moments.joined(more)
    return moments
