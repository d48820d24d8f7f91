"""gensim's Doc2Vec over wv_cli.models.doc2vec. A document has the vectors of its tags, which others may have, too.

Files are two: the model as `wv train --model doc2vec` writes it, and beside it the vectors of the documents.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, InitVar, dataclass, replace
from functools import cached_property
from os import fspath
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from wv_cli.errors import UsageError
from wv_cli.gensim.models.keyedvectors import KeyedVectors, Path
from wv_cli.gensim.models.sentences import LineSentence
from wv_cli.gensim.models.training import Trained, TrimRule
from wv_cli.gensim.refusals import name_old_arguments, warn_deprecated
from wv_cli.io.arguments import list_words
from wv_cli.models.doc2vec import Doc2vec as Model
from wv_cli.models.doc2vec import Tags
from wv_cli.models.sentence_config import Doc2vecConfig
from wv_cli.text.corpus import Corpus, empty_corpus
from wv_cli.text.vocab import Vocab
from wv_cli.vectors import formats
from wv_cli.vectors.doc2vec import Doc2vecModel
from wv_cli.vectors.embeddings import Embeddings
from wv_cli.vectors.formats import document_models
from wv_cli.vectors.formats.npy import number_words
from wv_cli.words import WordList

Tag = str | int
_DOCUMENTS = ".docs"  # the ending of the second file


class TaggedDocument(NamedTuple):
    """A document: its words, and its tags."""

    words: Iterable[str]
    tags: Iterable[Tag]

    def __str__(self) -> str:
        return f"{type(self).__name__}<{self.words}, {self.tags}>"


class TaggedLineDocument:
    """The lines of a text as documents, each with its number as the tag; `source` as LineSentence takes it."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __iter__(self) -> Iterator[TaggedDocument]:
        lines = LineSentence(self.source).lines()
        return (TaggedDocument(line.split(), [number]) for number, line in enumerate(lines))


class DocumentVectors(KeyedVectors):
    """The vectors of documents by tag. Answers name a tag as int where all tags are whole numbers."""

    def most_similar(self, *args: Any, **options: Any) -> Any:
        found = super().most_similar(*args, **options)
        numbers = isinstance(found, list) and self._tags_are_numbers
        return [(int(tag), score) for tag, score in found] if numbers else found

    @cached_property
    def index_to_key(self) -> list[Any]:
        keys: list[Any] = super().index_to_key
        return [int(tag) for tag in keys] if self._tags_are_numbers else keys

    @property
    def _tags_are_numbers(self) -> bool:
        return len(self) > 0 and self.words.blob.isdigit()


