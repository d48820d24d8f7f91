"""Files of co-occurrence counts: GloVe's cooccurrence.bin, 16-byte records without a header, and sums of such files.

Ours are the same format, sorted. Shards counted on other days or machines, with other vocabularies, are summed: each
file's ids are translated word by word. GloVe's shuffled files are read as well. What such a file cannot tell: its
vocabulary, whether it was cut at a record's end, and whether GloVe's `cooccur` doubled the first record, which it does
when its overflow file stays empty (most small texts).
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from wv_cli import _text
from wv_cli._glove import RECORD, check, sort
from wv_cli.errors import BadFile, UsageError, WvError, cannot_read
from wv_cli.io.compression import compression_of
from wv_cli.io.input import open_input
from wv_cli.io.runs import pair_runs
from wv_cli.models.glove.record_runs import WHAT
from wv_cli.text.config import VocabConfig
from wv_cli.text.raw_files import blocks as read_blocks
from wv_cli.text.raw_files import name_of_input, open_raw
from wv_cli.text.source import Source
from wv_cli.text.vocab import Vocab, merge_vocabs, read_vocab

Records = NDArray[Any]
_BLOCK = 1 << 18  # records, 4 MB


@dataclass(frozen=True)
class CountsFile:
    """A file of counts and the vocabulary that its ids mean."""

    path: str
    vocab: Vocab


def open_counts(specs: Sequence[str], vocab: str | None) -> list[CountsFile]:
    """Each spec is FILE or FILE:VOCAB; FILE alone means `vocab`. Raises UsageError when a vocabulary is missing, what
    read_vocab raises, and BadFile for a vocabulary that is not in order of falling count: ids are line numbers."""
    found: dict[str, Vocab] = {}
    files = []
    for spec in specs:
        path, *others = files_of_spec(spec)
        own = others[0] if others else vocab
        if not own:
            message = f"--counts {spec}: ids mean nothing without their vocabulary; write {spec}:VOCAB or add --vocab"
            raise UsageError(message)
        if own not in found:
            found[own] = _vocab_in_order(own)
        files.append(CountsFile(path, found[own]))
    return files


def files_of_spec(spec: str) -> list[str]:
    """FILE, or FILE and VOCAB."""
    path, colon, vocab = spec.rpartition(":")
    return [path, vocab] if colon and not Path(spec).exists() else [spec]


def _vocab_in_order(path: str) -> Vocab:
    vocab = read_vocab(path)
    counts = _text.split_counts(b"".join(Source([path])))[2]
    first = len(counts) - len(vocab)  # 1 when there is a row </s>
    rising = np.flatnonzero(np.diff(counts[first:]) > 0)
    if len(rising):
        problem = "expected falling counts (ids of counts are line numbers), found a larger one; give the original file"
        raise BadFile(path, problem, line=int(rising[0]) + first + 2)
    return vocab


class Counts:
    """One or several files of counts as one sorted stream over one vocabulary."""

    def __init__(self, files: Sequence[CountsFile], config: VocabConfig, target: Vocab | None = None) -> None:
        """Reads every file once to check it. `vocab` becomes `target` or the sum of the files' vocabularies, cut as
        `config` says; pairs with another word are left out. Raises BadFile with the first bad record, WvError."""
        self._files = files
        # Shards that share a vocabulary file share its text, whose counts must not be added twice.
        own = list({id(file.vocab): file.vocab for file in files}.values())
        self.vocab = (target or (merge_vocabs(own) if len(own) > 1 else own[0])).cut(config)
        digest = hashlib.blake2b(digest_size=16)
        ascending = [_check_file(file, digest) for file in files]
        self.digest = digest.hexdigest()
        self._direct = len(files) == 1 and ascending[0] and files[0].vocab.words == self.vocab.words

    def stream(self, memory: int, spool_beside: str | None) -> Iterator[Records]:
        if self._direct:
            yield from _blocks(self._files[0].path, _BLOCK)
            return
        size = max(memory // (4 * RECORD.itemsize), 1024)
        with pair_runs(spool_beside, WHAT, memory, as_values=True) as runs:
            for file in self._files:
                lookup = self._lookup(file.vocab)
                for block in _blocks(file.path, size):
                    mapped = block.copy()
                    mapped["row"], mapped["column"] = lookup[block["row"]], lookup[block["column"]]
                    mapped = mapped[(mapped["row"] > 0) & (mapped["column"] > 0)]
                    sort(mapped)
                    runs.add([mapped])
            yield from runs.merge()

    def _lookup(self, vocab: Vocab) -> NDArray[np.int32]:
        """Our id of each of the file's ids, both from 1; 0 where the word was cut."""
        if vocab is self.vocab:
            return np.arange(len(vocab) + 1, dtype=np.int32)
        words = _text.WordMap(len(self.vocab))
        words.add(self.vocab.words.blob, self.vocab.words.starts)
        ids = words.add(vocab.words.blob, vocab.words.starts)
        lookup = np.zeros(len(vocab) + 1, np.int32)
        lookup[1:] = np.where(ids < len(self.vocab), ids + 1, 0)
        return lookup


