"""The queries of `wv nn`: words, sums of words, vectors or sentences, searched among all words or some."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click

from wv_cli.commands.shared.options import conflict
from wv_cli.commands.shared.queries import Asked, Layout, run_queries
from wv_cli.commands.shared.reading import Source, load_vectors
from wv_cli.commands.shared.unknown import Unknown
from wv_cli.errors import UsageError, WvError
from wv_cli.system.places import require_one_use

if TYPE_CHECKING:
    from wv_cli.search.some_rows import Exact, SomeRows
    from wv_cli.search.topk import Index
    from wv_cli.transforms.composition import Composer
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.file_options import BadRowsName
    from wv_cli.vectors.queries import Answer, WordIndex
    from wv_cli.vectors.sums import Sum

_PROMPTS = {
    "": "One word, or several for their mean or `a - b + c`,",
    "--vector": "A vector, its numbers with blanks between,",
    "--sentence": "A sentence",
}


@dataclass(frozen=True)
class Asking:
    """Options of `wv nn`: what is asked, among which words, and how these are searched."""

    words: tuple[str, ...]
    positive: tuple[str, ...]
    negative: tuple[str, ...]
    vector: tuple[str, ...]
    sentence: tuple[str, ...]
    among: str | None
    exclude: str | None
    rerank: str | None
    candidates: int | None

    @property
    def kind(self) -> str:
        """The option that asks something else than words."""
        return "--sentence" if self.sentence else "--vector" if self.vector else ""

    @property
    def among_sentences(self) -> bool:
        return bool(self.sentence and self.among is not None)

    def check(self, source: Source) -> None:
        """Raises UsageError for two kinds of queries, and for two uses of standard input."""
        asked = {
            "WORD": self.words, "--positive": self.positive, "--negative": self.negative,
            "--vector": self.vector, "--sentence": self.sentence,
        }  # fmt: skip
        given = [name for name, words in asked.items() if words]
        if len(given) > 1 and given != ["--positive", "--negative"]:
            first, second = (given[-1], given[0]) if given[-1] in _PROMPTS else (given[1], given[0])
            raise conflict(first, second, "one of them is the query")
        if self.kind and self.rerank:
            raise conflict(self.kind, "--rerank", "codes are searched by words")
        files = [source.vectors, *source.beside, self.among, self.exclude, self.rerank]
        read = files.count("-") + (not self.queries)
        require_one_use("-", read > 1)

    @property
    def total(self) -> "Sum":
        from wv_cli.vectors.sums import Sum

        return Sum.from_words(self.positive, self.negative)

    @property
    def queries(self) -> list[str]:
        """None of them when standard input has them."""
        if self.kind:
            given = list(self.vector or self.sentence)
            return [] if given == ["-"] else given
        return [self.total.text] if self.total.words else list(self.words)


def answer_neighbors(source: Source, asking: Asking, k: int, as_json: bool, unknown: Unknown) -> int:
    """Writes the answers; the exit code."""
    asking.check(source)
    lists = _Lists.read(asking)
    answering = [_open(each, asking, lists) for each in source.each()]
    most = min(k, max(len(index) for index, _ in answering))

    def new_asked(index: "WordIndex", composer: "Composer | None") -> Asked:
        return Asked(index.name, partial(_answer, index, composer, asking, most, source.restrict_vocab))

    return run_queries(
        asking.queries,
        [new_asked(index, composer) for index, composer in answering],
        hits=most,
        prompt=_PROMPTS[asking.kind],
        as_json=as_json,
        layout=Layout("neighbors"),
        unknown=unknown,
        words=None if asking.kind else answering[0][0].words,
    )


@dataclass(frozen=True)
class _Lists:
    """The lines of --among, None without, and of --exclude."""

    among: list[str] | None
    exclude: list[str]

    @classmethod
    def read(cls, asking: Asking) -> "_Lists":
        def lines(path: str) -> list[str]:
            from wv_cli.transforms.text_distance import read_lines

            return list(dict.fromkeys(line for line in read_lines(path) if line.strip()))

        among = lines(asking.among) if asking.among is not None else None
        return cls(among, lines(asking.exclude) if asking.exclude is not None else [])


def _open(source: Source, asking: Asking, lists: _Lists) -> "tuple[WordIndex, Composer | None]":
    """The vectors of a file, searched as it is asked, and with --sentence what composes sentences."""
    from wv_cli.vectors.queries import WordIndex

    composer, bad_rows = None, source.bad_rows
    piped = not asking.queries or asking.rerank == "-"
    if asking.rerank:
        source = replace(source, bad_rows="error")  # codes are read whole: the option is for the other file
    if asking.sentence:
        vectors, composer = source.load_composer(piped=piped)
    else:
        vectors = source.load(piped=piped)
    if asking.kind or asking.rerank:
        from wv_cli.vectors.codes import CodeVectors

        if asking.kind and isinstance(vectors, CodeVectors) and vectors.codes.quantizer is None:
            found = "codes, which are searched by words"
            raise UsageError(f"{source.vectors}: {asking.kind} needs vectors, found {found}")
        if asking.rerank and not isinstance(vectors, CodeVectors):
            found = "vectors, whose search is exact; leave it out"
            raise UsageError(f"{source.vectors}: --rerank needs codes, found {found}")
    if composer is not None and lists.among is not None:
        vectors = _sentences(composer, lists, source, asking)
        lists = _Lists(None, [])
    search = _search(vectors, source, asking, lists, bad_rows)
    return WordIndex(vectors, search, source.vectors, rest=source.rest()), composer


def _search(vectors: "Embeddings", source: Source, asking: Asking, lists: _Lists, bad_rows: "BadRowsName") -> "Index":
    search: Index
    whole = vectors.search(threads=source.threads)
    narrowed = lists.among is not None or lists.exclude
    search = _narrow(whole, vectors, source, asking, lists) if narrowed else whole
    if asking.rerank:
        from wv_cli.vectors.codes import rerank_codes

        exact = load_vectors(asking.rerank, None, None, source.quiet, bad_rows=bad_rows)
        search = rerank_codes(search, vectors.words, exact, asking.rerank, asking.candidates)
    return search


def _narrow(search: "Exact", vectors: "Embeddings", source: Source, asking: Asking, lists: _Lists) -> "SomeRows":
    """The search among the words of the lists. Raises WvError when no word is left."""
    from wv_cli.search.some_rows import SomeRows
    from wv_cli.vectors.word_lists import narrow, unlisted_words

    words = vectors.words
    if lists.among is not None:
        _tell_lost(unlisted_words(words, lists.among), len(lists.among), "words are not in", source, asking)
    rows = narrow(words, lists.among, lists.exclude)
    if not len(rows):
        _refuse_nothing(source, asking)
    return SomeRows(search, rows)


def _sentences(composer: "Composer", lists: _Lists, source: Source, asking: Asking) -> "Embeddings":
    """The lines of --among and their vectors, without those of --exclude."""
    import numpy as np

    from wv_cli.transforms.composition import sentence_vectors
    from wv_cli.vectors.embeddings import Embeddings

    excluded = set(lists.exclude)
    kept = [line for line in lists.among or () if line not in excluded]
    made = sentence_vectors(composer, kept, source.vectors)
    found = [(line, each) for line, each in zip(kept, made, strict=True) if not isinstance(each, str)]
    lost = [line for line, each in zip(kept, made, strict=True) if isinstance(each, str)]
    _tell_lost(lost, len(kept), "lines have no word of", source, asking)
    if not found:
        _refuse_nothing(source, asking)
    names = [line.replace("\t", " ") for line, _ in found]
    return Embeddings(names, np.array([vector for _, vector in found]))


def _tell_lost(lost: list[str], count: int, problem: str, source: Source, asking: Asking) -> None:
    if lost and not source.quiet:
        note = f"{len(lost):,} of {count:,} {problem} {source.vectors} and are left out; the first is {lost[0]!r}"
        click.echo(f"{asking.among}: {note}", err=True)


def _refuse_nothing(source: Source, asking: Asking) -> NoReturn:
    what = "lines with a word" if asking.among_sentences else "a word"
    names = " without ".join(path for path in (asking.among, asking.exclude) if path is not None)
    message = f"{names}: expected {what} of {source.vectors} to answer with, found none"
    raise WvError(message)


def _answer(
    index: "WordIndex",
    composer: "Composer | None",
    asking: Asking,
    k: int,
    rows: int | None,
    queries: Sequence[str],
) -> "list[Answer]":
    """An answer to each query."""
    if composer is not None:
        from wv_cli.transforms.composition import sentence_vectors

        return index.nearest_to_vectors(queries, sentence_vectors(composer, queries, index.name), k, rows=rows)
    if asking.vector:
        from wv_cli.vectors.queries import read_vector

        return index.nearest_to_vectors(queries, [read_vector(each, index.dim) for each in queries], k, rows=rows)
    if asking.total.words:
        return index.nearest_to_sums([asking.total], k, rows=rows)
    return index.nearest(queries, k, rows=rows)