@name_old_arguments
@dataclass(eq=False, repr=False)
class Doc2Vec(Trained[Doc2vecConfig]):
    """Document vectors by DM, or with dm=0 by DBOW. Arguments are gensim's, with its defaults.

    >>> model = Doc2Vec([TaggedDocument(["hello", "world"], [0])], vector_size=50, min_count=1)
    >>> model.dv[0], model.infer_vector(["hello"])

    Windows are whole, whatever `shrink_windows` says.
    Raises UsageError for a value that has no effect or cannot be (wv_cli.gensim.refusals).
    """

    EVERY_LINE = True
    VECTORS = "model.dv, or of model.wv for words"

    documents: InitVar[Iterable[Any] | None] = None
    corpus_file: InitVar[Path | None] = None
    _: KW_ONLY
    epochs: int = 10
    dm: int = 1
    dm_mean: int | None = None
    dm_concat: int = 0
    dm_tag_count: int = 1
    dbow_words: int = 0
    dv_mapfile: Path | None = None
    comment: str | None = None

    def __post_init__(self, documents: Iterable[Any] | None, corpus_file: Path | None) -> None:
        if self.dm_mean == 0 and self.dm and not self.dm_concat:
            message = "dm_mean=0 is not supported: context words are averaged; leave it out, or give dm_concat=1"
            raise UsageError(message)
        self._model: Model | None = None
        self._loaded: tuple[Doc2vecModel, DocumentVectors] | None = None
        self._dv: DocumentVectors | None = None
        self._read: list[list[str]] | None = None
        self._tags = WordList.from_words([])
        self._begin(documents, corpus_file)

    @property
    def dbow(self) -> bool:
        return not self.dm

    def _options(self, same: dict[str, Any]) -> Doc2vecConfig:
        if self.hs and self.negative:
            message = "hs=1 needs negative=0: doc2vec has one output layer"
            raise UsageError(message)
        return Doc2vecConfig(
            algorithm="dbow" if not self.dm else "dm_concat" if self.dm_concat else "dm_mean",
            context="around" if self.dm else "before",
            mean_gradient="word2vec" if self.dm and not self.dm_concat else "document",
            loss="hs" if self.hs else "ns",
            **same,
        )

    def _text(self, sentences: Any, corpus_file: Path | None) -> Any:
        """The words of documents are spooled, their tags kept."""
        self._read = None
        if sentences is None or isinstance(sentences, str | bytes) or not isinstance(sentences, Iterable):
            return super()._text(sentences, corpus_file)
        self._read = []
        return super()._text(_words_of(sentences, self._read), corpus_file)

    def _take(self, whole: Vocab, *, update: bool, trim_rule: TrimRule | None) -> None:
        super()._take(whole, update=update, trim_rule=trim_rule)
        if self._read is None:
            self._tags = number_words(0, whole.lines)
            return
        tags = dict.fromkeys(tag for own in self._read for tag in own)
        self._tags = WordList.from_words(sorted(tags, key=int) if all(map(str.isdigit, tags)) else tags)

    def _make(self, config: Doc2vecConfig, corpus: Corpus) -> Model:
        before = None
        if self._model is not None or self._loaded is not None:
            before = self._current_model(), self.dv.matrix
        self._model, self._loaded = Model(config, corpus, tags=self._rows(corpus.lines), before=before), None
        return self._model

    def _rows(self, lines: int) -> Tags:
        """The rows of the tags of the text that was read last. Raises UsageError for a tag that is not known."""
        if self._read is None:
            each = WordList.from_words(map(str, range(lines)))
            starts = np.arange(lines + 1)
        else:
            each = WordList.from_words(tag for own in self._read for tag in own)
            starts = np.cumsum([0, *map(len, self._read)])
        rows = self._tags.find_all(each)
        if rows.min() < 0:
            message = f"documents: the tag {each[int(rows.argmin())]!r} is not among those of build_vocab"
            raise UsageError(message)
        if self.dm_concat and len(rows) > lines:
            message = "documents: dm_concat=1 takes one tag for a document; use dm_mean or dm=0"
            raise UsageError(message)
        return Tags(starts, rows.astype(np.int32), len(self._tags))

    def _live(self) -> Model:
        """The model, before it is trained with its starting vectors."""
        if self._model is None:
            config, corpus = self._config(self.alpha, self.min_alpha, self.epochs), empty_corpus(self._require_vocab())
            none = Tags(np.arange(2), np.zeros(1, np.int32), max(1, len(self._tags)))
            self._model = Model(config, replace(corpus, lines=1), tags=none)
        return self._model

    def _vectors(self) -> KeyedVectors:
        model = self._current_model()
        return KeyedVectors.from_embeddings(Embeddings(model.words, model.word_vectors), model.counts)

    def _current_model(self) -> Doc2vecModel:
        return self._loaded[0] if self._loaded is not None else self._live().model()

    def _output_rows(self) -> NDArray[np.float32]:
        return self._current_model().output

    def _drop_vectors(self) -> None:
        super()._drop_vectors()
        self._dv = None

    def _forget(self) -> None:
        self._model = self._loaded = None

    def _restore_state(self) -> None:
        message = "update=True is not supported: document vectors are those of one text; make a new model"
        raise UsageError(message)

    @property
    def dv(self) -> DocumentVectors:
        """The vectors of the documents by tag. Raises WvError before there is a vocabulary."""
        if self._loaded is not None:
            return self._loaded[1]
        if self._dv is None:
            rows = self._live().documents[: len(self._tags), : self.vector_size]
            self._dv = DocumentVectors.from_embeddings(Embeddings(self._tags, rows))
        return self._dv

    @property
    def docvecs(self) -> DocumentVectors:
        """dv."""
        warn_deprecated("docvecs", "The `docvecs` property has been renamed `dv`.")
        return self.dv

    def __repr__(self) -> str:
        kind = "dbow" if not self.dm else "dm/c" if self.dm_concat else "dm/m"
        parts = [f'"{self.comment}"'] if self.comment else []
        parts += [kind, f"d{self.vector_size}"]
        parts += [f"n{self.negative}"] if self.negative else []
        parts += ["hs"] if self.hs else []
        parts += [f"w{self.window}"] if self.dm else []
        parts += [f"mc{self.min_count}"] if self.min_count > 1 else []
        parts += [f"s{self.sample:g}"] if self.sample > 0 else []
        parts += [f"t{self.workers}"] if self.workers > 1 else []
        return f"{type(self).__name__}<{','.join(parts)}>"

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copies: what was learnt, without the tables of the training."""
        if self._model is None:
            return {**vars(self), "_wv": None, "_dv": None}
        return {**vars(self), "_wv": None, "_dv": None, "_model": None, "_loaded": (self._current_model(), self.dv)}

    def infer_vector(
        self,
        doc_words: Iterable[str],
        alpha: float | None = None,
        min_alpha: float | None = None,
        epochs: int | None = None,
    ) -> NDArray[np.float32]:
        """The vector (dim,) of the words of a document, learnt while the model stays; zero for words that it does not
        know. The same words give the same vector."""
        if isinstance(doc_words, str):
            message = "doc_words: expected a list of words, found a str; split it"
            raise TypeError(message)
        alpha = self.alpha if alpha is None else alpha
        config = self._config(alpha, self.min_alpha if min_alpha is None else min_alpha, epochs or self.epochs)
        model = self._current_model()
        options = replace(model.options, lr=config.lr, least_lr=config.least_lr, epochs=config.epochs)
        ids = model.words.find_all(WordList.from_words(list_words(doc_words, "doc_words")))
        inferred: NDArray[np.float32] = replace(model, options=options).of_ids([ids[ids >= 0]])[0]
        return inferred

    def similarity_unseen_docs(
        self,
        doc_words1: Iterable[str],
        doc_words2: Iterable[str],
        alpha: float | None = None,
        min_alpha: float | None = None,
        epochs: int | None = None,
    ) -> float:
        """The cosine of the inferred vectors of two documents."""
        both = [self.infer_vector(words, alpha, min_alpha, epochs) for words in (doc_words1, doc_words2)]
        return Embeddings(["1", "2"], np.array(both)).similarity("1", "2")

    def save(self, fname: Path, separately: Any = None, sep_limit: int = 0, pickle_protocol: int = 4) -> None:
        """Writes the model to `fname`, the vectors of the documents to `fname`.docs. Raises WvError."""
        path, documents = fspath(fname), self.dv
        document_models.save_model(path, self._current_model())
        formats.save(path + _DOCUMENTS, documents, format="word2vec-binary", escape=True)

    @classmethod
    def load(cls, fname: Path, mmap: str | None = None) -> Self:
        """Reads what save() has written; of a model of `wv train` there are no document vectors. Raises WvError."""
        path = fspath(fname)
        found = formats.load(path, format="text-model").texts
        assert isinstance(found, Doc2vecModel)
        options = found.options
        model = cls._from_options(
            options,
            dm=options.algorithm != "dbow",
            dm_concat=options.algorithm == "dm_concat",
            alpha=options.lr,
            min_alpha=options.least_lr,
            min_count=1,
        )
        vectors = DocumentVectors.from_embeddings(
            formats.load(path + _DOCUMENTS, format="word2vec-binary", unescape=True)
        )
        model._loaded, model._tags = (found, vectors), vectors.words
        model._vocab = Vocab(found.words, found.counts, 0, int(found.counts.sum()))
        model.corpus_count = len(vectors)
        return model


def _words_of(documents: Iterable[Any], read: list[list[str]]) -> Iterator[Any]:
    """The words of each document, whose tags are added to `read`. Raises TypeError for what is no document,
    UsageError for what is no tag."""
    for number, document in enumerate(documents):
        if not hasattr(document, "words") or not hasattr(document, "tags"):
            kind = type(document).__name__
            message = f"documents: expected TaggedDocument(words, tags), found {kind} as number {number}"
            raise TypeError(message)
        words, tags = document.words, document.tags
        expected = f"documents: expected a list of tags, each a str or an int, found {tags!r:.60} in number {number}"
        if isinstance(tags, str | bytes | Mapping) or not isinstance(tags, Iterable):
            several = f"; write [{tags!r:.60}]" if isinstance(tags, str | int | np.integer) else ""
            raise TypeError(expected + several)
        own = list(tags)
        if not own or not all(isinstance(tag, str | int | np.integer) and not isinstance(tag, bool) for tag in own):
            raise UsageError(expected)
        read.append([str(tag) for tag in own])
        yield words
