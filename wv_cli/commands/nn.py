"""`wv nn`: the nearest neighbors of words, vectors or sentences, among vectors or codes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NoReturn

from wv_cli.commands.parts.asking import PROMPTS, AskedVectors, NeighborQueries, Searching
from wv_cli.commands.questions import Answerer, Layout, OpenedFiles, QuestionsJob
from wv_cli.config import frozen, option, require
from wv_cli.errors import UsageError, WvError
from wv_cli.io.events import Log

if TYPE_CHECKING:
    from wv_cli.transforms.composition import Composer
    from wv_cli.vectors.embeddings import Embeddings
    from wv_cli.vectors.neighbors.some_rows import SomeRows
    from wv_cli.vectors.neighbors.topk import Exact, Index
    from wv_cli.vectors.queries import Answer, WordIndex


@frozen
class NnJob(QuestionsJob):
    """Show the words whose vectors have the highest cosine with each WORD.

    Without WORD, queries are read from standard input, one per line; a terminal gets a prompt. Several words in one
    query ("new york") stand for the mean of their unit vectors; words after a minus are subtracted. Words that a
    fastText model does not list are composed of their character n-grams.

    --vector asks numbers between blanks or commas. --sentence asks a text, whose vector is that of `wv vectors
    --sentences`. With --sentence, the lines of --among FILE are sentences, too.

    A neighbor is printed as `word TAB score`, after the query and a tab if there are several queries. --json prints
    one object per query. Blank lines are skipped. The search is exact.

    VECTORS may be codes from `wv hash`: the score is then the fraction of equal bits (dense codes) or of common
    active bits (sparse codes). Codes of pq are searched as the vectors that they stand for.
    """

    LAYOUT: ClassVar[Layout] = Layout("neighbors")
    CONDITIONS: ClassVar[Mapping[str, str]] = {
        "beside": "not rerank",
        "restrict_vocab": "not among or not sentence",
    }

    asked: NeighborQueries = field(default_factory=NeighborQueries)
    k: int = option(10, "Neighbors per query.", low=1)
    search: Searching = field(default_factory=Searching)

    @property
    def queries(self) -> list[str]:
        return self.asked.queries

    @property
    def prompt(self) -> str:
        return PROMPTS[self.asked.kind]

    def check(self) -> None:
        super().check()
        few = f"--candidates {self.asked.candidates} is less than -k {self.k}, the neighbors that are shown; raise it"
        require(self.asked.rerank is None or (self.asked.candidates or self.k) >= self.k, few)

    def open(self, log: Log) -> OpenedFiles:
        return open_neighbors(self.source, self.asked, self.search, self.k, log)


def open_neighbors(source: AskedVectors, asked: NeighborQueries, search: Searching, k: int, log: Log) -> OpenedFiles:
    """The files of `source`, as they are asked and searched. `log` is told which lines of --among have no vector."""
    opening = _Opening(asked, search, _Lists.read(asked), log)
    found = [opening.open(each) for each in source.each()]
    most = min(k, max(len(index) for index, _ in found))
    answerers = [
        Answerer(index.name, partial(_answer, index, composer, asked, most, search.restrict_vocab))
        for index, composer in found
    ]
    return OpenedFiles(answerers, most, None if asked.kind else found[0][0].words)


@dataclass(frozen=True)
class _Lists:
    """The lines of --among, None without, and of --exclude."""

    among: list[str] | None
    exclude: list[str]

    @classmethod
    def read(cls, asked: NeighborQueries) -> "_Lists":
        def lines(path: str) -> list[str]:
            from wv_cli.transforms.text_distance import read_lines

            return list(dict.fromkeys(line for line in read_lines(path) if line.strip()))

        among = lines(asked.among) if asked.among is not None else None
        return cls(among, lines(asked.exclude) if asked.exclude is not None else [])


@dataclass(frozen=True)
class _Opening:
    """How each of the files is opened."""

    asked: NeighborQueries
    search: Searching
    lists: _Lists
    log: Log

    def open(self, source: AskedVectors) -> "tuple[WordIndex, Composer | None]":
        """The vectors of a file, searched as it is asked, and with --sentence what composes sentences."""
        from wv_cli.vectors.queries import WordIndex

        asked, lists, composer = self.asked, self.lists, None
        # Codes are read whole: of --rerank, --bad-rows is for the other file.
        file = replace(source, bad_rows="error") if asked.rerank else source
        if asked.sentence:
            vectors, composer = file.load_composer()
        else:
            vectors = file.load(mapped=True)
        if vectors.composes_only:
            vectors, lists = self._compose_words(vectors, source), _Lists(None, lists.exclude)
        if asked.kind or asked.rerank:
            from wv_cli.vectors.codes import CodeVectors

            if asked.kind and isinstance(vectors, CodeVectors) and vectors.codes.quantizer is None:
                found = "codes, which are searched by words"
                raise UsageError(f"{file.vectors}: {asked.kind} needs vectors, found {found}")
            if asked.rerank and not isinstance(vectors, CodeVectors):
                found = "vectors, whose search is exact; leave it out"
                raise UsageError(f"{file.vectors}: --rerank needs codes, found {found}")
        if composer is not None and lists.among is not None:
            vectors = self._compose_lines(composer, source)
            lists = _Lists(None, [])
        index = self._make_index(vectors, source, lists)
        return WordIndex(vectors, index, file.vectors, rest=file.rest()), composer

    def _make_index(self, vectors: "Embeddings", source: AskedVectors, lists: _Lists) -> "Index":
        from wv_cli.vectors.formats import load

        index: Index
        whole = vectors.search(threads=self.search.threads)
        narrowed = lists.among is not None or lists.exclude
        index = self._narrow(whole, vectors, source, lists) if narrowed else whole
        if self.asked.rerank:
            from wv_cli.vectors.codes import rerank_codes

            exact = load(self.asked.rerank, bad_rows=source.bad_rows)
            index = rerank_codes(index, vectors.words, exact, self.asked.rerank, self.asked.candidates)
        return index

    def _narrow(self, index: "Exact", vectors: "Embeddings", source: AskedVectors, lists: _Lists) -> "SomeRows":
        """The search among the words of the lists. Raises WvError when no word is left."""
        from wv_cli.vectors.neighbors.some_rows import SomeRows
        from wv_cli.vectors.word_lists import narrow, unlisted_words

        words = vectors.words
        if lists.among is not None:
            self._tell_lost(unlisted_words(words, lists.among), len(lists.among), "words are not in", source)
        rows = narrow(words, lists.among, lists.exclude)
        if not len(rows):
            self._refuse_nothing(source)
        return SomeRows(index, rows)

    def _compose_words(self, vectors: "Embeddings", source: AskedVectors) -> "Embeddings":
        """The words of --among and the vectors that a table without words composes of them."""
        if self.lists.among is None:
            message = f"{source.vectors}: lists no words to answer with; give them by --among FILE, one a line"
            raise UsageError(message)
        found = vectors.compose(self.lists.among)
        if not len(found):
            self._refuse_nothing(source)
        return found

    def _compose_lines(self, composer: "Composer", source: AskedVectors) -> "Embeddings":
        """The lines of --among and their vectors, without those of --exclude."""
        import numpy as np

        from wv_cli.transforms.composition import sentence_vectors
        from wv_cli.vectors.embeddings import Embeddings

        excluded = set(self.lists.exclude)
        kept = [line for line in self.lists.among or () if line not in excluded]
        made = sentence_vectors(composer, kept, source.vectors)
        found = [(line, each) for line, each in zip(kept, made, strict=True) if not isinstance(each, str)]
        lost = [line for line, each in zip(kept, made, strict=True) if isinstance(each, str)]
        self._tell_lost(lost, len(kept), "lines have no word of", source)
        if not found:
            self._refuse_nothing(source)
        names = [line.replace("\t", " ") for line, _ in found]
        return Embeddings(names, np.array([vector for _, vector in found]))

    def _tell_lost(self, lost: list[str], count: int, problem: str, source: AskedVectors) -> None:
        if lost:
            note = f"{len(lost):,} of {count:,} {problem} {source.vectors} and are left out; the first is {lost[0]!r}"
            self.log(f"{self.asked.among}: {note}")

    def _refuse_nothing(self, source: AskedVectors) -> NoReturn:
        what = "lines with a word" if self.asked.among_sentences else "a word"
        names = " without ".join(path for path in (self.asked.among, self.asked.exclude) if path is not None)
        message = f"{names}: expected {what} of {source.vectors} to answer with, found none"
        raise WvError(message)


def _answer(
    index: "WordIndex",
    composer: "Composer | None",
    asked: NeighborQueries,
    k: int,
    rows: int | None,
    queries: Sequence[str],
) -> "list[Answer]":
    """An answer to each query."""
    if composer is not None:
        from wv_cli.transforms.composition import sentence_vectors

        return index.nearest_to_vectors(queries, sentence_vectors(composer, queries, index.name), k, rows=rows)
    if asked.vector:
        from wv_cli.vectors.queries import read_vector

        return index.nearest_to_vectors(queries, [read_vector(each, index.dim) for each in queries], k, rows=rows)
    if asked.total.words:
        return index.nearest_to_sums([asked.total], k, rows=rows)
    return index.nearest(queries, k, rows=rows)