def _check_file(file: CountsFile, digest: "hashlib.blake2b") -> bool:
    """Checks every record; whether the file is sorted with every pair once."""
    try:
        size = Path(file.path).stat().st_size
    except OSError as error:
        raise cannot_read(file.path, error) from error
    if not Path(file.path).is_file():
        message = (
            f"{file.path}: expected a file of counts, which is read twice, found a folder, pipe or device; give a file"
        )
        raise WvError(message)
    if not compression_of(file.path):
        _require_records(file.path, size)
    last_key, ascending, before = 0, True, 0
    for block in _blocks(file.path, _BLOCK):
        bad, last_key, sorted_here = check(block, len(file.vocab), last_key)
        if bad >= 0:
            row, column, value = block[bad]
            problem = (
                f"record {before + bad + 1:,}: expected words 1 to {len(file.vocab):,} and a count above 0, found "
                f"({row}, {column}, {value:g}); does the vocabulary belong to this file?"
            )
            raise BadFile(file.path, problem, byte=(before + bad) * RECORD.itemsize)
        ascending &= sorted_here
        before += len(block)
        digest.update(block.view(np.uint8).data)
    return ascending


def _require_records(path: str, size: int) -> None:
    if size == 0 or size % RECORD.itemsize:
        problem = f"expected records of 16 bytes, found {size:,} bytes; is the file cut off?"
        raise BadFile(path, problem, byte=size - size % RECORD.itemsize)


def _blocks(path: str, size: int) -> Iterator[Records]:
    """A compressed file is told by its name: the numbers of a record may be the first bytes of anything."""
    if compression_of(path):
        with open_input(path, "counts") as source:
            while data := source.read(size * RECORD.itemsize):
                _require_records(path, source.position)
                yield np.frombuffer(data, RECORD)
        return
    try:
        with Path(path).open("rb") as stream:
            while data := stream.read(size * RECORD.itemsize):
                yield np.frombuffer(data, RECORD)
    except OSError as error:
        raise cannot_read(path, error) from error


def piped_records() -> Iterator[Records]:
    """The records of standard input. Raises BadFile when it ends within one, WvError."""
    name, rest, done = name_of_input("-"), b"", 0
    with open_raw("-") as raw:
        for block in read_blocks(raw, name, _BLOCK * RECORD.itemsize):
            data = rest + block if rest else block
            whole = len(data) // RECORD.itemsize
            rest = data[whole * RECORD.itemsize :]
            done += whole
            if whole:
                yield np.frombuffer(data, RECORD, whole)
    if rest:
        problem = f"expected records of 16 bytes, found {len(rest)} more; is the file cut off?"
        raise BadFile(name, problem, byte=done * RECORD.itemsize)


def write_through(records: Iterator[Records], stream: BinaryIO) -> Iterator[Records]:
    """Passes records on and writes them to `stream` on the way."""
    for block in records:
        stream.write(block.view(np.uint8).data)
        yield block
