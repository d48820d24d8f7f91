"""Vectors of lines of text as output lines (numbers or JSON), in batches, by a vector file, a model or an encoder."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wv_cli.encoders import open_encoder
from wv_cli.encoders.base import Encoded, Encoder, encode
from wv_cli.encoders.config import EncoderConfig
from wv_cli.encoders.pooling import Pooling
from wv_cli.io.events import Log
from wv_cli.io.executor import ThisProcess
from wv_cli.transforms.composition import Composer, composer
from wv_cli.vectors.file_options import BadRowsName, Precision
from wv_cli.vectors.formats import open_vectors
from wv_cli.vectors.formats.lines import json_lines, require_finite, text_lines


class Shown(NamedTuple):
    """A batch of output lines. `text` has a line for each of so many `lines`, of which `cut` were too long, and
    `empty` have no vector."""

    text: bytes
    lines: int
    cut: int = 0
    empty: int = 0


if TYPE_CHECKING:
    from wv_cli.models.training.asking import Asking

Lines = Sequence[str]


def sentence_lines(
    asking: "Asking[Lines, Shown]", batches: Iterable[Lines], log: Log, dask: str | None = None
) -> Iterator[Shown]:
    """One for each of `batches`, in order; with `dask`, the address of a scheduler, of its workers. Raises WvError."""
    if dask is None:
        return ThisProcess().map("sentences", partial(asking.answer, asking.open()), batches)
    from wv_cli.commands.distribution import ask, refuse_with_dask

    refuse_with_dask(dask)
    return ask(dask, log, "sentences", asking, batches)


@dataclass(frozen=True, kw_only=True)
class OfVectors:
    """Line vectors of a model or vector file `file`. Satisfies wv_cli.models.training.asking.Asking."""

    file: str
    from_format: str | None
    bad_rows: BadRowsName = "error"
    precision: Precision
    as_json: bool

    def open(self) -> Composer:
        found = open_vectors(self.file, format=self.from_format, mapped=True, bad_rows=self.bad_rows)
        return composer(found, self.file)

    def answer(self, source: Composer, lines: Lines) -> Shown:
        vectors = source.lines(lines)
        require_finite(vectors, lines, self.file)
        empty = int(np.count_nonzero(~vectors.any(axis=1)))
        return Shown(_text(lines, vectors, self.precision, self.as_json), len(lines), empty=empty)


@dataclass(frozen=True, kw_only=True)
class OfEncoder:
    """Line vectors of the encoder in the folder `file`. Satisfies wv_cli.models.training.asking.Asking."""

    file: str
    config: EncoderConfig
    pooling: str | None
    precision: Precision
    as_json: bool

    def open(self) -> Encoder:
        return open_encoder(self.file, self.config, (self.pooling,) if self.pooling is not None else ())

    def require_pooling(self, source: Encoder) -> Pooling:
        """How tokens become one vector, or which of their vectors are meant. Raises UsageError."""
        chosen, config = Pooling.parse(self.pooling or source.pooling, source.layers, source.name), self.config
        if config.mix is None:
            return chosen
        return chosen.with_mix(config.mix, config.gamma, config.mix_norm, source.layers, source.name)

    def encode(
        self, source: Encoder, lines: Lines, progress: Callable[[int, int | None], None] | None = None
    ) -> Encoded:
        normalize = source.normalize if self.config.normalize is None else self.config.normalize
        (found,) = encode(
            source,
            lines,
            [self.require_pooling(source)],
            normalize=normalize,
            threads=self.config.threads,
            progress=progress,
        )
        return found

    def answer(self, source: Encoder, lines: Lines) -> Shown:
        found = self.encode(source, lines)
        text = _text(lines, found.vectors, self.precision, self.as_json)
        return Shown(text, len(lines), found.cut, int(found.empty.sum()))


def _text(lines: Lines, vectors: NDArray[np.float32], precision: Precision, as_json: bool) -> bytes:
    return json_lines("sentence", lines, vectors, precision) if as_json else text_lines(None, vectors, precision)
